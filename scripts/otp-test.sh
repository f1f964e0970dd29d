#!/usr/bin/env bash
# Runs OTP's own test suites on a variant and on stock, and compares case by case.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=scripts/lib/otp_tests.bash
source "$TOP/scripts/lib/otp_tests.bash"

DEFAULT_SUITES=(gc hibernate list_bif guard receive message_queue_data map tuple fun
    binary bif nif driver port signal process persistent_term beam_literals code trace lists)

usage() {
    cat <<USAGE
Example: ./build.sh otp-test --vm tuned --suite gc,list_bif

Usage: ./build.sh otp-test --vm NAME [--otp RELEASE] [--emulator KIND]
                        [--suite SUITE[,SUITE]] [--retries N] [--fresh]
                        [--stock DIR] [--json]
       ./build.sh otp-test --vm NAME --terms N [--otp RELEASE] [--emulator KIND]

Runs OTP's own test suites on a variant and on stock, and compares the results
case by case. Cases that a patch adds must pass.
  --vm NAME        the variant
  --otp RELEASE    $(releases | paste -sd'|') (default $(default_release))
  --emulator KIND  opt, the one that is measured (default); debug, which checks
                   what OTP's authors assert; or asan, which checks each access
                   of memory (these two are built on first use, in 6 minutes
                   each); or arm64, the one of another processor, which is
                   cross-compiled and runs under qemu-user (see
                   './build.sh test --arch arm64'). Its time limits are ten times
                   as long
  --suite SUITE    suites of ${TESTED[*]};
                   kernel/SUITE tells suites with the same name apart, and
                   kernel/all names all suites of kernel; by default the suites
                   to which the variant's patches add tests, and
                   ${DEFAULT_SUITES[*]:0:9}
                   ${DEFAULT_SUITES[*]:9}
  --retries N      how often a suite is repeated on both VMs while a case differs,
                   because many cases depend on timing (default 2)
  --fresh          run stock again instead of using its kept results
  --stock DIR      the folder for stock's results, instead of the build cache
  --json           the report as JSON; progress goes to standard error
  --terms N        instead of suites, N random programs that make terms of all
                   kinds, collect them, and check that they are unchanged; one in
                   twenty makes large terms (about 13,000 programs a minute on an
                   idle core)

Exit status: 0 every case is as on stock, 1 some case differs, 2 misused. The
default suites take about 20 minutes on each of the two VMs, and more on slower
emulators.
USAGE
}

# test_folder APPLICATION: the folder of its tests in OTP's sources.
test_folder() {
    case $1 in
        emulator) echo "$BASE/pristine/erts/emulator/test" ;;
        *) echo "$BASE/tree/lib/$1/test" ;;
    esac
}

# suites_of APPLICATION: all its suites.
suites_of() {
    local file
    for file in "$(test_folder "$1")"/*_SUITE.erl; do
        echo "$1/$(basename "$file" .erl)"
    done
}

# suite_names WORDS: the suites as modules, without duplicates; suites of the emulator need no application.
suite_names() {
    local word
    for word in ${1//,/ }; do
        case $word in
            */all) suites_of "${word%/all}" ;;
            *) printf '%s\n' "${word%_SUITE}_SUITE" ;;
        esac
    done | sed 's|^emulator/||' | awk '!seen[$0]++'
}

