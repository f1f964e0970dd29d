#!/usr/bin/env bash
# Re-checks every built OTP root against its manifest.
set -euo pipefail
# shellcheck source=scripts/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/common.bash"

usage() {
    cat <<'USAGE'
Usage: ./build.sh verify [--otp RELEASE]

Starts each emulator of build/otp-* and compares executable, flavour, build id
and SHA-256 with manifest.json.
USAGE
}

main() {
    local release='' root found=no
    while (($#)); do
        case $1 in
            --otp) release=${2-}; shift ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "--otp needs a release"
    done
    [[ -z $release || $release =~ ^[0-9]+$ ]] || misuse "'$release' is no OTP release"
    for root in "$BUILD"/otp-[0-9]*; do
        [[ -f $root/manifest.json && $root == *-${release:-*} ]] || continue
        found=yes
        [[ -x $root/bin/escript ]] || fail "$root has no bin/escript; './build.sh otp' mends it."
        "$root/bin/escript" "$TOP/scripts/otp_manifest.escript" verify --root "$root"
    done
    [[ $found == yes ]] || fail "no Erlang/OTP is built yet; run './build.sh otp'."
}

main "$@"
