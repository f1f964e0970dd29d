#!/usr/bin/env bash
# Runs the native code and a cluster for a long time on one emulator of a variant.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=scripts/lib/otp_tests.bash
source "$TOP/scripts/lib/otp_tests.bash"

# What can be selected, each with the suite, or similar module, whose single case does it.
declare -A SUITES=([drivers]=port_drivers_chaos_SUITE [nif]=cons_spacing_chaos_SUITE [cluster]=term_cluster_SUITE [tls]=term_cluster_tls_SUITE [tables]=term_tables_soak [copies]=term_copies_soak [libraries]=library_load_soak [compiler]=otp_compile_SUITE)
ORDER=(drivers nif cluster tls tables copies libraries compiler)
# The application with native code that runs in it, if any, with the folder and the target of its Makefile.
declare -A NATIVE=([drivers]="port_drivers c_src all" [nif]="cons_spacing nif all" [copies]="otp_tests nif copies")

usage() {
    cat <<USAGE
Example: ./build.sh soak --vm tuned --seconds 600 cluster

Usage: ./build.sh soak [--vm NAME] [--otp RELEASE] [--emulator KIND] [--seconds N]
                       [$(IFS='|'; echo "${ORDER[*]}")]...

Keeps a VM working for a long time, kills its workers at random moments, checks all
results, and reports the growth of the VM's memory.
  drivers          the drivers of c_src write files; ports are killed, code is
                   unloaded and loaded
  nif              cons_spacing measures lists and random terms while other
                   processes collect them; its code is reloaded
  cluster          three nodes send each other large nested terms
  tls              the same over TLS
  tables           processes write terms to the same tables and read them, and are killed
  copies           terms are sent, given to other processes and copied by native code, while
                   processes are killed
  libraries        the modules that the variant's patches change are loaded, stock's and
                   the patched ones in turn, while processes call them
  compiler         OTP's modules are compiled, and the result is compared with the
                   installed code (some 800 modules, about 10 minutes)
  --vm NAME        the variant (default tuned)
  --otp RELEASE    $(releases | paste -sd'|') (default $(default_release))
  --emulator KIND  opt (default), debug or asan; on asan the native code has the
                   sanitizers for addresses and undefined behaviour too, and a
                   leak is an error (built on first use, in 6 minutes)
  --seconds N      how long each named test works, in seconds (default 60)

Exit status: 0 all results are right, 1 something is wrong, 2 misused.
USAGE
}

# native WHAT FOLDER: builds its native code for the VM of the place. The VM searches for it next to the beams.
native() {
    local app source target flags="-O2 -g"
    read -r app source target <<<"${NATIVE[$1]}"
    # A library that stays in memory can still be named in reports of leaks.
    [[ $emulator != asan ]] || flags="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wl,-z,nodelete"
    mkdir -p "$2/$app"
    cp -a "$BUILD/erl/default/lib/$app/ebin" "$2/$app"
    make -C "$TOP/$source" "ERL=$place/root/bin/erl" "PRIV=$2/$app/priv" "COPIES_PRIV=$2/$app/priv" "CFLAGS=$flags" "$target"
}

# compile_suites FOLDER: compiles the suites with the OTP that the project's own programs run on.
compile_suites() {
    ERL_LIBS=$PROPER_LIBS on_own_otp away erlc +nowarn_missing_spec -o "$1" \
        "$TOP"/erl_src/cons_spacing/test/cons_spacing{,_chaos}_SUITE.erl \
        "$TOP"/erl_src/port_drivers/test/port_drivers_chaos_SUITE.erl \
        "$TOP"/erl_src/otp_tests/test/{prop_term_graph,term_cluster,term_cluster_SUITE,term_cluster_tls_SUITE,random_terms,killed_workers,term_tables,term_tables_soak,term_copies,term_copies_nif,term_copies_soak,library_load,library_load_soak,otp_compile_SUITE}.erl
}

