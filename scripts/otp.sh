#!/usr/bin/env bash
# Builds Erlang/OTP from its sources, and all variants of its emulator side by side in one root: build/otp-RELEASE,
# with its manifest.json.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=scripts/otp_source.bash
source "$TOP/scripts/otp_source.bash"
# shellcheck source=scripts/otp_base.bash
source "$TOP/scripts/otp_base.bash"
# shellcheck source=scripts/otp_emulator.bash
source "$TOP/scripts/otp_emulator.bash"
# shellcheck source=scripts/otp_library.bash
source "$TOP/scripts/otp_library.bash"
# shellcheck source=scripts/otp_revisions.bash
source "$TOP/scripts/otp_revisions.bash"
# shellcheck source=otp_patches/variants.sh
source "$TOP/otp_patches/variants.sh"

usage() {
    cat <<USAGE
Example: ./build.sh otp --vm stock_copy,tuned
         ./build.sh otp --git ~/otp --rev master --rev mine

Usage: ./build.sh otp [--otp RELEASE] [--vm NAMES] [--source PATH] [--refresh]
                        [--interpreter NAMES] [--builds N] [--demo]
       ./build.sh otp --git PATH --rev REVISION [--rev REVISION...]

Builds Erlang/OTP and the variants that otp_patches/variants declares. To add a
patch of your own, follow doc/own_patch.md.
  --otp RELEASE  $(releases | paste -sd'|') (default $(default_release)); 'all' builds each
  --vm NAMES     builds these variants and stock; without --vm all variants.
                 The variants in the build cache are installed, too
  --source PATH  an unpacked tree or a tar archive of OTP, instead of Debian's
                 source package, for this build
  --refresh      look for a newer source package instead of using the kept one
  --interpreter NAMES
                 also build these variants (stock,prefetch; or all) with the
                 interpreter instead of the JIT, because valgrind cannot run the
                 JIT (2 minutes, and 2 more for each variant that changes a widely
                 included header)
  --builds N     build N emulators of each variant. They differ only in the
                 layout of their code: in the order of object files and in the
                 alignment of loops (a minute each, less if the patches touch few
                 files; 50 MB each)
  --demo         build only the part of OTP that './build.sh demo' needs: of its
                 applications only crypto, and kernel, stdlib and the compiler as
                 the sources bring them in compiled form. The next build without
                 this option builds all of OTP (2 minutes)
  --git PATH     a git repository of OTP, whose revisions are built next to the
                 releases. The build of the first revision takes as long as that
                 of a release. The build of each similar revision takes a minute
                 or two
  --rev REVISION a branch, a tag or a commit of this repository;
                 REVISION+VARIANT has the patches of a variant on top. Repeat
                 the option for more revisions

A repeated call builds only what changed. The first build of a release takes
about 7 minutes on 2 cores, and one more minute for each variant. The build also
needs 1 GB in the build cache.
USAGE
}

# built_variants: the variants that are complete in the cache, in the order of their declaration.
built_variants() {
    local variant
    for variant in $(variant_names); do
        have_emulator "$variant" jit || continue
        ! has_library "$variant" || [[ -d $(library_dir "$variant") ]] || continue
        printf '%s\n' "$variant"
    done
}

# root_key VARIANT...: a key of the build of these variants, which changes if anything that determines the root changes.
root_key() {
    {
        basename "$BASE"
        ! has_first_part || echo first part
        sha256_of "$TOP/scripts/lib/otp_manifest.escript"
        local variant
        for variant; do
            printf '%s %s %s\n' "$variant" "$(emulator_key "$variant" jit)" "$(patch_facts "$variant")"
            ! have_emulator "$variant" emu || emulator_key "$variant" emu
            build_keys "$variant"
            ! has_library "$variant" || library_key "$variant"
        done
    } | short_key
}

# build_keys VARIANT: the keys of its builds in the cache.
build_keys() {
    local build
    for build in $(builds_in_cache "$1"); do
        emulator_key "$1" "build$build"
    done
}

# patch_facts VARIANT: NAME=SHA256 of each patch, separated by commas.
patch_facts() {
    local patch
    variant_patch_files "$1" | while read -r patch; do
        printf '%s=%s\n' "$(basename "$patch")" "$(sha256_of "$patch")"
    done | paste -sd,
}

# write_manifest ROOT RELEASE KEY VARIANT...
write_manifest() {
    local root=$1 release=$2 key=$3 variant words=()
    for variant in "${@:4}"; do
        words+=(--variant "$variant|$(patch_facts "$variant")|$(variant_options "$variant")|$(variant_description "$variant")")
    done
    "$root/bin/escript" "$TOP/scripts/lib/otp_manifest.escript" write --root "$root" \
        --release "$release" --key "$key" \
        --source-version "$OTP_VERSION" --source-sha256 "$SOURCE_SHA256" \
        --compiler "$(compiler_line)" --configure "./configure ${CONFIGURE[*]@Q}" \
        "${words[@]}"
}

