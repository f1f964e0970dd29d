# Sourced by install.sh: what is known to be open in a version of OTP, from the dated list in scripts/lib/otp_advisories.
# shellcheck shell=bash

ADVISORIES=$TOP/scripts/lib/otp_advisories

advisories_date() { sed -n 's/^# As of \([0-9-]*\).*/\1/p' "$ADVISORIES"; }

is_older() { [[ $1 != "$2" && $(printf '%s\n' "$1" "$2" | sort -V | head -n 1) == "$1" ]]; }

# open_advisories VERSION MENDED: a line of the list for each later version of the same release that mends something. What Debian's
# patches mend (a line each) is left out, but only where the list first has it: it came a second time where the first mend was
# incomplete.
open_advisories() {
    local fixed identifiers
    while IFS='|' read -r fixed identifiers; do
        fixed=${fixed// /}
        if [[ ${fixed%%.*} == "${1%%.*}" ]] && is_older "$1" "$fixed"; then
            printf '%s:%s\n' "$fixed" "$identifiers"
        fi
    done < <(sed 's/#.*//; /^ *$/d' "$ADVISORIES") |
        awk -v mended="$2" 'BEGIN { split(mended, names, "\n"); for (i in names) without[names[i]] = 1 }
            { left = ""
              for (i = 2; i <= NF; i++) if ($i in without) delete without[$i]; else left = left " " $i
              if (left != "") print $1 left }'
}

# say_advisories VERSION MENDED
say_advisories() {
    local open
    open=$(open_advisories "$1" "$2")
    if [[ -z $open ]]; then
        say "No advisory is known that OTP $1 leaves open (list of $(advisories_date))."
    else
        say "Vulnerabilities that later versions of the release mend, and that are open here (list of $(advisories_date), perhaps not all):"
        printf '  %s\n' "${open//$'\n'/$'\n'  }"
    fi
}
