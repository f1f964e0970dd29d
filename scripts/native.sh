#!/usr/bin/env bash
# Builds the native code: NIF, drivers, benchmarks.
set -euo pipefail
# shellcheck source=scripts/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"

usage() {
    cat <<'USAGE'
Usage: ./build.sh native

Builds the native code (NIF, drivers, benchmarks). There is none yet.
USAGE
}

case ${1-} in
    '') say "There is no native code yet." ;;
    -h | --help) usage ;;
    *) misuse "unknown option '$1'" ;;
esac
