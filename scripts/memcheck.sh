#!/usr/bin/env bash
# Runs the NIF and the drivers under valgrind's memcheck.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

usage() {
    cat <<'USAGE'
Example: ./build.sh otp --interpreter stock && ./build.sh memcheck

Usage: ./build.sh memcheck

Runs the NIF and the drivers under valgrind's memcheck, on the interpreter of the
stock VM, because valgrind cannot follow the JIT's switches of stacks
('./build.sh otp --interpreter stock' builds the interpreter). It fails if the
stack of an error or of a leak contains a frame of the NIF or of a driver. Errors
within the VM alone do not count.
USAGE
}

# Only errors with these frames count.
NATIVE='(cons_spacing_nif|[a-z]+_drv)\.so|\((cons_walk|address_set|spacing|cons_spacing_nif|drv_[a-z]+|[a-z]+_drv)\.c:'

# emulator_words DIR MODULE: the words with which erlexec would start the emulator, one per line. The emulator must
# use malloc, because valgrind cannot check other memory.
emulator_words() {
    "$root/bin/erl" -emu_type stock -emu_flavor emu -emu_args_exit \
        +S 1:1 +SDcpu 1:1 +SDio 1 +Mea min -noinput -pa "$1/ebin" -s "$2"
}

# watch APPLICATION FOLDER: runs the sources in FOLDER, which also has the module APPLICATION_memcheck.
watch() {
    local app=$1 dir words
    dir=$(mktemp -d)
    # shellcheck disable=SC2064  # the folder of now is meant
    trap "rm -rf '$dir'" EXIT
    mkdir "$dir/ebin"
    away "$root/bin/erlc" -o "$dir/ebin" "$TOP/erl_src/$app"/src/*.erl "$TOP/$2/${app}_memcheck.erl"
    ln -s "$TOP/erl_src/$app/priv" "$dir/priv"
    mapfile -t words < <(emulator_words "$dir" "${app}_memcheck")
    env ROOTDIR="$root" BINDIR="${emulator%/*}" EMU=beam PROGNAME=erl \
        valgrind --tool=memcheck --log-file="$dir/valgrind" --undef-value-errors=yes --leak-check=full \
        --keep-debuginfo=yes --num-callers=30 "$emulator" "${words[@]}"
    if grep -E "$NATIVE" "$dir/valgrind"; then
        cat "$dir/valgrind"
        fail "the errors above pass through the native code of $app."
    fi
    grep 'ERROR SUMMARY' "$dir/valgrind"
}

main() {
    local root emulator
    case ${1-} in
        '') ;;
        -h | --help) usage; exit 0 ;;
        *) misuse "unknown option '$1'" ;;
    esac
    need valgrind valgrind
    root=$(own_root)
    emulator=$(echo "$root"/erts-*/bin/beam.stock.emu)
    [[ -x $emulator ]] || fail "no interpreter in $root; run './build.sh otp --interpreter stock'."
    (watch cons_spacing nif)
    (watch port_drivers c_src)
}

main "$@"
