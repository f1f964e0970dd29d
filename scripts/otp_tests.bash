# Sourced by otp-test.sh: a place where OTP's own suites run on one emulator of a
# variant. Its parts:
#   root/   the installed OTP, that emulator in place of its own
#   tests/  the suites as the variant's patches leave them, what they need, and ts,
#           by which OTP tests itself
#   logs/   what runs leave
# shellcheck shell=bash

# shellcheck disable=SC2034  # for otp-test.sh
DEFAULT_SUITES=(gc hibernate list_bif guard receive message_queue_data map tuple fun
    binary bif nif driver port signal process persistent_term beam_literals code trace lists)

# place_key VARIANT FLAVOUR
place_key() {
    {
        emulator_key "$1" "$2"
        cat "$TOP/scripts/otp_tests.bash"
    } | short_key
}

# kept_key FLAVOUR: stock's results are those of its emulator, and of how they are asked for and read.
kept_key() {
    {
        emulator_key stock "$1"
        cat "$TOP"/erl_src/otp_tests/src/otp_tests_{suite,log}.erl
    } | short_key
}

# make_root PLACE VARIANT FLAVOUR: copied, not linked, since some suites write to
# it. A half-made one bears no key.
make_root() {
    local bin emulator
    rm -rf "$1"
    mkdir -p "$1/home"
    cp -a --reflink=auto "$BASE/root" "$1/root"
    bin=$(echo "$1"/root/erts-*/bin)
    emulator=$CACHE/emulators/$(emulator_key "$2" "$3")
    install -m 755 "$emulator" "$bin/beam.smp"
    [[ $(otp_type "$3") == opt ]] || install -m 755 "$emulator.child_setup" "$bin/erl_child_setup.$3"
    place_key "$2" "$3" >"$1/key"
}

have_root() { [[ -f $1/key && $(<"$1/key") == "$(place_key "$2" "$3")" ]]; }

# changes_to_tests PATCH: the part of it that is about the emulator's suites.
changes_to_tests() {
    awk '/^--- / { before = $0; inside = 0; next }
         /^\+\+\+ / { inside = $2 ~ /^[^\/]+\/erts\/emulator\/test\//; if (inside) print before }
         inside' "$1"
}

# make_tests PLACE VARIANT: the sources; the suites are compiled when they are wanted.
make_tests() {
    local tests=$1/tests patch lib=$BASE/tree/lib
    rm -rf "$tests"
    mkdir -p "$tests/stdlib_test"
    cp -a "$BASE/pristine/erts/emulator/test" "$tests/emulator_test"
    while read -r patch; do
        [[ -z $patch ]] || changes_to_tests "$patch" |
            patch -d "$tests/emulator_test" -p4 -F0 --no-backup-if-mismatch
    done < <(variant_patch_files "$2")
    cp -a "$lib/stdlib/test/"*.erl "$tests/stdlib_test"
    cp "$lib/stdlib/test/error_info_lib.erl" "$tests/emulator_test"
    cp -a "$lib/common_test/test_server" "$tests/test_server"
    (cd "$tests/test_server" && "$1/root/bin/erlc" ts*.erl &&
        "$1/root/bin/erl" -noinput -eval 'ok = ts:install(), halt().')
    compile_helpers "$tests/emulator_test"
    touch "$tests/complete"
}

# compile DIR MODULE: once for all whose source is the same.
compile() {
    local kept
    kept=$CACHE/otp-test/modules/$({ basename "$BASE"; cat "$1/$2.erl"; } | short_key).beam
    if [[ ! -f $kept ]]; then
        mkdir -p "${kept%/*}"
        (cd "$1" && "$BASE/root/bin/erlc" "$2.erl")
        cp "$1/$2.beam" "$kept.part"
        mv "$kept.part" "$kept"
    fi
    cp "$kept" "$1/$2.beam"
}

# What several suites use is in modules that are no suites.
compile_helpers() {
    local file
    for file in "$1"/*.erl; do
        [[ $file == *_SUITE.erl ]] || compile "$1" "$(basename "$file" .erl)"
    done
}

# compile_suites PLACE SUITE...
compile_suites() {
    local suite file
    for suite in "${@:2}"; do
        for file in "$1"/tests/{emulator,stdlib}_test/"$suite.erl"; do
            [[ ! -f $file || -f ${file%.erl}.beam ]] || compile "${file%/*}" "$suite"
        done
    done
}
