#!/usr/bin/env bash
# Leads from a fresh Debian to the comparison in the README.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=otp_patches/releases.sh
source "$TOP/otp_patches/releases.sh"

usage() {
    cat <<USAGE
Example: ./build.sh demo

Usage: ./build.sh demo [--otp RELEASE]

Installs missing packages, builds OTP $(default_release) with and without patches, and measures how
hibernation slows down length/1 of a list of a million 14-tuples: on stock, on a copy of
stock (the control), with prefetching, and with all patches. The first demo shows a table
without all patches before it builds them, and at its end builds the applications of OTP that
it did not need. It measures even if other programs are working, and the table then says so.
('./build.sh otp' builds the other variants.)
USAGE
}

# is_built RELEASE VARIANT
is_built() { compgen -G "$BUILD/otp-$1/erts-*/bin/beam.$2.smp" >/dev/null; }

# compare_hibernation RELEASE VARIANTS
compare_hibernation() {
    "$TOP/ertslab" compare hibernate --otp "$1" --vm "$2" \
        --param cells=1000001 --param value_words=14 --pairs 12 --accept-host
}

main() {
    local release first=stock,stock_copy,prefetch
    release=$(default_release)
    while (($#)); do
        case $1 in
            --otp) release=${2-}; shift ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "--otp needs a release"
    done
    [[ $release =~ ^[0-9]+$ ]] || misuse "'$release' is not an OTP release"
    check_release "$release"
    "$TOP/scripts/deps.sh"
    "$TOP/scripts/otp.sh" --demo --otp "$release" --vm "$first"
    "$TOP/scripts/native.sh"
    "$TOP/scripts/erl.sh"
    if ! is_built "$release" tuned; then
        compare_hibernation "$release" "$first"
        "$TOP/scripts/otp.sh" --demo --otp "$release" --vm "$first,tuned"
    fi
    compare_hibernation "$release" "$first,tuned"
    "$TOP/scripts/otp.sh" --otp "$release" --vm "$first,tuned"
}

main "$@"
