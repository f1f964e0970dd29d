# Sourced by otp.sh: revisions of a git repository of OTP's sources. An anchor is a revision with a complete base
# build of its own, like a release. A revision that differs from an earlier anchor only in the emulator and in single
# modules of libraries is built as a variant of it, with git's diff as its patch; this takes a minute or two. Any
# other revision becomes an anchor, and takes as long as a release. The files of an anchor are in
#   build/revisions/ANCHOR/
#       commit      the anchor's, in full
#       source      which archive it was built from
#       variants    as in otp_patches/, and the patches beside it
#       otp_patches the checkout's own, for REVISION+VARIANT
#       root/       the built root, with its manifest.json
# shellcheck shell=bash

REVISIONS=$BUILD/revisions

# Files that affect neither the emulator nor a compiled library. Version numbers remain the anchor's.
IRRELEVANT='(^|/)(doc|test|examples|\.github|HOWTO)/|^(system|scripts)/|^[^/]*\.(md|txt)$|^OTP_VERSION$|(^|/)vsn\.mk$'
IRRELEVANT+='|\.(app|appup)\.src$|^(bootstrap|erts/preloaded/ebin)/'
# Changes that a variant can carry. The compiler and parse tools are not among them, because they affect all other
# modules.
REBUILT='^erts/(emulator|include|preloaded/src)/|^erts/(configure|configure\.ac|config\.h\.in)$|^lib/[^/]+/src/([^/]+/)*[^/]+\.erl$'
SHAPES_ALL='^lib/(compiler|parsetools)/'

# use_repository PATH: the repository that the following calls use.
use_repository() {
    need git git
    REPOSITORY=$1
    in_repository rev-parse --git-dir >/dev/null 2>&1 || misuse "--git $1: there is no git repository"
}

# in_repository WORDS...: runs git in that repository.
in_repository() { git -C "$REPOSITORY" "$@"; }

# commit_of REVISION: its full hash.
commit_of() { in_repository rev-parse --verify --quiet "$1^{commit}"; }

# variant_of REVISION: the variant in REVISION+VARIANT, if one has that name.
variant_of() {
    [[ $1 == *+* ]] && grep -qx -- "${1##*+}" <(PATCH_DIR=$TOP/otp_patches variant_names) && printf '%s\n' "${1##*+}"
    true
}

# emulator_name COMMIT VARIANT: the name by which ertslab finds it.
emulator_name() { echo "g${1:0:10}${2:+_$2}"; }

release_of() { in_repository show "$1:OTP_VERSION" 2>/dev/null | cut -d. -f1; }

# differs_little ANCHOR COMMIT: whether a variant can carry all differences.
differs_little() {
    in_repository diff --no-renames --name-status "$1" "$2" |
        awk -F'\t' -v irrelevant="$IRRELEVANT" -v rebuilt="$REBUILT" -v all="$SHAPES_ALL" '
            $2 ~ all && $2 !~ irrelevant { much = 1 }
            $2 ~ irrelevant || ($1 ~ /^[AM]$/ && $2 ~ rebuilt) { next }
            { much = 1 }
            END { exit much }'
}

