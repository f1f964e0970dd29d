#!/usr/bin/env bash
# Re-checks every built OTP root against its manifest.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=scripts/otp_source.bash
source "$TOP/scripts/otp_source.bash"
# shellcheck source=scripts/otp_base.bash
source "$TOP/scripts/otp_base.bash"
# shellcheck source=scripts/otp_emulator.bash
source "$TOP/scripts/otp_emulator.bash"

usage() {
    cat <<'USAGE'
Example: ./build.sh verify

Usage: ./build.sh verify [--otp RELEASE] [--rebuild]

Starts each emulator of build/otp-* and build/revisions/. Compares its file, kind (JIT or
interpreter), build id and SHA-256 with manifest.json.
  --rebuild  also compiles stock again, from scratch and without the compiler
             cache, and compares the build ids (2 minutes)
USAGE
}

# build_id_of FILE: the build id, which identifies an executable's contents.
build_id_of() { LC_ALL=C readelf -n "$1" 2>/dev/null | sed -nE 's/.*Build ID: ([0-9a-f]+).*/\1/p'; }

rebuild_stock() {
    local release=$1 root=$BUILD/otp-$1 before after
    obtain_source "$release" "" no
    build_base "$release"
    step "Compiling stock OTP $OTP_VERSION once more" 150 make_stock_again
    before=$(build_id_of "$(echo "$root"/erts-*/bin/beam.stock.smp)")
    after=$(build_id_of "$(echo "$BASE"/tree/bin/*/beam.smp)")
    [[ -n $before && $before == "$after" ]] ||
        fail "stock OTP $OTP_VERSION compiled twice has the build ids $before and $after."
    say "OTP $OTP_VERSION: stock compiled twice has the same build id, $before."
}

not_built() {
    check_release "$1"
    fail "OTP $1 is not built; run './build.sh otp --otp $1'."
}

main() {
    local release=all rebuild=no root found=no
    while (($#)); do
        case $1 in
            --otp) release=${2-}; shift ;;
            --rebuild) rebuild=yes ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "--otp needs a release"
    done
    [[ $release == all || $release =~ ^[0-9]+$ ]] || misuse "'$release' is not an OTP release"
    if [[ $rebuild == yes ]]; then
        open_log
        lock_cache
    fi
    for root in "$BUILD"/otp-[0-9]* "$BUILD"/revisions/*/root; do
        [[ -f $root/manifest.json && ( $release == all || $root == *-$release ) ]] || continue
        found=yes
        [[ -x $root/bin/escript ]] || fail "$root has no bin/escript; './build.sh otp' repairs it."
        "$root/bin/escript" "$TOP/scripts/lib/otp_manifest.escript" verify --root "$root"
        [[ $rebuild == no || $root == */root ]] || rebuild_stock "${root##*-}"
    done
    [[ $found == yes || $release == all ]] || not_built "$release"
    [[ $found == yes ]] || fail "no Erlang/OTP is built yet; run './build.sh otp'."
}

main "$@"
