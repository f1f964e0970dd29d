# Sourced by otp-test.sh and soak.sh: a place where OTP's own suites, and the project's
# long tests, run on one emulator of a variant. Its parts:
#   root/   the installed OTP, that emulator in place of its own
#   tests/  the suites as the variant's patches leave them, what they need, and ts,
#           by which OTP tests itself
#   logs/   what runs leave
# shellcheck shell=bash

# shellcheck source=scripts/otp_source.bash
source "$TOP/scripts/otp_source.bash"
# shellcheck source=scripts/otp_base.bash
source "$TOP/scripts/otp_base.bash"
# shellcheck source=scripts/otp_emulator.bash
source "$TOP/scripts/otp_emulator.bash"
# shellcheck source=scripts/otp_library.bash
source "$TOP/scripts/otp_library.bash"
# shellcheck source=scripts/lib/arm64.bash
source "$TOP/scripts/lib/arm64.bash"
# shellcheck source=scripts/lib/proper.bash
source "$TOP/scripts/lib/proper.bash"
# shellcheck source=otp_patches/variants.sh
source "$TOP/otp_patches/variants.sh"

# patched_suites VARIANT: the suites in which its patches have tests.
patched_suites() {
    variant_patch_files "$1" | xargs -r -d '\n' \
        sed -nE 's,^\+\+\+ [^/]+/(erts|lib)/([a-z_]+)/test/([a-z_]+)_SUITE\.erl.*,\2/\3,p'
}

# The owners of the suites that can be selected, in the order in which a suite's name is looked for: the emulator, and
# applications of lib/.
TESTED=(emulator kernel stdlib runtime_tools observer)

# The modules of observer that need no windows. The base build omits that application.
OBSERVER_MODULES=(crashdump_viewer cdv_atom_cb cdv_mod_cb cdv_port_cb etop etop_tr etop_txt
    multitrace observer_lib ttb ttb_et)

# tested_key VARIANT FLAVOUR: the key of its emulator in the cache. The flavour arm64 is the flavour jit of another base build.
tested_key() {
    case $2 in
        arm64) in_arm64 emulator_key "$1" jit ;;
        *) emulator_key "$@" ;;
    esac
}

# build_tested VARIANT FLAVOUR
build_tested() {
    case $2 in
        arm64) build_arm64 "$1" ;;
        *) build_emulator "$@" ;;
    esac
}

# place_key VARIANT FLAVOUR
place_key() {
    {
        tested_key "$1" "$2"
        ! has_library "$1" || library_key "$1"
        variant_patch_files "$1" | xargs -r -d '\n' cat
        cat "$TOP/scripts/lib/otp_tests.bash"
    } | short_key
}

# kept_key FLAVOUR: the key of stock's results, which depend on its emulator and on the code that runs the suites and
# reads their logs.
kept_key() {
    {
        tested_key stock "$1"
        cat "$TOP"/erl_src/otp_tests/src/otp_tests_{suite,log}.erl
    } | short_key
}

# make_root PLACE VARIANT FLAVOUR: copies instead of linking, because some suites write to the root. An incomplete one
# has no key.
make_root() {
    local bin emulator
    rm -rf "$1"
    mkdir -p "$1/home"
    cp -a --reflink=auto "$BASE/root" "$1/root"
    bin=$(echo "$1"/root/erts-*/bin)
    emulator=$CACHE/emulators/$(tested_key "$2" "$3")
    if [[ $3 == arm64 ]]; then
        install_arm64 "$1/root" "$emulator"
    else
        install -m 755 "$emulator" "$bin/beam.smp"
    fi
    [[ $(otp_type "$3") == opt ]] || install -m 755 "$emulator.child_setup" "$bin/erl_child_setup.$3"
    ! has_library "$2" || replace_modules "$1" "$2"
    replace_preloaded "$1" "$2"
    make_observer "$1"
    place_key "$2" "$3" >"$1/key"
}

# make_observer PLACE: builds the release's own modules that read crash dumps and traces.
make_observer() {
    local lib=$BASE/tree/lib dir
    dir=$1/root/lib/observer-$(sed -n 's/^OBSERVER_VSN *= *//p' "$lib/observer/vsn.mk")
    mkdir -p "$dir/ebin" "$dir/src"
    cp "$lib"/observer/src/*.hrl "$dir/src"
    (cd "$lib/observer/src" && ERL_LIBS=$lib "$BASE/root/bin/erlc" +debug_info +nowarn -I ../include \
        -I "$lib/runtime_tools/include" -I "$lib/et/include" -o "$dir/ebin" "${OBSERVER_MODULES[@]/%/.erl}")
}

# replace_modules PLACE VARIANT: in this root they can replace OTP's own modules.
replace_modules() {
    local app
    for app in "$(library_dir "$2")"/*/; do
        install -m 644 "$app"*.beam "$(echo "$1/root/lib/$(basename "$app")"-*/ebin)"
    done
}

# replace_preloaded PLACE VARIANT: these modules are linked into the emulator, but bif_SUITE reads the specs of BIFs
# from their files.
replace_preloaded() {
    local work=$1/preloaded patch source
    while read -r patch; do
        [[ -d $work ]] || cp -a "$BASE/pristine/erts/preloaded/src" "$work"
        patch_part "$patch" erts/preloaded/src/ | patch -d "$work" -p4 -F0 --no-backup-if-mismatch
        while read -r source; do
            "$BASE/root/bin/erlc" +debug_info +nowarn_deprecated_catch -I "$BASE/tree/lib/kernel/src" \
                -I "$BASE/tree/lib/kernel/include" -o "$(echo "$1"/root/lib/erts-*/ebin)" "$work/$source"
        done < <(sed -nE 's,^\+\+\+ [^/]+/erts/preloaded/src/([^[:space:]]+\.erl).*,\1,p' "$patch")
    done < <(patch_files_below "$2" erts/preloaded/src/)
    rm -rf "$work"
}

