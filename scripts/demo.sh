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
without all patches before it builds them. It measures even if other programs are working,
and the table then says so. It ends with the command that builds what it left out.
USAGE
}

# is_built RELEASE VARIANT
is_built() { compgen -G "$BUILD/otp-$1/erts-*/bin/beam.$2.smp" >/dev/null; }

# has_erlang: whether an Erlang is installed that compiles our applications.
has_erlang() {
    local release
    release=$(command -v erl >/dev/null && installed_release erl) || return 1
    ((${release:-0} >= OLDEST_OTP))
}

# start_compiling: compiles our applications in the background, while OTP's configure uses one core. The installed Erlang compiles those
# that a comparison needs.
start_compiling() {
    said=$(mktemp)
    set -m # a process group of its own, which goes with this shell
    "$TOP/scripts/erl.sh" --installed >"$said" 2>&1 </dev/null &
    compiler=$!
    set +m
    # shellcheck disable=SC2064  # the process of now is meant
    trap "kill -- -$compiler 2>/dev/null || true; rm -f '$said'" EXIT
}

# end_compiling: whether it was successful.
end_compiling() {
    local status=0
    wait "$compiler" || status=$?
    ((status == 0)) || cat "$said" >&2
    rm -f "$said"
    trap - EXIT
    return "$status"
}

# compile_all: the native code, and our applications. Debian's rebar3 does not run on each OTP, and what the installed Erlang compiles is
# enough to compare.
compile_all() {
    "$TOP/scripts/native.sh"
    "$TOP/scripts/erl.sh" || { has_erlang && "$TOP/scripts/erl.sh" --installed; }
}

# first_table RELEASE VARIANTS: as soon as these are built.
first_table() {
    local background=no compiler said
    if ! has_root && has_erlang; then
        background=yes
        start_compiling
    fi
    "$TOP/scripts/otp.sh" --demo --otp "$1" --vm "$2"
    if [[ $background == yes ]]; then
        end_compiling || exit 1
    else
        compile_all
    fi
    compare_hibernation "$1" "$2" --quick
}

# second_table RELEASE VARIANTS: with all that was compared before. 11 pairs are the fewest for four arms.
second_table() {
    "$TOP/scripts/otp.sh" --demo --otp "$1" --vm "$2"
    compare_hibernation "$1" "$2" --pairs 11
}

# compare_hibernation RELEASE VARIANTS WORDS...
compare_hibernation() {
    "$TOP/ertslab" compare hibernate --otp "$1" --vm "$2" \
        --param cells=1000001 --param value_words=14 "${@:3}" --accept-host
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
    if is_built "$release" tuned; then
        "$TOP/scripts/otp.sh" --demo --otp "$release" --vm "$first,tuned"
        compile_all
        compare_hibernation "$release" "$first,tuned" --pairs 12
    else
        first_table "$release" "$first"
        second_table "$release" "$first,tuned"
    fi
    ! is_part "$BUILD/otp-$release" ||
        say "The demo left out applications of OTP, native code and libraries. To build them, run './build.sh otp --otp $release --vm stock && ./build.sh native && ./build.sh erl' (2 minutes)."
}

main "$@"
