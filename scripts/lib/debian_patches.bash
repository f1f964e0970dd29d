# Sourced by install.sh: Debian's own patches to a release. Most of them mend vulnerabilities, since Debian keeps the version of OTP
# that a stable release began with. They are part of the unpatched OTP; a variant's patches come after them.
#   DEBIAN_REVISION  the version of Debian's source package, such as 1:27.3.4.1+dfsg-1+deb13u3, or nothing without its patches
#   DEBIAN_SHA256    of the archive of its packaging, which the cache keeps in sources/SHA256/debian.tar
# shellcheck shell=bash

# shellcheck source=scripts/otp_source.bash
source "$TOP/scripts/otp_source.bash"

DEBIAN_REVISION='' DEBIAN_SHA256=''

debian_archive() { echo "$CACHE/sources/$DEBIAN_SHA256/debian.tar"; }

# debian_file NAME: a file of the packaging, on standard output.
debian_file() { tar -xOf "$(debian_archive)" "debian/$1"; }

# upstream_of REVISION: the version of OTP in it.
upstream_of() { sed -E 's/^[0-9]+://; s/\+dfsg.*//' <<<"$1"; }

# fetch_packaging RELEASE DIR: Debian's newest packaging of this version of OTP. If the mirror does not have it, the one that this
# repository was tested with.
fetch_packaging() {
    if ! (fetch_from_debian erlang "$(suite_of "$1")" "$2" diff) || ! compgen -G "$2/download/erlang_$OTP_VERSION+*.debian.tar.*"; then
        fetch_tested "erlang_${OTP_VERSION//./\\.}\\+dfsg-.*\\.debian\\.tar\\.xz" "$2"
    fi
}

# keep_packaging RELEASE ARCHIVE
keep_packaging() {
    DEBIAN_SHA256=$(sha256_of "$2")
    mkdir -p "$CACHE/sources/$DEBIAN_SHA256"
    keep_file "$2" "$(debian_archive)"
    DEBIAN_REVISION=$(debian_file changelog | sed -n '1s/^erlang (\([^)]*\)).*/\1/p')
    [[ $(upstream_of "$DEBIAN_REVISION") == "$OTP_VERSION" ]] ||
        fail "Debian's patches are for OTP $(upstream_of "$DEBIAN_REVISION"), and the kept sources are OTP $OTP_VERSION; --refresh fetches both anew."
    printf '%s %s\n' "$DEBIAN_REVISION" "$DEBIAN_SHA256" >"$CACHE/sources/$1.debian"
}

# use_kept_packaging RELEASE: uses what was fetched before, if it is undamaged and for this version of OTP.
use_kept_packaging() {
    local revision sha
    [[ -f $CACHE/sources/$1.debian ]] || return 1
    read -r revision sha <"$CACHE/sources/$1.debian"
    [[ $(upstream_of "$revision") == "$OTP_VERSION" ]] || return 1
    sha256sum --check --status <<<"$sha  $CACHE/sources/$sha/debian.tar" 2>/dev/null || return 1
    DEBIAN_REVISION=$revision DEBIAN_SHA256=$sha
}

# obtain_debian_patches RELEASE FRESH: selects the patches to the selected sources.
obtain_debian_patches() {
    local apt=$CACHE/apt-packaging-$1
    if [[ $2 == yes ]] || ! use_kept_packaging "$1"; then
        step "Fetching Debian's patches to OTP $OTP_VERSION" 15 fetch_packaging "$1" "$apt"
        keep_packaging "$1" "$(echo "$apt"/download/erlang_*.debian.tar.*)"
        [[ -d $apt/lists ]] || say "Debian's newest patches could not be fetched; these are the ones that this repository was tested with."
        rm -rf "$apt"
    fi
}

# debian_patches: their names, in the order in which they are applied.
debian_patches() { [[ -z $DEBIAN_SHA256 ]] || debian_file patches/series | sed -E 's/(^|[[:space:]])#.*//; s/[[:space:]].*//; /^$/d'; }

# apply_debian_patches TREE: all of them, without fuzz, as Debian does.
apply_debian_patches() {
    local name
    while read -r name; do
        debian_file "patches/$name" | patch -d "$1" -p1 -F0 --no-backup-if-mismatch || {
            say "Debian's patch $name does not apply to OTP $OTP_VERSION."
            return 1
        }
    done < <(debian_patches)
}

# debian_touches PLACE: whether one of them changes files of that place (a regular expression).
debian_touches() {
    local name
    while read -r name; do
        ! debian_file "patches/$name" | grep -E "^\+\+\+ [^/ ]+/$1" >/dev/null || return 0
    done < <(debian_patches)
    return 1
}

# mended_by: the vulnerabilities that the patches of standard input have in their names, one a line.
mended_by() { grep -oE 'CVE-[0-9]+-[0-9]+' | sort -u || true; }

# compare_with_debian RELEASE REVISION: says whether Debian's archive has another revision than the installed one.
compare_with_debian() {
    local now apt=$CACHE/apt-asked-$1
    [[ -n $2 ]] || { say "It was installed without Debian's patches."; return 0; }
    now=$(version_in_debian erlang "$(suite_of "$1")" "$apt" 2>/dev/null) || true
    rm -rf "$apt"
    if [[ -z $now ]]; then
        say "Debian's archive gives no answer, so it is not known whether revision $2 is its newest."
    elif [[ $now == "$2" ]]; then
        say "Debian's archive has revision $2, too."
    else
        say "Debian's archive has revision $now, and $2 is installed; './build.sh install --refresh' brings it."
    fi
}
