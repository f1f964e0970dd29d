#!/usr/bin/env bash
# Builds the native code: the NIF of cons_spacing, the drivers of port_drivers and
# the microbenchmarks.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

usage() {
    cat <<'USAGE'
Example: ./build.sh native

Usage: ./build.sh native

Builds the NIFs of erl_src/cons_spacing and erl_src/otp_tests and the drivers of erl_src/port_drivers for
the OTP that './build.sh otp' built, and the microbenchmarks of bench.
USAGE
}

main() {
    case ${1-} in
        '') ;;
        -h | --help) usage; exit 0 ;;
        *) misuse "unknown option '$1'" ;;
    esac
    need cc build-essential
    own_root >/dev/null
    open_log
    step "Building the NIFs" 5 on_own_otp make -C "$TOP/nif" all copies
    step "Building the drivers" 5 on_own_otp make -C "$TOP/c_src" all
    "$TOP/bench/build"
}

main "$@"
