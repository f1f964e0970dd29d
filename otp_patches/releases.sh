# Sourced: reads the file 'releases' of this folder, the only place in which releases are listed.
# shellcheck shell=bash

RELEASES=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/releases

releases() { sed 's/#.*//' "$RELEASES" | awk -F'|' 'NF { gsub(/ /, "", $1); print $1 }' | sort -n; }

# The oldest release is built and measured by default, as the oldest built one is in Erlang
# (ertslab_inventory:release/1).
default_release() { releases | head -n 1; }

newest_release() { releases | tail -n 1; }

# check_release RELEASE: accepts one that is listed; otherwise the calling script was misused.
check_release() {
    grep -qxF -- "$1" <(releases) ||
        misuse "OTP release '$1' is not supported; choose one of: $(releases | paste -sd' ')"
}

# suite_of RELEASE: the Debian suite whose source package has it.
suite_of() { sed 's/#.*//' "$RELEASES" | awk -F'|' -v r="$1" '{ gsub(/ /, "") } $1 == r { print $2 }'; }