# install_modules VARIANT FOLDER: all its modules into one folder for all applications, for use with '-pa'.
install_modules() {
    mkdir -p "$2"
    install -m 644 "$(library_dir "$1")"/*/*.beam "$2"
}

# assemble_root ROOT RELEASE KEY VARIANT...: replaces the root as a whole, and only when the new one is complete. It includes
# the interpreter and the builds of other layouts, if they were ever built.
assemble_root() {
    local root=$1 new=$1.new variant build bin
    rm -rf "$new"
    cp -al "$BASE/root" "$new" 2>/dev/null || { rm -rf "$new"; cp -a "$BASE/root" "$new"; }
    bin=$(echo "$new"/erts-*/bin)
    for variant in "${@:4}"; do
        install -m 755 "$CACHE/emulators/$(emulator_key "$variant" jit)" "$bin/beam.$variant.smp"
        ! have_emulator "$variant" emu ||
            install -m 755 "$CACHE/emulators/$(emulator_key "$variant" emu)" "$bin/beam.$variant.emu"
        for build in $(builds_in_cache "$variant"); do
            install -m 755 "$CACHE/emulators/$(emulator_key "$variant" "build$build")" \
                "$bin/beam.${variant}_build$build.smp"
        done
        ! has_library "$variant" || install_modules "$variant" "$new/modules/$variant"
    done
    rm -rf "$root"
    mv "$new" "$root"
    write_manifest "$@"
}

# is_assembled ROOT KEY
is_assembled() { [[ -f $1/manifest.json ]] && grep -q "\"key\": *\"$2\"" "$1/manifest.json"; }

# provide_root ROOT RELEASE NOUN: assembles it from all that is built, unless that is done. NOUN: variants or revisions.
provide_root() {
    local built key place=${1#"$TOP/"}
    mapfile -t built < <(built_variants)
    key=$(root_key "${built[@]}")
    is_assembled "$1" "$key" ||
        step "Assembling $place and starting each emulator" 10 assemble_root "$1" "$2" "$key" "${built[@]}"
    say "OTP $OTP_VERSION is in $place, with the $3: ${built[*]}"
}

# names_it NAMES VARIANT: whether NAMES, separated by commas, include the variant.
names_it() { [[ $1 == all || ,$1, == *",$2,"* ]]; }

# named_touch_configure: yes if the patches of a variant that is built do.
named_touch_configure() {
    local variant
    for variant in $(variant_names); do
        ! names_it "$variants" "$variant" || ! touches_configure "$variant" || { echo yes; return; }
    done
}

build_release() {
    local release=$1 given=$2 fresh=$3 variant
    obtain_source "$release" "$given" "$fresh"
    if [[ $demo == yes ]]; then
        build_first_part "$release" "$(named_touch_configure)"
    else
        build_base "$release"
    fi
    for variant in $(variant_names); do
        names_it "$variants" "$variant" || continue
        build_emulator "$variant" jit
        ! names_it "$interpreters" "$variant" || build_emulator "$variant" emu
        build_builds "$variant" "$builds"
        build_library "$variant"
    done
    provide_root "$BUILD/otp-$release" "$release" variants
}

main() {
    local release demo=no given='' fresh=no variants=all interpreters='' builds=1 repository='' revisions=()
    release=$(default_release)
    while (($#)); do
        case $1 in
            --otp) release=${2-}; shift ;;
            --vm) variants=${2-}; shift; [[ -n $variants ]] || misuse "--vm wants names of variants, or all" ;;
            --source) given=${2-}; shift; [[ -n $given ]] || misuse "--source needs a path" ;;
            --refresh) fresh=yes ;;
            --demo) demo=yes ;;
            --interpreter) interpreters=${2-}; shift; [[ -n $interpreters ]] || misuse "--interpreter needs names of variants, or all" ;;
            --builds) builds=${2-}; shift ;;
            --git) repository=${2-}; shift; [[ -n $repository ]] || misuse "--git needs PATH, the repository" ;;
            --rev) revisions+=("${2-}"); shift ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "the last option needs a value"
    done
    [[ $release == all ]] || check_release "$release"
    [[ $builds =~ ^[1-9][0-9]?$ ]] || misuse "--builds needs a number from 1 to 99"
    check_variants --vm "$variants"
    check_variants --interpreter "$interpreters"
    [[ $variants == all ]] || variants+=,stock
    [[ $release != all || -z $given ]] || misuse "--source goes with one release"
    [[ -n $repository ]] || ((${#revisions[@]} == 0)) || misuse "--rev needs --git PATH, the repository"
    if [[ -n $repository ]]; then
        ((${#revisions[@]} > 0)) || misuse "--git needs --rev REVISION"
        use_repository "$repository"
    fi
    need patch patch; need autoconf autoconf; need gcc build-essential
    "$TOP/otp_patches/check" >/dev/null
    open_log
    lock_cache
    use_compiler_cache
    if [[ -n $repository ]]; then
        build_revisions "${revisions[@]}"
        return
    fi
    local each
    for each in $([[ $release == all ]] && releases || echo "$release"); do
        build_release "$each" "$given" "$fresh"
    done
}

main "$@"
