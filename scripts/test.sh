#!/usr/bin/env bash
# Runs every check and test of the project, and prints a last line that counts them.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

# shellcheck source=scripts/lib/proper.bash
source "$TOP/scripts/lib/proper.bash"

passed=0
failed=0

usage() {
    cat <<'USAGE'
Example: ./build.sh test --only bats

Usage: ./build.sh test [--only NAME]

Installs missing packages, builds every supported OTP release, and runs these checks,
or with --only one of them:
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
USAGE
}

# check NAME SECONDS COMMAND...: runs the command and counts the result; goes on in any case.
check() {
    if (step "$@"); then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
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

# Repeats the names and reasons of failed cases at the end of the output. rebar3 looks for suites only in each
# application's folder test, but those of ertslab are in subfolders.
common_test() {
    local folders
    folders=$(cd "$TOP/erl_src" && find . -path './*/test/*' -name '*_SUITE.erl' -printf '%h\n' | sort -u | paste -sd ,)
    rebar ct --dir "$folders" || {
        grep -A 9 ' ==> .*FAILED' "$LOG" | tail -n 19
        return 1
    }
}

# Two at a time: the files that build run beside the others, so that no two builds run at once. The field cases, which
# mostly wait, follow in two halves. Failed tests are repeated at the end of the output.
bats_tests() {
    local building others field=$TOP/tests/field.bats log=$BUILD/log/bats status=0
    mapfile -t building < <(grep -l '/build\.sh" ' "$TOP"/tests/*.bats)
    mapfile -t others < <(grep -L '/build\.sh" ' "$TOP"/tests/*.bats | grep -vxF "$field")
    both "$log.others" "${others[@]}" -- "$log.building" "${building[@]}" || status=$?
    both "$log.field_a" --filter '^field: [a-k]' "$field" -- "$log.field_l" --filter '^(field: [l-z]|[^f])' "$field" || status=$?
    cat "$log".{building,others,field_a,field_l}
    grep -h '^not ok' "$log".{building,others,field_a,field_l} || true
    return "$status"
}

# both LOG WORD... -- LOG WORD...: runs bats twice in parallel; fails if one of the calls fails.
both() {
    local first=() beside status=0
    while [[ $1 != -- ]]; do
        first+=("$1")
        shift
    done
    shift
    bats --timing "${first[@]:1}" >"${first[0]}" 2>&1 &
    beside=$!
    bats --timing "${@:2}" >"$1" 2>&1 || status=$?
    wait "$beside" || status=$?
    return "$status"
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
    ! wanted shell || check "shellcheck" 5 shell_scripts
    ! wanted patches || check "The patches apply to every release" 10 patches
    ! wanted bats || check "bats" 960 bats_tests
    ! wanted native || check "The native code's own tests" 10 native_code
    ! wanted memcheck || check "The native code under valgrind" 90 "$TOP/scripts/memcheck.sh"
    ! wanted xref || check "xref" 5 rebar xref
    ! wanted dialyzer || check "dialyzer" 180 rebar dialyzer
    ! wanted ct || check "Common Test" 520 common_test
    ! wanted verify || check "The emulators are what their manifests say" 10 "$TOP/scripts/verify.sh"
}

main() {
    only=
    while (($#)); do
        case $1 in
            --only) only=${2-}; shift ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "--only needs a name"
    done
    [[ -z $only || " ${CHECKS[*]} " == *" $only "* ]] || misuse "there is no check '$only'; choose from: ${CHECKS[*]}"
    "$TOP/scripts/deps.sh" --test
    "$TOP/scripts/otp.sh" --otp all
    "$TOP/scripts/otp.sh" --interpreter stock,prefetch
    "$TOP/scripts/native.sh"
    "$TOP/scripts/erl.sh"
    "$TOP/scripts/benchstat.sh"
    "$TOP/scripts/programs.sh" rabbitmq
    open_log
    lock_cache
    have_proper
    run_checks
    say "$passed passed, $failed failed"
    ((failed == 0 && passed > 0))
}

main "$@"
