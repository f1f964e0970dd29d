#!/usr/bin/env bash
# Prints the patches of a variant as one patch, for those who build OTP by other means.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=scripts/otp_source.bash
source "$TOP/scripts/otp_source.bash"
# shellcheck source=otp_patches/variants.sh
source "$TOP/otp_patches/variants.sh"

usage() {
    cat <<USAGE
Example: ./build.sh patchset --otp $(newest_release) >tuned.patch

Usage: ./build.sh patchset [--otp RELEASE] [--vm NAME] [--source PATH]

Prints all patches of a variant as one patch, which 'patch -p1' applies to the
unpacked sources without fuzz. Nothing is built.
  --otp RELEASE  $(releases | paste -sd'|') (default $(default_release))
  --vm NAME      the variant (default tuned)
  --source PATH  an unpacked tree or a tar archive of OTP, instead of Debian's
                 source package
USAGE
}

# patched_files PATCH...: the files that the patches change or make, without repetitions.
patched_files() { sed -nE 's,^(\+\+\+|---) [^/ ]+/([^ \t]+).*,\2,p' "$@" | sort -u; }

# A patch cannot hold the compiled modules that OTP's sources bring along, so these are compiled after it is applied.
preamble() {
    printf 'Erlang/OTP %s with the variant %s of ertslab: the patches\n' "$OTP_VERSION" "$1"
    printf '  %s\n' "${patches[@]#"$PATCH_DIR"/}"
    [[ -z $(variant_options "$1") ]] ||
        printf "Run './otp_build update_configure' afterwards, and then ./configure with %s.\n" "$(variant_options "$1")"
    ! patched_files "${patches[@]}" | grep -q '^erts/preloaded/src/' ||
        printf "It changes preloaded modules: after './configure && make' run './otp_build update_preloaded --no-commit', then 'make' again.\n"
}

# The tree 'a' has the files as they are, and 'b' as they are patched.
print_patchset() {
    local scratch=$1 files patch
    mapfile -t files < <(patched_files "${patches[@]}")
    mkdir "$scratch/a" "$scratch/b"
    # A file that a patch makes is not in the archive.
    tar -tf "$SOURCE_ARCHIVE" | awk 'NR == FNR { wanted[$0]; next }
        { name = $0; sub(/^[^\/]*\//, "", name) } name in wanted' <(printf '%s\n' "${files[@]}") - >"$scratch/there"
    tar -xf "$SOURCE_ARCHIVE" -C "$scratch/a" --strip-components=1 -T "$scratch/there"
    cp -a "$scratch/a/." "$scratch/b"
    for patch in "${patches[@]}"; do
        patch -d "$scratch/b" -p1 -F0 --no-backup-if-mismatch --quiet <"$patch" >&2 ||
            fail "$(basename "$patch") does not apply to OTP $OTP_VERSION; the patches are for $(releases | paste -sd' ')."
    done
    # Without the times of the files, the same patches give the same bytes.
    { (cd "$scratch" && LC_ALL=C diff -Nrup a b) || (($? == 1)); } | sed -E 's,^((---|\+\+\+) [ab]/[^\t]+)\t.*,\1,'
}

main() {
    local release given='' variant=tuned
    release=$(default_release)
    while (($#)); do
        case $1 in
            --otp) release=${2-}; shift ;;
            --vm) variant=${2-}; shift ;;
            --source) given=${2-}; shift; [[ -n $given ]] || misuse "--source needs a path" ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "the last option needs a value"
    done
    check_release "$release"
    check_one_variant "$variant"
    need patch patch
    patches=()
    local patch
    for patch in $(variant_patches "$variant"); do patches+=("$PATCH_DIR/$patch"); done
    ((${#patches[@]})) || misuse "the variant $variant has no patches"
    SCRATCH=$(mktemp -d)
    trap 'rm -rf "$SCRATCH"' EXIT
    {
        open_log
        # Sources that are kept already are only read, so no build has to be waited for.
        if [[ -n $given ]] || ! use_kept_source "$release"; then
            lock_cache
            obtain_source "$release" "$given" no
        fi
    } >&2
    print_patchset "$SCRATCH" >"$SCRATCH/patchset"
    preamble "$variant"
    echo
    cat "$SCRATCH/patchset"
}

main "$@"
