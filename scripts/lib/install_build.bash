# Sourced by install.sh: builds an ordinary OTP, as its own configure does it, with the patches of a variant in place.
# Two trees are kept in the cache, under a key of everything that determines the first:
#   base/  the built tree of unpatched OTP, from which each variant starts
#   tree/  the tree that is worked in; base/ was built at this path, which is compiled into its objects
# The lab's own builds (otp_base.bash) cannot serve: they align functions, and lack applications.
# shellcheck shell=bash

# shellcheck source=scripts/otp_base.bash
source "$TOP/scripts/otp_base.bash"
# shellcheck source=scripts/otp_emulator.bash
source "$TOP/scripts/otp_emulator.bash"
# shellcheck source=scripts/lib/install_stage.bash
source "$TOP/scripts/lib/install_stage.bash"

# What a build takes, in MB: in the cache if the base has to be built, in the cache if it is there, and installed.
ROOM_BASE=2200
ROOM_VARIANT=1000
# shellcheck disable=SC2034  # install.sh asks for it
ROOM_INSTALLED=700

# found_by_configure: the libraries and programs of this machine that decide which applications are built.
found_by_configure() {
    local file
    for file in /usr/include/{curses,sql}.h /usr/include/netinet/sctp.h /usr/include/openssl/opensslv.h; do
        [[ ! -e $file ]] || sha256_of "$file"
    done
    command -v javac wx-config || true
}

# ordinary_key: of all that determines the unpatched build.
ordinary_key() {
    {
        printf '%s\n' "$SOURCE_SHA256" "$DEBIAN_SHA256" "$CACHE" "$(uname -m)" "$(compiler_line)"
        found_by_configure
        grep -hv '^ *#' "$TOP"/scripts/lib/{install_build,debian_patches}.bash
    } | short_key
}

# installation_key VARIANT SLIM: of all that determines what is installed.
installation_key() {
    {
        ordinary_key
        grep -v '^ *#' "$TOP/scripts/lib/install_stage.bash"
        echo "$2"
        variant_options "$1"
        variant_patch_files "$1" | xargs -r -d '\n' cat
    } | short_key
}

use_ordinary_base() { BASE=$CACHE/install/$1-$(ordinary_key); }

# room_in_cache: the MB that this build takes there.
room_in_cache() { if [[ -f $BASE/base/complete ]]; then echo "$ROOM_VARIANT"; else echo "$ROOM_BASE"; fi; }

# The flags are OTP's own choice, as those of the official images are.
configure_ordinary() {
    ! debian_touches_configure || in_tree regenerate_configure
    in_tree ./configure
}

# ASMJIT_PCH_OBJ: without the precompiled header, whose addresses would be in the complete debug information, the same sources give the
# same bytes, and ccache recognises the C++ files.
# make_ordinary JOBS
make_ordinary() { in_tree make "-j$1" ASMJIT_PCH_OBJ=; }

# make_unpatched JOBS: with Debian's patches. Preloaded modules that they change are compiled by the VM that is built first.
make_unpatched() {
    make_ordinary "$1"
    if debian_touches erts/preloaded/src/; then
        update_preloaded
        make_ordinary "$1"
    fi
}

keep_base() {
    touch "$BASE/tree/complete"
    rm -rf "$BASE/base"
    mv "$BASE/tree" "$BASE/base"
}

# forget_other_bases: a release has one base in the cache; an older one would only take its room.
forget_other_bases() {
    local name=${BASE##*/}
    find "${BASE%/*}" -maxdepth 1 -name "${name%%-*}-*" ! -name "$name" -exec rm -rf {} +
}

# build_ordinary_base JOBS: unless the cache has it.
build_ordinary_base() {
    [[ ! -f $BASE/base/complete ]] || return 0
    forget_other_bases
    step "Unpacking OTP $OTP_VERSION" 15 unpack_source
    step "Applying Debian's patches" 5 apply_debian_patches "$BASE/tree"
    ! debian_touches_configure || use_autoconf
    step "Configuring OTP $OTP_VERSION" 60 configure_ordinary
    step "Building OTP $OTP_VERSION" 480 make_unpatched "$1"
    keep_base
}

fresh_tree() {
    rm -rf "$BASE/tree"
    cp -a --reflink=auto "$BASE/base" "$BASE/tree"
}

apply_all_patches() {
    local patch
    while read -r patch; do
        patch -d "$BASE/tree" -p1 -F0 --no-backup-if-mismatch <"$patch" || {
            say "$(basename "$patch") does not apply to OTP $OTP_VERSION."
            return 1
        }
    done < <(variant_patch_files "$1")
}

# forget_compiled VARIANT: removes what was compiled where its patches reach, so that nothing depends on make's
# knowledge of what includes what. The compiler's cache has the files that are as before.
forget_compiled() {
    local app
    rm -rf "$BASE"/tree/erts/emulator/{obj,*/opt}
    while read -r app; do
        rm -f "$BASE/tree/lib/$app"/ebin/*.beam
    done < <(variant_patch_files "$1" | xargs -r -d '\n' sed -nE 's,^\+\+\+ [^/]+/lib/([a-z_]+)/(src|include)/.*,\1,p' | sort -u)
}

# configure_again VARIANT: if its patches or options want it.
configure_again() {
    ! touches_configure "$1" || in_tree regenerate_configure
    if touches_configure "$1" || touches_templates "$1" || [[ -n $(variant_options "$1") ]]; then
        # shellcheck disable=SC2046  # an option is a word
        in_tree ./configure $(variant_options "$1")
        rm -rf "$BASE"/tree/erts/lib_src/obj "$BASE"/tree/erts/lib/internal/*/*.a
    fi
}

# renew_preloaded VARIANT: compiles the modules that are linked into the emulator, of which OTP's sources bring the
# compiled form along. The unpatched VM that is still in the tree does it; no Erlang of the machine is needed.
renew_preloaded() {
    [[ -z $(patch_files_below "$1" erts/preloaded/src/) ]] || update_preloaded
}

update_preloaded() { in_tree env "PATH=$BASE/tree/bin:$PATH" ./otp_build update_preloaded --no-commit; }

# make_variant VARIANT JOBS
make_variant() {
    apply_all_patches "$1"
    configure_again "$1"
    renew_preloaded "$1"
    forget_compiled "$1"
    make_ordinary "$2"
}

# build_installation VARIANT SLIM JOBS STAGE PREFIX: builds it, and puts what belongs to PREFIX into STAGE. Sets LEFT_OUT,
# the applications that are not in it, and WITHOUT_NATIVE, those that are, but without native code.
build_installation() {
    local variant=$1 slim=$2 jobs=$3 stage=$4
    use_compiler_cache
    build_ordinary_base "$jobs"
    step "Copying the tree" 10 fresh_tree
    if [[ -n $(variant_patches "$variant") ]]; then
        ! touches_configure "$variant" || use_autoconf
        step "Building OTP $OTP_VERSION with $variant" 150 make_variant "$variant" "$jobs"
    fi
    mkdir -p "$stage"
    step "Collecting the installation" 30 release_to "$stage" "$5"
    # shellcheck disable=SC2034  # install.sh says it
    LEFT_OUT=$(left_out)
    step "Stripping it" 15 strip_programs "$stage"
    WITHOUT_NATIVE=$(without_native_code | paste -sd' ')
    if [[ $slim == yes ]]; then
        step "Leaving out what only a compiler needs" 10 make_slim "$stage"
        LEFT_OUT=$(xargs <<<"$LEFT_OUT $WITHOUT_NATIVE") WITHOUT_NATIVE=''
    fi
    rm -rf "$BASE/tree"
}
