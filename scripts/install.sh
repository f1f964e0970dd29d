#!/usr/bin/env bash
# Installs an ordinary OTP whose erl is a variant: what has served in a comparison, for use.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=otp_patches/variants.sh
source "$TOP/otp_patches/variants.sh"
# shellcheck source=scripts/lib/debian_patches.bash
source "$TOP/scripts/lib/debian_patches.bash"
# shellcheck source=scripts/lib/install_build.bash
source "$TOP/scripts/lib/install_build.bash"
# shellcheck source=scripts/lib/install.bash
source "$TOP/scripts/lib/install.bash"
# shellcheck source=scripts/lib/advisories.bash
source "$TOP/scripts/lib/advisories.bash"

usage() {
    cat <<USAGE
Usage: ./build.sh install --prefix DIR [--otp RELEASE] [--vm NAME] [--source PATH]
                          [--no-debian-patches] [--refresh] [--slim] [--jobs N]
       ./build.sh install --prefix DIR --check

Builds Erlang/OTP with OTP's default options, Debian's patches (most fix
vulnerabilities) and the patches of a variant. Installs it into DIR. DIR/bin/erl is
the variant.
  --prefix DIR   a new or an empty folder, or an installation of the same release,
                 which is replaced when the new one is complete
  --otp RELEASE  $(releases | paste -sd'|') (default $(default_release))
  --vm NAME      the variant (default tuned); 'stock' is OTP as shipped
  --source PATH  an unpacked tree or a tar archive of OTP, instead of Debian's
                 source package; Debian's patches are not applied to it
  --no-debian-patches
                 the source package without Debian's patches
  --refresh      fetch Debian's newest source package and patches; otherwise the
                 kept ones are used
  --slim         without sources, static libraries, headers, debug files, documentation
                 and applications that lack their native code: runs releases, and
                 compiles Erlang, but no native code
  --jobs N       how many compilers run at once (default: one for each processor)
  --check        only check whether the installation is complete, and whether
                 './build.sh install' would install the same files now; ask Debian's
                 archive for newer patches, too

The first installation of a release took 12 minutes on 2 cores, and needs 2 GB in
the build cache. Another variant of the release takes about a third of the time.
doc/production.md has the measured times.
USAGE
}

# select_sources RELEASE GIVEN FRESH DEBIAN: as obtain_source, and Debian's patches to them if they are wanted (DEBIAN). The lock on
# the sources is given back, because a build here uses none of the lab's builds.
select_sources() {
    [[ -z $2 ]] || say "Debian's patches are not applied to --source."
    if [[ -z $2 && $3 == no ]] && use_kept_source "$1" && { [[ $4 == no ]] || use_kept_packaging "$1"; }; then
        return
    fi
    lock_cache
    obtain_source "$1" "$2" "$3"
    [[ -n $2 || $4 == no ]] || obtain_debian_patches "$1" "$3"
    exec 9>&-
    unset ERTSLAB_LOCKED
}

# refuse_older PREFIX: patches that are older than those that are installed.
refuse_older() {
    local there
    there=$(debian_revision "$1")
    [[ -z $there || -z $DEBIAN_REVISION ]] || ! is_newer "$there" "$DEBIAN_REVISION" ||
        fail "$1 has Debian's patches of revision $there, and only those of $DEBIAN_REVISION are here; --refresh fetches newer ones."
}

remove_stage() { rm -rf "$(new_of "$prefix")"; }

install_otp() {
    local release=$1 variant=$2 slim=$3 new
    check_prefix "$prefix" "$release"
    select_sources "$release" "$given" "$fresh" "$debian"
    lock_installs
    recover "$prefix"
    check_prefix "$prefix" "$release"
    refuse_older "$prefix"
    use_ordinary_base "$release"
    if [[ $(fact key "$prefix") == "$(installation_key "$variant" "$slim")" && -z $(damaged_files "$prefix") ]]; then
        say "OTP $OTP_VERSION with $variant is in $prefix already."
        say_open
        return
    fi
    check_room "$prefix" "$(room_in_cache)" "$ROOM_INSTALLED"
    [[ -z $DEBIAN_REVISION ]] || say "Debian's patches: $(debian_patches | wc -l), of revision $DEBIAN_REVISION."
    new=$(new_of "$prefix")
    mkdir -p "$(dirname "$prefix")"
    trap remove_stage EXIT
    LEFT_OUT='' WITHOUT_NATIVE=''
    build_installation "$variant" "$slim" "$jobs" "$new" "$prefix"
    describe_installation "$release" "$variant" "$slim" "$(variant_options "$variant")" >"$new/OTP_PATCHES"
    step "Starting it" 2 try_installation "$new" "$release"
    step "Writing its manifest" 5 write_manifest "$new"
    check_prefix "$prefix" "$release"
    move_into_place "$new" "$prefix"
    say "OTP $OTP_VERSION with $variant is in $prefix; $prefix/bin/erl starts it."
    [[ -z $LEFT_OUT ]] || say "Left out, because this machine lacks what they need: $LEFT_OUT"
    [[ -z $WITHOUT_NATIVE ]] || say "Built without their native code, for the same reason: $WITHOUT_NATIVE"
    say_open
}

say_open() { say_advisories "$OTP_VERSION" "$(debian_patches | mended_by)"; }

main() {
    local release variant=tuned slim=no check=no named
    given='' fresh=no debian=yes prefix='' jobs=$(nproc)
    release=$(default_release)
    while (($#)); do
        case $1 in
            --prefix) prefix=${2-}; shift; [[ -n $prefix && $prefix != -* ]] || misuse "--prefix needs a folder" ;;
            --otp) release=${2-}; shift ;;
            --vm) variant=${2-}; shift ;;
            --source) given=${2-}; shift; [[ -n $given ]] || misuse "--source needs a path" ;;
            --refresh) fresh=yes ;;
            --no-debian-patches) debian=no ;;
            --slim) slim=yes ;;
            --jobs) jobs=${2-}; shift ;;
            --check) check=yes ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "the last option needs a value"
    done
    [[ -n $prefix ]] || misuse "--prefix DIR is missing: the folder to install into"
    named=$prefix
    prefix=$(absolute "$named")
    if [[ $check == yes ]]; then
        check_installation "$prefix"
        return
    fi
    refuse_link "$named"
    check_release "$release"
    check_one_variant "$variant"
    [[ $jobs =~ ^[1-9][0-9]{0,2}$ ]] || misuse "--jobs needs a number from 1 to 999"
    need patch patch; need gcc build-essential; need make build-essential
    umask 022
    open_log
    install_otp "$release" "$variant" "$slim"
}

main "$@"
