#!/usr/bin/env bash
# Builds Debian packages of Erlang/OTP with a variant's patches, from Debian's own source package.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=otp_patches/variants.sh
source "$TOP/otp_patches/variants.sh"
# shellcheck source=scripts/lib/debian_patches.bash
source "$TOP/scripts/lib/debian_patches.bash"
# shellcheck source=scripts/otp_emulator.bash
source "$TOP/scripts/otp_emulator.bash"

# The packages of a release are of the suite that it comes from, whose libraries they need.
THIS_SUITE=$(sed -n 's/^VERSION_CODENAME=//p' "${OS_RELEASE:-/etc/os-release}" 2>/dev/null || true)

usage() {
    cat <<USAGE
Example: ./build.sh docker --target deb --otp $(default_release) --vm tuned

Usage: ./build.sh deb [--otp RELEASE] [--vm NAME] [--out DIR] [--refresh] [--jobs N]

Builds Debian's packages of Erlang/OTP, erlang-base and the rest, with the patches of
a variant. doc/production.md has the command that installs them in place of Debian's.
Their version is higher than Debian's, and lower than that of Debian's next packages,
which replace them at an upgrade. The release's own Debian is needed; on another
system, './build.sh docker --target deb' builds the packages in a container.
  --otp RELEASE  $(for name in $(releases); do printf '%s (of Debian %s)\n' "$name" "$(suite_of "$name")"; done | paste -sd, | sed 's/,/, /')
  --vm NAME      the variant (default tuned)
  --out DIR      where the packages go (default dist/deb-RELEASE-VARIANT)
  --refresh      fetch Debian's newest source package; otherwise the kept one is used
  --jobs N       how many compilers run at once (default: one for each processor)

The documentation (erlang-doc, manual pages of modules) is not built.
USAGE
}

# version_with VARIANT: after Debian's revision and its rebuilds (1+b1), and before its next one: 2, 1+deb14u1, or 1+deb13u4.
version_with() {
    if [[ $DEBIAN_REVISION == *+deb*u* && $1 > d ]]; then
        printf '%s+%s1\n' "$DEBIAN_REVISION" "${1//_/.}"
    else
        printf '%s+custom.%s1\n' "$DEBIAN_REVISION" "${1//_/.}"
    fi
}

unpack_package() {
    mkdir -p "$1"
    tar -xf "$SOURCE_ARCHIVE" -C "$1" --strip-components=1
    tar -xf "$(debian_archive)" -C "$1"
}

# add_patches TREE VARIANT: at the end of Debian's series, in a folder of their own.
add_patches() {
    local patch
    [[ ! -e $1/debian/patches/debian.series ]] || { say "The packaging has a debian.series, which is not supported."; return 1; }
    mkdir -p "$1/debian/patches/ertslab"
    [[ -z $(tail -c 1 "$1/debian/patches/series") ]] || echo >>"$1/debian/patches/series"
    while read -r patch; do
        cp "$patch" "$1/debian/patches/ertslab"
        printf 'ertslab/%s\n' "${patch##*/}" >>"$1/debian/patches/series"
    done < <(variant_patch_files "$2")
}

# compile_preloaded TREE: has the build compile the preloaded modules again, once the first VM is there. A patch cannot change the
# compiled ones that the sources bring along.
compile_preloaded() {
    # shellcheck disable=SC2016  # for make
    sed -i 's/^\ttouch boot-stamp$/\tPATH=$(ROOT_DIR)\/bin:$$PATH .\/otp_build update_preloaded --no-commit\n\t$(MAKE) -j $(JOBS) TYPE=$(TYPE) GEN_OPT_FLGS="$(GEN_OPT_FLGS)"\n&/' "$1/debian/rules"
    grep -q update_preloaded "$1/debian/rules" || { say "debian/rules has no line 'touch boot-stamp' any more."; return 1; }
}

# add_entry TREE VARIANT: to the changelog, with the author and the time of the last one, so that the same sources give the same
# packages.
add_entry() {
    local log=$1/debian/changelog
    {
        printf 'erlang (%s) %s; urgency=medium\n\n' "$(version_with "$2")" "$(suite_of "$release")"
        printf '  * With the patches of the variant %s of ertslab, in debian/patches/ertslab.\n\n' "$2"
        grep -m1 '^ -- ' "$log"
        echo
        cat "$log"
    } >"$log.new"
    mv "$log.new" "$log"
}

