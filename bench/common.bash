# Sourced by the scripts of this folder.
# shellcheck shell=bash

# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/../scripts/lib/common.bash"

# shellcheck disable=SC2034  # the scripts that source this use both
BENCH=$TOP/bench BENCH_BUILD=$BUILD/bench
SCRIPT=bench-$SCRIPT

# misuse MESSAGE: the same as in scripts/, but with the help of these scripts.
misuse() {
    printf "ertslab %s: %s (see 'bench/%s --help')\n" "$SCRIPT" "$*" "${SCRIPT#bench-}" >&2
    exit 2
}