# anchor_of COMMIT: the most recently built anchor of which it can be a variant; without one, the commit itself.
anchor_of() {
    local kept anchor
    while read -r kept; do
        anchor=$(<"$kept")
        if in_repository cat-file -e "$anchor^{commit}" 2>/dev/null && differs_little "$anchor" "$1"; then
            echo "$anchor"
            return
        fi
    done < <(ls -t "$REVISIONS"/*/commit 2>/dev/null)
    echo "$1"
}

# tree_in ARCHIVE: git's hash of its contents, computed only once.
tree_in() {
    local work=$1.unpacked
    if [[ ! -f ${1%/*}/tree ]]; then
        rm -rf "$work"
        mkdir -p "$work"
        tar -xf "$1" -C "$work" --strip-components=1
        git -C "$work" init -q
        git -C "$work" -c core.safecrlf=false add -A -f . && git -C "$work" write-tree >"${1%/*}/tree"
        rm -rf "$work"
    fi
    cat "${1%/*}/tree"
}

# archive_of_commit COMMIT FILE: uses a kept archive of the same tree, such as that of Debian's package, if there is
# one.
archive_of_commit() {
    local tree kept work=$2.unpacked
    tree=$(in_repository rev-parse "$1^{tree}")
    for kept in "$CACHE"/sources/*/otp.tar; do
        if [[ -f $kept && $(tree_in "$kept") == "$tree" ]]; then
            ln -f "$kept" "$2"
            return
        fi
    done
    rm -rf "$work"
    mkdir -p "$work"
    in_repository archive "$1" | tar -x -C "$work"
    archive_of_tree "$work" "$2"
    rm -rf "$work"
}

# obtain_commit ANCHOR: the same as obtain_source; the anchor's folder records the archive.
obtain_commit() {
    local archive=$CACHE/sources/commit.tar kept=$REVISIONS/${1:0:10}/source version='' sha=''
    writable_dir "$CACHE/sources"
    [[ ! -f $kept ]] || read -r version sha <"$kept"
    if [[ -f $CACHE/sources/$sha/otp.tar ]]; then
        use_archive "$version" "$sha"
    else
        step "Taking ${1:0:10} out of the repository" 30 archive_of_commit "$1" "$archive"
        keep_archive "$(release_of "$1")" "$archive"
        rm -f "$archive"
        echo "$OTP_VERSION $SOURCE_SHA256" >"$kept"
    fi
}

# patch_between ANCHOR COMMIT
patch_between() {
    in_repository diff --no-color --no-ext-diff --no-textconv --no-renames --diff-filter=AM \
        --src-prefix=a/ --dst-prefix=b/ "$1" "$2" -- erts lib ':(exclude)*.beam' ':(exclude,glob)**/doc/**' \
        ':(exclude,glob)**/test/**' ':(exclude,glob)**/vsn.mk' ':(exclude,glob)**/*.app.src' ':(exclude,glob)**/*.appup.src'
}

# declared_beside NAME FILE: the lines of the other revisions.
declared_beside() { [[ ! -f $2 ]] || awk -F'|' -v name="$1" '{ word = $1; gsub(/ /, "", word) } word != name' "$2"; }

# forget_revision ANCHOR NAME: no root of its anchor includes it any more.
forget_revision() {
    local variants=$REVISIONS/${1:0:10}/variants
    declared_beside "$2" "$variants" >"$variants.new"
    mv "$variants.new" "$variants"
}

# declare_revision ANCHOR COMMIT VARIANT: declares it in the anchor's folder, replacing an earlier declaration.
declare_revision() {
    local folder=$REVISIONS/${1:0:10} name patches='' subject
    name=$(emulator_name "$2" "$3")
    subject=$(in_repository log -1 --format=%s "$2" | tr '|' '/')
    writable_dir "$folder"
    echo "$1" >"$folder/commit"
    ln -sfn "$TOP/otp_patches" "$folder/otp_patches"
    patch_between "$1" "$2" >"$folder/${2:0:10}.patch"
    [[ ! -s $folder/${2:0:10}.patch ]] || patches=${2:0:10}.patch
    [[ -z $3 ]] || patches+=$(PATCH_DIR=$TOP/otp_patches variant_patches "$3" | xargs -n1 printf ' otp_patches/%s')
    {
        declared_beside "$name" "$folder/variants"
        echo "$name | $patches | $([[ -z $3 ]] || PATCH_DIR=$TOP/otp_patches variant_options "$3") | ${2:0:10}${3:+ with $3}: $subject"
    } >"$folder/variants.new"
    mv "$folder/variants.new" "$folder/variants"
}

# use_anchor ANCHOR: switches to its variants, its sources and its base.
use_anchor() {
    use_patches "$REVISIONS/${1:0:10}"
    obtain_commit "$1"
    build_base "$(release_of "$1")"
}

# start_vm NAME: starts its emulator, with its modules of libraries, outside of any root.
start_vm() {
    local root=$BASE/root bin modules=()
    bin=$(echo "$root"/erts-*/bin)
    ! has_library "$1" || modules=(-pa "$(library_dir "$1")"/*)
    ROOTDIR=$root BINDIR=$bin EMU=beam PROGNAME=erl timeout 60 "$CACHE/emulators/$(emulator_key "$1" jit)" -- \
        -root "$root" -bindir "$bin" -progname erl -- -home "$HOME" -- -noinput "${modules[@]}" -eval 'halt().'
}

# build_revision ANCHOR NAME: a root in which an emulator does not start would have no manifest, so such a revision is not built.
build_revision() {
    use_anchor "$1"
    build_emulator "$2" jit
    build_library "$2"
    step "Starting the emulator of $2" 2 start_vm "$2"
}

# assemble_revisions ANCHOR
assemble_revisions() {
    use_anchor "$1"
    provide_root "$REVISIONS/${1:0:10}/root" "$(release_of "$1")" revisions
}

# commit_named REVISION VARIANT: the commit of REVISION, without the variant at its end if there is one.
commit_named() { commit_of "${1%"${2:+"+$2"}"}"; }

# check_revision REVISION
check_revision() {
    local commit
    commit=$(commit_named "$1" "$(variant_of "$1")") || misuse "--rev $1: $REPOSITORY has no such revision"
    [[ -n $(release_of "$commit") ]] || fail "$1 is not a revision of Erlang/OTP (it has no OTP_VERSION)."
}

# build_revisions REVISION...: builds all; those that fail are named and do not stop the others.
build_revisions() {
    local revision commit variant anchor name failed=() anchors=() status
    for revision in "$@"; do
        check_revision "$revision"
    done
    for revision in "$@"; do
        variant=$(variant_of "$revision")
        commit=$(commit_named "$revision" "$variant")
        anchor=$(anchor_of "$commit")
        name=$(emulator_name "$commit" "$variant")
        declare_revision "$anchor" "$commit" "$variant"
        # A subshell, because a failing step exits. It is not used as a condition, because bash then ignores errors
        # inside.
        set +e
        (set -e; build_revision "$anchor" "$name")
        status=$?
        set -e
        if ((status == 0)); then
            [[ " ${anchors[*]} " == *" $anchor "* ]] || anchors+=("$anchor")
        elif ((status == 130)); then
            exit "$status"
        else
            forget_revision "$anchor" "$name"
            failed+=("$revision")
        fi
    done
    for anchor in "${anchors[@]}"; do
        assemble_revisions "$anchor"
    done
    ((${#failed[@]} == 0)) || fail "not built: ${failed[*]} (the log says why)."
}
