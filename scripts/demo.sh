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

# install_first: what OTP's build needs. sudo may ask for a password, so it installs all at once, while somebody is there.
install_first() {
    if ((EUID == 0)); then
        "$TOP/scripts/deps.sh" --otp
    else
        "$TOP/scripts/deps.sh"
    fi
}

# prepare COMPILES: installs the other packages; then the installed Erlang compiles those of our applications that a comparison needs, if
# COMPILES is yes. It ends after an installation, which is not cut short. If it fails, it ends the build, which would be for nothing.
prepare() {
    local children
    trap 'exit 130' INT TERM HUP
    if ! prepared "$1"; then
        trap '' TERM # this is a child, too
        read -ra children <"/proc/$$/task/$$/children" || true # there is no end of a line
        kill "${children[@]}"
        exit 1
    fi
}

prepared() {
    "$TOP/scripts/deps.sh" || return
    [[ $1 == no ]] || ! has_erlang || "$TOP/scripts/erl.sh" --installed
}

# start_preparing COMPILES: in the background, while OTP's configure uses one core.
start_preparing() {
    said=$(mktemp)
    set -m # a process group of its own, which goes with this shell
    prepare "$1" >"$said" 2>&1 </dev/null &
    preparing=$!
    set +m
    # shellcheck disable=SC2064  # the process of now is meant: what is local is gone by then
    trap "end_group $preparing 'Installing Debian packages'; rm -f '$said'" EXIT
}

# end_preparing: whether it was successful.
end_preparing() {
    local status=0
    wait "$preparing" || status=$?
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
    local compiles=yes built=yes preparing said
    ! has_root || compiles=no
    install_first
    start_preparing "$compiles"
    "$TOP/scripts/otp.sh" --demo --otp "$1" --vm "$2" || built=no
    if [[ $built == yes ]] || ! kill -0 "$preparing" 2>/dev/null; then
        end_preparing || exit 1
    fi
    [[ $built == yes ]] || exit 1
    if [[ $compiles == no ]] || ! has_erlang; then
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
    if is_built "$release" tuned; then
        "$TOP/scripts/deps.sh"
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
