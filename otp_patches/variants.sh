# Sourced: reads the file 'variants' of $PATCH_DIR (by default this folder).
# shellcheck shell=bash

PATCH_DIR=${PATCH_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}

# variant_field NAME COLUMN: a field of a variant's line, its outer blanks removed.
variant_field() {
    awk -F'|' -v name="$1" -v column="$2" '
        function trimmed(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
        !/^[ \t]*(#|$)/ && trimmed($1) == name { print trimmed($column); exit }' "$PATCH_DIR/variants"
}

variant_names() { sed -E '/^[[:space:]]*(#|$)/d; s/^[[:space:]]*//; s/[[:space:]]*\|.*//' "$PATCH_DIR/variants"; }
variant_patches() { variant_field "$1" 2; }
variant_options() { variant_field "$1" 3; }
variant_description() { variant_field "$1" 4; }

# check_variants OPTION NAMES: names between commas, or all; anything else is misuse of the calling script.
check_variants() {
    local name
    [[ $2 != all ]] || return 0
    for name in ${2//,/ }; do
        grep -qx -- "$name" <(variant_names) ||
            misuse "$1 wants names of variants, or all; there is no variant '$name'"
    done
}
