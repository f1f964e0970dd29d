#!/usr/bin/env bash
# Removes what was built.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

usage() {
    cat <<USAGE
Usage: ./build.sh clean [--all]

Removes build/. Results stay.
  --all  the build cache too, which other checkouts may use: $CACHE
USAGE
}

# Only folders of these names are ever removed from the cache's place.
clean_cache() {
    lock_cache
    rm -rf "$CACHE/otp" "$CACHE/emulators" "$CACHE/sources" "$CACHE/ccache" "$CACHE/proper" "$CACHE/benchstat" "$CACHE/autoconf" "$CACHE"/apt-*
}

case ${1-} in
    '') rm -rf "$BUILD" ;;
    --all) rm -rf "$BUILD"; clean_cache ;;
    -h | --help) usage ;;
    *) misuse "unknown option '$1'" ;;
esac
