# Sourced by otp.sh and otp-test.sh: the modules of OTP's libraries that a variant's
# patches change, kept in the cache under a key of the base build and these changes:
#   libraries/KEY/APPLICATION/MODULE.beam
# All variants of a release share one root and its libraries, so a VM of such a
# variant gets these by '-pa ROOT/modules/VARIANT': init puts that before the
# path of its boot script, and so also kernel and stdlib come from there. A root
# for each such variant would need no '-pa', but every place that finds a root by
# its release would have to know of two kinds of roots.
# What is preloaded (erts/preloaded/src) is linked into the emulator: it belongs
# to otp_emulator.bash.
# shellcheck shell=bash

# library_patch_files VARIANT: its patches that change a library.
library_patch_files() { patch_files_below "$1" 'lib/[^/]+/src/'; }

has_library() { [[ -n $(library_patch_files "$1") ]]; }

# library_key VARIANT
library_key() {
    {
        basename "$BASE"
        mark_of_first_part "$1" 'lib/[^/]+/src/'
        cat "$TOP/scripts/otp_library.bash"
        patched_sources "$1" 'lib/[^/]+/src/'
    } | short_key
}

library_dir() { echo "$CACHE/libraries/$(library_key "$1")"; }

# library_sources VARIANT: lib/APPLICATION/src/MODULE.erl, each once.
library_sources() {
    library_patch_files "$1" | xargs -d '\n' sed -nE 's,^\+\+\+ [^/]+/(lib/[^/]+/src/[^[:space:]]+\.erl).*,\1,p' | sort -u
}

# patched_library WORK VARIANT: copies of the applications' sources, patched.
patched_library() {
    local app patch
    while read -r app; do
        mkdir -p "$1/lib/$app"
        cp -a "$BASE/tree/lib/$app/src" "$BASE/tree/lib/$app/include" "$1/lib/$app"
    done < <(library_sources "$2" | cut -d/ -f2 | sort -u)
    while read -r patch; do
        patch_part "$patch" 'lib/[^/]+/src/' | patch -d "$1" -p1 -F0 --no-backup-if-mismatch
    done < <(library_patch_files "$2")
}

# compile_module TREE SOURCE FOLDER: as OTP's own make does, but for the traces of the path.
compile_module() {
    local lib=$BASE/tree/lib
    mkdir -p "$3"
    away "$BASE/root/bin/erlc" -Werror +debug_info +deterministic -I "$1/$(dirname "$2")" -I "$1/$(dirname "$2")/../include" \
        -I "$lib/kernel/include" -I "$lib/kernel/src" -o "$3" "$1/$2"
}

# make_library VARIANT: a half-made one never bears the final name.
make_library() {
    local dir source
    dir=$(library_dir "$1")
    rm -rf "$dir.part"
    mkdir -p "$dir.part/source"
    patched_library "$dir.part/source" "$1"
    while read -r source; do
        compile_module "$dir.part/source" "$source" "$dir.part/$(cut -d/ -f2 <<<"$source")"
    done < <(library_sources "$1")
    rm -rf "$dir.part/source"
    mv "$dir.part" "$dir"
}

# build_library VARIANT: unless the cache has it, or there is nothing to build.
build_library() {
    has_library "$1" || return 0
    [[ -d $(library_dir "$1") ]] || step "Compiling the library modules of $1" 10 make_library "$1"
}
