#!/usr/bin/env bash
# Runs every check and test of the project, and prints a last line that counts them.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

# shellcheck source=scripts/lib/proper.bash
source "$TOP/scripts/lib/proper.bash"
# shellcheck source=otp_patches/variants.sh
source "$TOP/otp_patches/variants.sh"

passed=0
failed=0

usage() {
    cat <<'USAGE'
Example: ./build.sh test --only bats

Usage: ./build.sh test [--only NAME]
       ./build.sh test --arch arm64

Installs missing packages, builds all variants of the default OTP release and as many
of the others as have each patch, and runs these checks, or with --only one of them:
  shell    shellcheck over all shell scripts
  patches  the patch checker against the sources of each release
  bats     the tests of the scripts and of the command line
  native   the plain C of the NIF and of the drivers under gcc's sanitizers, the
           microbenchmarks' own tests, and the format of the C and C++ code
  memcheck the NIF and the drivers under valgrind, on the interpreter
  xref     calls of functions that do not exist
  dialyzer types
  ct       Common Test and PropEr over the Erlang applications
  verify   each emulator against its manifest

With --arch arm64 it builds stock and tuned of the default OTP release for arm64 and
runs them under qemu-user: suites of OTP on both, compared; random programs; and the
project's own suites, as far as emulation allows. This takes about an hour. Nothing
is timed there.
USAGE
}

# check NAME SECONDS COMMAND...: runs the command and counts the result; goes on in any case. While the shell waits for
# a background job, it notices signals.
check() {
    local status=0
    set -m
    (step "$@") &
    CHECK=$!
    set +m
    wait "$CHECK" || status=$?
    CHECK=
    if ((status == 0)); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
}

CHECK='' BESIDE=''

# stop_all: what still runs. A check that is told to end takes its step along.
stop_all() {
    [[ -z $CHECK ]] || kill "$CHECK" 2>/dev/null || true
    [[ -z $BESIDE ]] || kill -- "-$BESIDE" 2>/dev/null || true
}

shell_scripts() {
    cd "$TOP"
    shellcheck -x build.sh ertslab .ci/run scripts/*.sh scripts/*.bash scripts/lib/*.bash \
        otp_patches/check otp_patches/*.sh bench/build bench/run bench/common.bash tests/*.bats tests/lib/*.bash tests/field/run tests/field/lib/*.bash tests/field/*/start
}

