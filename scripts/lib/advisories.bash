# Sourced by install.sh: what is known to be open in a version of OTP, from the dated list in scripts/lib/otp_advisories.
# shellcheck shell=bash

ADVISORIES=$TOP/scripts/lib/otp_advisories

advisories_date() { sed -n 's/^# As of \([0-9-]*\).*/\1/p' "$ADVISORIES"; }

is_older() { [[ $1 != "$2" && $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

# open_advisories VERSION: a line of the list for each later version of the same release that mends something.
open_advisories() {
    local fixed identifiers
    while IFS='|' read -r fixed identifiers; do
        fixed=${fixed// /}
        if [[ ${fixed%%.*} == "${1%%.*}" ]] && is_older "$1" "$fixed"; then
            printf '%s:%s\n' "$fixed" "$identifiers"
        fi
    done < <(sed 's/#.*//; /^ *$/d' "$ADVISORIES")
}

# say_advisories VERSION
say_advisories() {
    local open
    open=$(open_advisories "$1")
    if [[ -z $open ]]; then
        say "No advisory is known that OTP $1 leaves open (list of $(advisories_date))."
    else
        say "Vulnerabilities that later versions of the release mend (list of $(advisories_date), perhaps not all):"
        printf '  %s\n' "${open//$'\n'/$'\n'  }"
    fi
}