# suite_source SUITE: its source in OTP's sources, or nothing. APPLICATION/SUITE names the application; a name without
# one is looked for in all, and the first match is used.
suite_source() {
    local app file
    for app in "${TESTED[@]}"; do
        file=$(test_folder "$app")/${1##*/}.erl
        if [[ ( $1 != */* || $1 == "$app"/* ) && -f $file ]]; then
            echo "$file"
            return
        fi
    done
}

check_suites() {
    local suite
    for suite in "${suites[@]}"; do
        [[ $suite =~ ^([a-z_]+/)?[a-z][a-z0-9_]*_SUITE$ && -n $(suite_source "$suite") ]] ||
            misuse "OTP $OTP_VERSION has no suite '$suite' among those of: ${TESTED[*]}"
    done
}

forget_stock() {
    local suite
    for suite in "${suites[@]}"; do
        rm -f "$kept/$suite.json"
    done
}

# prepare_suites PLACE VARIANT FLAVOUR
prepare_suites() {
    prepare "$@"
    [[ -f $1/tests/complete ]] || step "Preparing the suites for $2 ($emulator)" 30 make_tests "$@"
    step "Compiling the suites for $2" $((2 * ${#suites[@]})) compile_suites "$1" "${suites[@]}"
}

# The suites' nodes use an epmd of their own, which is killed with them. The relaxed check lets it be killed although
# a suite may have left a node behind.
own_epmd() {
    export ERL_EPMD_PORT=$((20000 + $$ % 12000)) ERL_EPMD_RELAXED_COMMAND_CHECK=1
    # shellcheck disable=SC2064  # the root of now is meant
    trap "'$1/erts-'*/bin/epmd -kill >/dev/null 2>&1 || true" EXIT
}

run_suites() {
    local stock=$1 variant=$2 root slower=1
    root=$(own_root)
    [[ $emulator != arm64 ]] || slower=10
    unset ERL_AFLAGS ERL_FLAGS ERL_ZFLAGS ERL_LIBS ERL_ROOTDIR
    ulimit -c 0
    own_epmd "$root"
    "$root/bin/erl" -noinput -boot no_dot_erlang +sbtu +Bd +fnu -pa "$BUILD"/erl/default/lib/*/ebin \
        -s otp_tests main -extra "vm=$vm" "otp=$OTP_VERSION" "emulator=$emulator" "json=$json" \
        "stock=$stock" "variant=$variant" "retries=$retries" "slower=$slower" "out=$variant/report" \
        "kept=$kept" \
        "suites=$(IFS=,; echo "${suites[*]}")"
}

# Compiled by the OTP that the project's own programs run on.
compile_terms() {
    mkdir -p "$BUILD/otp-test/terms"
    ERL_LIBS=$PROPER_LIBS on_own_otp away erlc +nowarn_missing_spec -o "$BUILD/otp-test/terms" \
        "$TOP"/erl_src/otp_tests/test/{prop_term_graph,term_graph_cases}.erl
}

run_terms() {
    local place=$1 last=$1/program status=0
    unset ERL_AFLAGS ERL_FLAGS ERL_ZFLAGS ERL_ROOTDIR
    ASAN_OPTIONS=detect_leaks=0:exitcode=99:log_path=$place/asan ERL_LIBS=$PROPER_LIBS ERL_CRASH_DUMP=$place/erl_crash.dump \
        "$place/root/bin/erl" -noinput -pa "$BUILD/otp-test/terms" "$BUILD"/erl/default/lib/{otp_tests,cons_spacing}/ebin \
        -s term_graph_cases main -extra "$terms" "$last" || status=$?
    case $status in
        0) say "$terms random programs left every term as it was, on $vm ($emulator) of OTP $OTP_VERSION." ;;
        3) fail "$vm ($emulator) of OTP $OTP_VERSION damages terms; the program above shows it." ;;
        99) fail "$vm ($emulator) of OTP $OTP_VERSION accesses invalid memory; see $place/asan.*. term_graph_cases:again/1 repeats the program in $last." ;;
        *) fail "$vm ($emulator) of OTP $OTP_VERSION ended with status $status; term_graph_cases:again/1 repeats the program in $last." ;;
    esac
}

parse() {
    while (($#)); do
        case $1 in
            --vm) vm=${2-}; shift ;;
            --otp) release=${2-}; shift ;;
            --emulator) emulator=${2-}; shift ;;
            --suite) words+=,${2-}; shift; [[ $words != *, ]] || misuse "--suite needs a name" ;;
            --retries) retries=${2-}; shift ;;
            --stock) kept=${2-}; shift; [[ -n $kept ]] || misuse "--stock needs a folder" ;;
            --terms) terms=${2-}; shift; [[ $terms =~ ^[1-9][0-9]{0,8}$ ]] || misuse "--terms needs a number above 0" ;;
            --fresh) fresh=yes ;;
            --json) json=yes ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "the last option needs a value"
    done
    [[ -n $vm ]] || misuse "--vm NAME is missing"
    check_vm "$release" "$vm" "$emulator" opt debug asan arm64
    [[ -z $terms || -z $words$kept && $fresh$json == nono ]] ||
        misuse "--terms goes with --vm, --otp and --emulator only"
    [[ $retries =~ ^[0-9]$ ]] || misuse "--retries needs a number from 0 to 9"
}

compare_suites() {
    local stock_place=$BUILD/otp-test/$release-stock-$emulator suites
    mapfile -t suites < <(suite_names "${words:-${DEFAULT_SUITES[*]} $(patched_suites "$vm" | paste -sd' ')}")
    check_suites
    kept=${kept:-$CACHE/otp-test/$(kept_key "$flavour")}
    [[ $fresh == no ]] || forget_stock
    prepare_suites "$stock_place" stock "$flavour"
    [[ $vm == stock ]] || prepare_suites "$place" "$vm" "$flavour"
    exec 9>&-
    [[ $json == no ]] || exec 1>&3
    run_suites "$stock_place" "$place"
}

try_terms() {
    have_proper
    prepare "$place" "$vm" "$flavour"
    step "Compiling the property" 5 compile_terms
    exec 9>&-
    run_terms "$place"
}

main() {
    local vm='' release emulator=opt words='' retries=2 kept='' fresh=no json=no terms=''
    local flavour place
    release=$(default_release)
    parse "$@"
    [[ $json == no ]] || exec 3>&1 1>&2
    have_base "$release"
    flavour=${emulator/#opt/jit}
    place=$BUILD/otp-test/$release-$vm-$emulator
    if [[ -n $terms ]]; then
        try_terms
    else
        compare_suites
    fi
}

main "$@"