have_root() { [[ -f $1/key && $(<"$1/key") == "$(place_key "$2" "$3")" ]]; }

# check_vm RELEASE VARIANT EMULATOR KIND...: checks the user's choice. The last ones are the emulators that there are.
check_vm() {
    check_release "$1"
    is_variant "$2" ||
        misuse "there is no variant '$2'; choose from: $(variant_names | paste -sd' ')"
    [[ " ${*:4} " == *" $3 "* ]] || misuse "there is no emulator '$3'; choose from: ${*:4}"
}

# have_base RELEASE: provides the base for a place. Later steps use the release's sources and their build.
have_base() {
    need patch patch
    need gcc build-essential
    own_root >/dev/null
    [[ -d $TOP/build/erl/default/lib/otp_tests ]] || fail "the Erlang applications are not compiled; run './build.sh erl'."
    open_log
    lock_cache
    use_compiler_cache
    obtain_source "$1" "" no
    build_base "$1"
}

# users_of PLACE: the processes that run its emulator.
users_of() { { grep -lsF "$1/root/" /proc/[0-9]*/cmdline || true; } | cut -d/ -f3 | paste -sd' '; }

# prepare PLACE VARIANT FLAVOUR: makes the place unless it is up to date. One that another call still uses is not
# replaced.
prepare() {
    local users
    build_tested "$2" "$3"
    build_library "$2"
    ! have_root "$@" || return 0
    users=$(users_of "$1")
    [[ -z $users ]] || fail "$1 must be made anew, and is still used (processes $users); wait for their end."
    step "Making a root for $2 ($(otp_type "$3"))" 5 make_root "$@"
}

# copy_tests FROM PLACE FOLDER VARIANT: copies a folder of tests from OTP's sources, and applies the variant's
# patches.
copy_tests() {
    local patch
    cp -a "$1" "$2"
    while read -r patch; do
        patch_part "$patch" "$3" | patch -d "$2" "-p$(($(tr -dc / <<<"$3" | wc -c) + 1))" -F0 --no-backup-if-mismatch
    done < <(patch_files_below "$4" "$3")
}

# make_tests PLACE VARIANT FLAVOUR: copies the sources; the suites are compiled when they are needed, and their native
# code when they begin, by the compiler that ts found.
make_tests() {
    local tests=$1/tests lib=$BASE/tree/lib app
    rm -rf "$tests"
    mkdir -p "$tests"
    copy_tests "$BASE/pristine/erts/emulator/test" "$tests/emulator_test" erts/emulator/test/ "$2"
    for app in "${TESTED[@]:1}"; do
        copy_tests "$lib/$app/test" "$tests/${app}_test" "lib/$app/test/" "$2"
    done
    cp "$lib/stdlib/test/error_info_lib.erl" "$tests/emulator_test"
    cp -a "$lib/common_test/test_server" "$tests/test_server"
    (cd "$tests/test_server" && "$1/root/bin/erlc" ts*.erl &&
        "$1/root/bin/erl" -noinput -eval 'ok = ts:install(), halt().')
    [[ $3 != arm64 ]] || sed -i -E 's,(\\t|\<)gcc\>,\1aarch64-linux-gnu-gcc,g' "$tests/test_server/variables"
    touch "$tests/complete"
}

# compile DIR MODULE: compiles equal sources only once. Some include files from the sources of an application that the
# base build omits.
compile() {
    local kept
    kept=$CACHE/otp-test/modules/$({ basename "$BASE"; cat "$1/$2.erl"; } | short_key).beam
    if [[ ! -f $kept ]]; then
        mkdir -p "${kept%/*}"
        (cd "$1" && ERL_LIBS=$BASE/tree/lib "$BASE/root/bin/erlc" "$2.erl")
        cp "$1/$2.beam" "$kept.part"
        mv "$kept.part" "$kept"
    fi
    cp "$kept" "$1/$2.beam"
}

# compile_helpers FOLDER SUITE: compiles the modules that suites share: those that are not suites, and suites that
# this suite calls. Some files are sources of programs that a suite compiles itself, and may fail to compile here. The
# large files are generated, and only compiled for the suite that names them.
compile_helpers() {
    local file module
    for file in "$1"/*.erl; do
        module=$(basename "$file" .erl)
        [[ ! -f $1/$module.beam ]] || continue
        [[ $module != *_SUITE ]] || grep -q "\<$module:" "$1/$2.erl" || continue
        (($(stat -c %s "$file") < 1000000)) || grep -q "$module" "$1/$2.erl" || continue
        compile "$1" "$module" || say "$file does not compile"
    done
}

# compile_suites PLACE SUITE...
compile_suites() {
    local suite file
    for suite in "${@:2}"; do
        for file in "${TESTED[@]/%/_test/${suite##*/}.erl}"; do
            file=$1/tests/$file
            [[ -f $file && ( $suite != */* || $file == */"${suite%/*}_test/"* ) ]] || continue
            compile_helpers "${file%/*}" "${suite##*/}"
            [[ -f ${file%.erl}.beam ]] || compile "${file%/*}" "${suite##*/}"
            break
        done
    done
}