# unpatched BASE: the original sources of a complete base build. Variants are built in its tree, so erts comes from a
# copy; the libraries are never changed.
unpatched() {
    local tree=$BUILD/unpatched/${1##*/}
    mkdir -p "$tree"
    ln -sfn "$1/pristine/erts" "$tree/erts"
    ln -sfn "$1/tree/lib" "$tree/lib"
    ln -sfn "$1/tree/OTP_VERSION" "$tree/OTP_VERSION"
    echo "$tree"
}

patches() {
    local complete trees=()
    for complete in "$CACHE"/otp/*/complete; do
        trees+=("$(unpatched "${complete%/complete}")")
    done
    "$TOP/otp_patches/check" "${trees[@]}"
}

rebar() {
    cd "$TOP/erl_src"
    ERL_LIBS=$PROPER_LIBS ERTSLAB_TOP=$TOP on_own_otp rebar3 "$@"
}

# types: dialyzer, on the root in the build cache that the checkout's own is a copy of. An analysis of OTP names the files that it
# has read, and under these names every checkout finds the same ones: so it is kept in the cache, too.
types() {
    local root
    root=$(sed -n 's/^ *ROOTDIR="\(\/.*\)"$/\1/p' "$(own_root)/bin/erl")
    [[ -x $root/bin/erl ]] || root=$(own_root)
    cd "$TOP/erl_src"
    PATH=$root/bin:$PATH REBAR_BASE_DIR=$BUILD/erl REBAR_CACHE_DIR=$CACHE/dialyzer ERL_LIBS=$PROPER_LIBS ERTSLAB_TOP=$TOP rebar3 dialyzer
}

# The suites of these folders look at nodes for seconds, and on a busy machine nodes look busy. So they run when all else has ended,
# in place of one of three lanes of the field cases. (Beside three lanes, looks came too late.)
LOOKING='^(diagnose/test|ertslab/test/diagnosis|experiments/test/(libraries|programs))$'

# suites: the suites. rebar3 looks for them only in each application's folder test, but those of ertslab are in subfolders.
suites() { (cd "$TOP/erl_src" && find . -path './*/test/*' -name '*_SUITE.erl' -printf '%P\n'); }

# common_test WORD...: Common Test of those folders that grep with these words leaves.
common_test() { rebar ct --dir "$(suites | sed 's|/[^/]*$||' | sort -u | grep "$@" | paste -sd ,)"; }

# FAILED: how Common Test tells of a case that failed, or that did not begin since its preparation failed.
FAILED='==> .*(FAILED|tc_auto_skip)'

# suites_again NAME: the result of this run of suites. Those with a case that failed are repeated, since other work kept the machine
# busy, and a look at a node is a sample of seconds.
suites_again() {
    local names suite status=0
    result "$1" && return
    # Where the run did not come to its end, suites are missing that nobody would repeat.
    grep -q '^Results written to' "$BUILD/log/$1" || return 1
    mapfile -t names < <(sed -nE "s/^.*%%% ([a-z0-9_]+_SUITE) $FAILED.*/\1/p" "$BUILD/log/$1" | sort -u)
    ((${#names[@]} > 0)) || return 1
    for suite in "${names[@]}"; do
        echo "Repeated: $suite"
        rebar ct --dir "$(dirname "$(suites | grep "/$suite\.erl$")")" --suite "$suite" || status=$?
    done
    return "$status"
}

# In the background: what has one thread, beside the bats.
beside_bats() {
    ! wanted shell || kept shell shell_scripts
    ! wanted dialyzer || kept dialyzer without_spinning types
    ! wanted memcheck || kept memcheck "$TOP/scripts/memcheck.sh"
    ! wanted ct || kept ct without_spinning common_test -vE "$LOOKING"
}

# A VM's threads turn round when they wait, by default, and on a busy machine take the time of those that work. Nodes of
# the field cases, and VMs of soaks and of OTP's suites, are as they always are. Comparisons in tests run so, too: no time is judged there.
without_spinning() { ERL_ZFLAGS="+sbwt none +sbwtdcpu none +sbwtdio none" "$@"; }

# beside COMMAND...: in the background, in a process group of its own, so that all of it can be stopped.
beside() {
    set -m
    ("$@" 9>&- </dev/null) &
    BESIDE=$!
    set +m
}

wait_beside() { while kill -0 "$BESIDE" 2>/dev/null; do sleep 1; done; }

# kept NAME COMMAND...: its output in a file, its status in another. (Before ||, set -e would have no effect in it. In the
# background it would ignore SIGINT.)
kept() {
    local status
    set +e
    (set -e; "${@:2}") >"$BUILD/log/$1" 2>&1
    status=$?
    set -e
    echo "$status" >"$BUILD/log/$1.status.part"
    mv "$BUILD/log/$1.status.part" "$BUILD/log/$1.status"
}

# result NAME: waits for it, and ends as it does. Repeats the names and reasons of failed cases at the end of the output.
result() {
    local log=$BUILD/log/$1
    while [[ ! -e $log.status ]] && kill -0 "$BESIDE" 2>/dev/null; do sleep 0.2; done
    cat "$log"
    [[ $(cat "$log.status") == 0 ]] || {
        grep -E -A 9 "$FAILED" "$log" | tail -n 19
        return 1
    }
}

FIELD=$TOP/tests/field.bats

# Three files at a time: each has a processor for half of its time. Those that build in this checkout follow each other, so that
# no two of its builds run at once. Those that take long begin.
bats_tests() {
    local building
    mapfile -t building < <(bats_files -l)
    mapfile -t QUEUE < <(printf '%s.bats\n' escript cli arms elixir remote slurm programs audit profile; bats_files -L)
    TAKEN=$(mktemp -d)
    take "${FIELD##*/}"
    rm -f "$BUILD/log/bats.lane.repeated"
    lanes 3 "$BUILD/log/bats.lane" bats_file "${building[@]}" && return
    wait_beside
    mapfile -t QUEUE < <(find "$TOP/tests" -maxdepth 1 -name '*.bats' ! -path "$FIELD")
    cases_again "$BUILD/log/bats.lane" "${QUEUE[@]}"
}

# cases_again LOG FILE...: repeats those cases of these files that failed in lanes, one at a time: the other lanes kept the machine busy.
# Ends well if each case has passed once. So a case that no lane came to is missed.
cases_again() {
    local pattern
    echo "Repeated, one at a time: $(failed_cases "$1" | paste -sd ,)"
    # bats compares with the name as the file has it, where a character can have a backslash before it.
    pattern=$(failed_cases "$1" | sed 's/[^[:alnum:] ]/.{1,2}/g' | paste -sd '|')
    bats --timing --filter "^($pattern)\$" "${@:2}" >"$1.repeated" 2>&1 || true
    told "$1.repeated"
    (($(cat "$1".* | grep -c '^ok ') == $(cat "${@:2}" | grep -c '^@test ')))
}

failed_cases() { sed -nE 's/^not ok [0-9]+ (.*) in [0-9]+ms$/\1/p' "$1".[123]; }

# lanes COUNT LOG COMMAND NAME...: so many lanes call the command with the names of the queue. The first one begins with these names.
lanes() {
    local number pid logs=("$2.1") pids=() status=0
    lane "$2.1" "${@:3}" &
    pids+=($!)
    for ((number = 2; number <= $1; number++)); do
        lane "$2.$number" "$3" &
        pids+=($!)
        logs+=("$2.$number")
    done
    for pid in "${pids[@]}"; do wait "$pid" || status=$?; done
    rm -r "$TAKEN"
    told "${logs[@]}"
    return "$status"
}

# take NAME: whether no other lane has taken it. What cannot be noted, as on a full disk, is run twice rather than never.
take() { mkdir "$TAKEN/$1" 2>/dev/null || [[ ! -d $TAKEN/$1 ]]; }

# lane LOG COMMAND NAME...: calls the command with each name, and then with those of the queue that no other lane has taken.
lane() {
    local name status=0
    : >"$1"
    for name in "${@:3}" "${QUEUE[@]}"; do
        take "$name" || continue
        "$2" "$name" >>"$1" 2>&1 || status=$?
    done
    return "$status"
}

# bats_files -l|-L: the names of those that build in this checkout, or of the others.
bats_files() { (cd "$TOP/tests" && grep -E "$1" 'TOP/build\.sh" (otp|erl|soak|site)' -- *.bats); }

# What runs beside the lanes takes as long as all of them and has one thread. So it has a processor whenever it wants one.
bats_file() { nice -n 5 bats --timing "$TOP/tests/$1"; }

# field_cases REGEX: those whose names match. With "beside" it waits for what runs beside.
field_cases() {
    [[ $1 != beside ]] || { wait_beside; return; }
    bats --timing --filter "$1" "$FIELD"
}

# The field cases, three at a time: they mostly wait, and three take no longer each than two. Letters with many cases come first. The
# first lane begins when the suites that look at nodes have ended.
field_tests() {
    mapfile -t QUEUE < <(echo '^[^f]'
        sed -nE 's/^@test "(field: .).*/^\1/p' "$FIELD" | uniq -c | sort -rn | sed 's/^ *[0-9]* //')
    TAKEN=$(mktemp -d)
    rm -f "$BUILD/log/bats.field.repeated"
    lanes 3 "$BUILD/log/bats.field" field_cases beside && return
    cases_again "$BUILD/log/bats.field" "$FIELD"
}

# told LOG...: failed tests are repeated at the end of the output.
told() {
    cat "$@"
    grep -h '^not ok' "$@" || true
}

native_code() {
    on_own_otp make -C "$TOP/nif" check &&
        on_own_otp make -C "$TOP/c_src" check &&
        clang-format --dry-run --Werror "$TOP"/nif/*.[ch] "$TOP"/c_src/*.[ch] "$TOP"/bench/*.h "$TOP"/bench/*.cc &&
        python3 -B -m unittest discover -s "$TOP/bench/analysis"
}

CHECKS=(shell patches bats native memcheck xref dialyzer ct verify)

wanted() { [[ -z $only || $only == "$1" ]]; }

run_checks() {
    trap stop_all EXIT
    trap 'exit 130' INT TERM HUP
    rm -f "$BUILD"/log/{shell,dialyzer,memcheck,ct,ct_looking}.status
    ! wanted patches || check "The patches apply to every release" 10 patches
    ! wanted native || check "The native code's own tests" 10 native_code
    ! wanted xref || check "xref" 5 rebar xref
    beside beside_bats
    ! wanted bats || check "bats" 900 without_spinning bats_tests
    ! wanted shell || check "shellcheck" 5 result shell
    ! wanted dialyzer || check "dialyzer" 5 result dialyzer
    ! wanted memcheck || check "The native code under valgrind" 5 result memcheck
    ! wanted ct || check "Common Test" 60 suites_again ct
    wait "$BESIDE" || true
    BESIDE=
    ! wanted ct || beside kept ct_looking common_test -E "$LOOKING"
    ! wanted bats || check "The field cases" 620 field_tests
    ! wanted ct || check "Common Test of what looks at nodes" 60 suites_again ct_looking
    ! wanted verify || check "The emulators are what their manifests say" 10 "$TOP/scripts/verify.sh"
}

# counted: the last line.
counted() {
    say "$passed passed, $failed failed"
    ((failed == 0 && passed > 0))
}

# on_arm64: the checks of '--arch arm64'.
on_arm64() {
    # shellcheck source=scripts/lib/arm64_tests.bash
    source "$TOP/scripts/lib/arm64_tests.bash"
    "$TOP/scripts/deps.sh" --test --arm64
    need_arm64
    "$TOP/scripts/otp.sh" --vm stock,tuned
    "$TOP/scripts/native.sh"
    "$TOP/scripts/erl.sh"
    open_log
    lock_cache
    have_proper
    trap stop_all EXIT
    trap 'exit 130' INT TERM HUP
    test_arm64
}

main() {
    local arch=''
    only=
    while (($#)); do
        case $1 in
            --only) only=${2-}; shift; [[ -n $only ]] || misuse "--only needs the name of a check" ;;
            --arch) arch=${2-}; shift; [[ $arch == arm64 ]] || misuse "--arch wants arm64" ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "the last option needs a value"
    done
    [[ -z $arch || -z $only ]] || misuse "--only does not go with --arch"
    if [[ $arch == arm64 ]]; then
        on_arm64
        counted
        return
    fi
    [[ -z $only ]] || grep -qxF -- "$only" <(printf '%s\n' "${CHECKS[@]}") || misuse "there is no check '$only'; choose from: ${CHECKS[*]}"
    "$TOP/scripts/deps.sh" --test
    "$TOP/scripts/otp.sh" --interpreter stock,prefetch
    "$TOP/scripts/otp.sh" --otp all --vm "stock_copy,tuned,$(covering_variants | paste -sd ,)"
    "$TOP/scripts/native.sh"
    "$TOP/scripts/erl.sh"
    "$TOP/scripts/benchstat.sh"
    "$TOP/scripts/programs.sh" rabbitmq
    open_log
    lock_cache
    have_proper
    run_checks
    counted
}

main "$@"