prepare() {
    unpack_package "$1"
    add_patches "$1" "$2"
    [[ -z $(patch_files_below "$2" erts/preloaded/src/) ]] || compile_preloaded "$1"
    add_entry "$1" "$2"
}

install_needed() {
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get build-dep -y --no-install-recommends -P nodoc "$1"
}

# need_packages TREE: what Debian's source package asks for.
need_packages() {
    ! (cd "$1" && dpkg-checkbuilddeps -P nodoc) >>"$LOG" 2>&1 || return 0
    ((EUID == 0)) || fail "packages that the build needs are missing; as root run: apt-get build-dep -P nodoc $1"
    step "Installing the packages that the build needs" 120 install_needed "$1"
}

# dpkg-source takes the patches as applied if the first one does not fit, and says nothing.
build_packages() {
    cd "$1"
    dpkg-source --before-build .
    [[ $(cat .pc/applied-patches) == "$(series_names <debian/patches/series)" ]] || {
        say "The patches of debian/patches/series are not all applied."
        return 1
    }
    DEB_BUILD_OPTIONS="parallel=$jobs nocheck" dpkg-buildpackage -b -uc -us -Pnodoc
}

# collect WORK OUT: the folder of packages is replaced as a whole. Those of debug information go below it. erlang-doc is empty.
collect() {
    local new
    new=$(dirname "$2")/.$(basename "$2").ertslab-new
    rm -rf "$new"
    mkdir -p "$new/debug"
    find "$1" -maxdepth 1 -name '*-dbgsym_*.deb' -exec mv -t "$new/debug" {} +
    find "$1" -maxdepth 1 -name '*.deb' ! -name 'erlang-doc_*' -exec mv -t "$new" {} +
    [[ -n $(find "$new" -name 'erlang-base_*.deb') ]] || fail "the build made no package erlang-base; the log is $LOG."
    check_out "$2"
    rm -rf "$2"
    mv "$new" "$2"
}

# check_out DIR: a folder of packages that this command made for the variant, or a new one.
check_out() {
    [[ ! -e $1 || -d $1 ]] || fail "$1 is a file; --out needs a folder."
    [[ ! -d $1 ]] || [[ -z $(find "$1" -mindepth 1 ! -path "$1/debug" ! -name "erlang*[+.]${variant//_/.}1_*.deb" -print -quit) ]] ||
        fail "$1 holds other things than packages of Erlang with $variant; name an empty or a new folder."
    writable_dir "$(dirname "$1")"
}

build_debs() {
    local work tree
    lock_cache
    obtain_source "$release" '' "$fresh"
    obtain_debian_patches "$release" "$fresh"
    say "Debian's revision: $DEBIAN_REVISION; these packages: $(version_with "$variant")"
    work=$CACHE/deb/$release-$variant
    tree=$work/erlang-$OTP_VERSION
    rm -rf "$work"
    # 3 GB while it is built.
    step "Unpacking the sources and adding the patches" 10 prepare "$tree" "$variant"
    need_packages "$tree"
    step "Building the packages" 1500 build_packages "$tree"
    collect "$work" "$out"
    rm -rf "$work"
    say "$(find "$out" -maxdepth 1 -name '*.deb' | wc -l) packages are in $out."
    say "doc/production.md has the command that replaces those of Debian's packages that are installed."
}

main() {
    variant=tuned release=$(default_release) out='' fresh=no jobs=$(nproc)
    while (($#)); do
        case $1 in
            --otp) release=${2-}; shift ;;
            --vm) variant=${2-}; shift ;;
            --out) out=${2-}; shift; [[ -n $out ]] || misuse "--out needs a folder" ;;
            --refresh) fresh=yes ;;
            --jobs) jobs=${2-}; shift ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "the last option needs a value"
    done
    check_release "$release"
    check_one_variant "$variant"
    check_packaged "$variant"
    [[ $jobs =~ ^[1-9][0-9]{0,2}$ ]] || misuse "--jobs needs a number from 1 to 999"
    [[ $THIS_SUITE == "$(suite_of "$release")" ]] ||
        fail "Debian $(suite_of "$release") has OTP $release, and this is ${THIS_SUITE:-no Debian}; './build.sh docker --target deb --otp $release --vm $variant' builds the packages in a container."
    need dpkg-buildpackage dpkg-dev
    out=$(realpath -m -- "${out:-$TOP/dist/deb-$release-$variant}")
    check_out "$out"
    open_log
    build_debs
}

main "$@"
