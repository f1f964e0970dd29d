# Sourced: reads the file 'variants' of $PATCH_DIR (by default this folder).
# shellcheck shell=bash

PATCH_DIR=${PATCH_DIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)}

# use_patches FOLDER: switches to that folder's patches and variants.
use_patches() { PATCH_DIR=$1; }

# variant_field NAME COLUMN: a field of a variant's line, without outer blanks.
variant_field() {
    awk -F'|' -v name="$1" -v column="$2" '
        function trimmed(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
        !/^[ \t]*(#|$)/ && trimmed($1) == name { print trimmed($column); exit }' "$PATCH_DIR/variants"
}

# variant_made_of NAME COLUMN: a field of the variant and of all variants that it is made of, in order and without
# repetitions. Fails with a sentence if a variant does not exist or includes itself.
variant_made_of() {
    awk -F'|' -v wanted="$1" -v column="$2" '
        function trimmed(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }
        function fault(sentence) { print sentence >"/dev/stderr"; failed = 1; exit 1 }
        function add(part) { if (part != "" && !added[part]++) line = line (line == "" ? "" : " ") part }
        # within: the enclosing variants, separated by commas.
        function expand(name, within, words, count, i) {
            if (index("," within, "," name ",")) {
                gsub(/,/, ", ", within)
                fault(name " is made of itself (" within name ").")
            }
            count = split(parts[name], words, " ")
            for (i = 1; i <= count; i++) {
                if (words[i] in parts) expand(words[i], within name ",")
                else if (words[i] !~ /\.patch$/) fault(name " names the variant " words[i] ", which is not there.")
                else if (column == 2) add(words[i])
            }
            if (column == 3) add(options[name])
        }
        !/^[ \t]*(#|$)/ { name = trimmed($1); if (!(name in parts)) { parts[name] = $2; options[name] = trimmed($3) } }
        END {
            if (failed) exit 1
            if (!(wanted in parts)) fault("there is no variant " wanted ".")
            expand(wanted, "")
            print line
        }' "$PATCH_DIR/variants"
}

variant_names() { sed -E '/^[[:space:]]*(#|$)/d; s/^[[:space:]]*//; s/[[:space:]]*\|.*//' "$PATCH_DIR/variants"; }
variant_patches() { variant_made_of "$1" 2; }
variant_options() { variant_made_of "$1" 3; }
variant_description() { variant_field "$1" 4; }

# covering_variants: variants that together have every patch. Those that are made of others come last in the file, so it is read from there.
covering_variants() {
    local variant patch new seen=' '
    for variant in $(variant_names | tac); do
        new=no
        for patch in $(variant_patches "$variant"); do
            [[ $seen == *" $patch "* ]] || { seen+="$patch "; new=yes; }
        done
        [[ $new == no ]] || printf '%s\n' "$variant"
    done
}

# check_variants OPTION NAMES: accepts names separated by commas, or all; otherwise the calling script was misused.
check_variants() {
    local name names
    [[ $2 != all && -n $2 ]] || return 0
    [[ $2 == *[!,\ ]* ]] || misuse "$1 wants names of variants, or all; '$2' has none"
    IFS=', ' read -ra names <<<"$2"
    for name in "${names[@]}"; do
        [[ -z $name ]] || is_variant "$name" ||
            misuse "$1 wants names of variants, or all; there is no variant '$name'"
    done
}

is_variant() { grep -qxF -- "$1" <(variant_names); }

# check_one_variant NAME: the same of --vm, for a script that takes one.
check_one_variant() {
    is_variant "$1" || misuse "--vm wants one variant; there is none of the name '$1'"
}

# check_packaged NAME: a variant that Debian's packaging can build.
check_packaged() {
    [[ -z $(variant_options "$1") ]] || misuse "the variant $1 wants options of configure, which Debian's packages do not have"
}
