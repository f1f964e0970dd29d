#!/usr/bin/env bash
# Writes the tables of measurements into the pages.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

usage() {
    cat <<'USAGE'
Example: ./build.sh results

Usage: ./build.sh results [--check] [PAGE...]

Writes the tables of measurements into the pages (by default README.md and those of
doc/), from the results that are kept in doc/results/data. A comment on the page says
what a table shows.
  --check  writes nothing, and fails if a page has another figure than its result
USAGE
}

# pages: those that have such a table.
pages() {
    cd "$TOP"
    grep -lE '^<!-- (table: |(commands|kinds)$)' README.md doc/*.md doc/results/*.md
}

main() {
    local mode=write asked=()
    while (($#)); do
        case $1 in
            --check) mode=check ;;
            -h | --help) usage; exit 0 ;;
            -*) misuse "unknown option '$1'" ;;
            *)
                [[ -f $1 ]] || misuse "there is no page '$1'"
                asked+=("$(realpath -- "$1")")
                ;;
        esac
        shift
    done
    [[ -f $BUILD/erl/default/lib/ertslab/ebin/ertslab_report_pages.beam ]] || fail "nothing is compiled yet; run './build.sh erl'."
    cd "$TOP"
    ((${#asked[@]})) || mapfile -t asked < <(pages)
    local status=0
    ERTSLAB_TOP=$TOP on_own_otp erl -noinput -boot no_dot_erlang +fnu -pa "$BUILD"/erl/default/lib/*/ebin \
        -s ertslab_report_pages main -extra "$mode" "${asked[@]}" || status=$?
    [[ $status == 0 || $mode == write ]] || say "'./build.sh results' writes the tables."
    return "$status"
}

main "$@"