# both_modules FOLDER: copies the library modules that the variant changes, in stock's version and in its own.
both_modules() {
    local own
    mkdir -p "$1/stock" "$1/patched"
    for own in $(changed_modules); do
        cp "$BASE"/root/lib/*/ebin/"$own.beam" "$1/stock"
        cp "$place"/root/lib/*/ebin/"$own.beam" "$1/patched"
    done
}

# changed_modules: the modules that the variant changes. If it changes none, one that every variant has, so that there
# is something to load.
changed_modules() {
    if has_library "$vm"; then
        basename -s .beam "$(library_dir "$vm")"/*/*.beam
    else
        echo proc_lib
    fi
}

# soak WHAT DIR: runs it with its output in DIR/said.
soak() {
    unset ERL_AFLAGS ERL_FLAGS ERL_ZFLAGS ERL_ROOTDIR
    mkdir -p "$2/files"
    [[ $1 != libraries ]] || both_modules "$2/files"
    ASAN_OPTIONS=exitcode=99:log_path=$2/sanitizer UBSAN_OPTIONS=print_stacktrace=1 LSAN_OPTIONS=exitcode=0 \
        ERL_LIBS=$PROPER_LIBS ERL_CRASH_DUMP=$2/erl_crash.dump ERTSLAB_CHAOS_SECONDS=$seconds \
        "$place/root/bin/erl" -noinput -boot no_dot_erlang \
        -pa "$suites" "$2"/lib/*/ebin "$BUILD"/erl/default/lib/{ertslab,endurance,otp_tests}/ebin \
        -s endurance_chaos main -extra "${SUITES[$1]}" "$2/files" >"$2/said" 2>&1 || {
        cat "$2/said"
        return 1
    }
}

# not_freed DIR: the sanitizer's reports of leaks in the native code. Leaks of the VM itself do not count.
not_freed() { grep -lE '/(cons_spacing_nif|term_copies_nif|[a-z]+_drv)\.so|/(nif|c_src)/[a-z_]+\.c' "$1"/sanitizer.* 2>/dev/null; }

soak_one() {
    local dir=$place/soak/$1 leaks
    rm -rf "$dir"
    mkdir -p "$dir"
    [[ -z ${NATIVE[$1]-} ]] || step "Compiling the native code" 5 native "$1" "$dir/lib"
    (step "Soaking $1 on $vm ($emulator) of OTP $OTP_VERSION" $((seconds + 10)) soak "$1" "$dir") || {
        failed+=("$1")
        return 0
    }
    tail -n 1 "$dir/said"
    if leaks=$(not_freed "$dir"); then
        say "The native code did not free all its memory: $leaks" >&2
        failed+=("$1")
    fi
}

parse() {
    while (($#)); do
        case $1 in
            --vm) vm=${2-}; shift ;;
            --otp) release=${2-}; shift ;;
            --emulator) emulator=${2-}; shift ;;
            --seconds) seconds=${2-}; shift ;;
            -h | --help) usage; exit 0 ;;
            -*) misuse "unknown option '$1'" ;;
            *) [[ -n ${SUITES[$1]-} ]] || misuse "there is no soak '$1'; choose from: ${ORDER[*]}"
               wanted+=("$1") ;;
        esac
        shift || misuse "the last option needs a value"
    done
    ((${#wanted[@]})) || wanted=("${ORDER[@]}")
    check_vm "$release" "$vm" "$emulator" opt debug asan
    [[ $seconds =~ ^[1-9][0-9]{0,5}$ ]] || misuse "--seconds needs a number from 1 to 999999"
}

main() {
    local vm=tuned release emulator=opt seconds=60 wanted=() failed=() place what
    release=$(default_release)
    parse "$@"
    have_base "$release"
    have_proper
    place=$BUILD/otp-test/$release-$vm-$emulator
    prepare "$place" "$vm" "${emulator/#opt/jit}"
    exec 9>&-
    suites=$(mktemp -d)
    trap 'rm -rf "$suites"' EXIT
    step "Compiling the suites" 10 compile_suites "$suites"
    for what in "${wanted[@]}"; do
        soak_one "$what"
    done
    ((${#failed[@]} == 0)) || fail "these soaks failed: ${failed[*]}; their output is in $place/soak."
}

main "$@"
