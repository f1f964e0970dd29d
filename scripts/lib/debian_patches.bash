# Sourced by install.sh and deb.sh: Debian's own patches to a release. Most of them mend vulnerabilities, since Debian keeps the version of OTP
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
upstream_of() { sed -E 's/^[0-9]+://; s/-[^-]*$//; s/\+dfsg.*//' <<<"$1"; }

# is_newer REVISION THAN
is_newer() { dpkg --compare-versions "$1" gt "$2"; }

# fetch_packaging RELEASE FRESH DIR: Debian's newest packaging of this version of OTP. If the mirror does not have it, the one that
# this repository was tested with, but not in place of newer ones that may be here (FRESH).
fetch_packaging() {
    ! (fetch_packaging_of erlang "$(suite_of "$1")" "$3") || ! compgen -G "$3/download/erlang_${OTP_VERSION}[+-]*.debian.tar.*" || return 0
    if [[ $2 == yes ]] || ! fetch_tested "erlang_${OTP_VERSION//./\\.}\\+dfsg-.*\\.debian\\.tar\\.xz" "$3"; then
        say "Debian's newest patches to OTP $OTP_VERSION could not be fetched from this mirror. './build.sh install --no-debian-patches' does without."
        return 1
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
    is_kept "$sha" debian.tar || return 1
    DEBIAN_REVISION=$revision DEBIAN_SHA256=$sha
}

# obtain_debian_patches RELEASE FRESH: selects the patches to the selected sources.
obtain_debian_patches() {
    local apt=$CACHE/apt-packaging-$1
    if [[ $2 == yes ]] || ! use_kept_packaging "$1"; then
        step "Fetching Debian's patches to OTP $OTP_VERSION" 15 fetch_packaging "$1" "$2" "$apt"
        keep_packaging "$1" "$(echo "$apt"/download/erlang_*.debian.tar.*)"
        [[ -d $apt/lists ]] || say "Debian's newest patches could not be fetched; these are the ones that this repository was tested with."
        rm -rf "$apt"
    fi
}

# debian_patches: their names, in the order in which they are applied, as dpkg-source reads them.
debian_patches() {
    [[ -n $DEBIAN_SHA256 ]] || return 0
    debian_file patches/series | series_names
}

series_names() { sed -E 's/^[[:space:]]+//; s/(^|[[:space:]])#.*//; s/[[:space:]].*//; /^$/d' | awk 1; }

# apply_debian_patches TREE: all of them, without fuzz, as Debian does.
apply_debian_patches() {
    local name names
    [[ -n $DEBIAN_SHA256 ]] || return 0
    names=$(debian_patches) || return 1
    [[ -n $names ]] || {
        say "Debian's packaging, revision $DEBIAN_REVISION, names no patches."
        return 1
    }
    for name in $names; do
        debian_file "patches/$name" | patch -d "$1" -p1 -F0 --no-backup-if-mismatch || {
            say "Debian's patch $name does not apply to OTP $OTP_VERSION."
            return 1
        }
    done
}

# debian_touches PLACE: whether one of them changes files of that place (a regular expression).
debian_touches() {
    local name
    while read -r name; do
        ! debian_file "patches/$name" | grep -E "^\+\+\+ [^/ ]+/$1" >/dev/null || return 0
    done < <(debian_patches)
    return 1
}

debian_touches_configure() { debian_touches '.*(configure\.ac|\.m4)'; }

# mended_by: the vulnerabilities that the patches of standard input have in their names, one a line.
mended_by() { grep -oE 'CVE-[0-9]+-[0-9]+' | sort -u || true; }

# compare_with_debian RELEASE REVISION COMMAND: says whether Debian's archive has a newer revision than the installed one, which the
# command brings.
compare_with_debian() {
    local now apt
    [[ -n $2 ]] || { say "It was installed without Debian's patches."; return 0; }
    say "Asking Debian's archive for newer patches."
    apt=$(mktemp -d)
    now=$(version_in_debian erlang "$(suite_of "$1")" "$apt/state") || true
    rm -rf "$apt"
    if [[ -z $now ]]; then
        say "Debian's archive gives no answer, so it is not known whether revision $2 is its newest."
    elif ! is_newer "$now" "$2"; then
        say "Debian's archive has no newer revision than $2."
    elif [[ $(upstream_of "$now") == "$(upstream_of "$2")" ]]; then
        say "Debian's archive has revision $now, and $2 is installed; '$3' brings it."
    else
        say "Debian's archive has OTP $(upstream_of "$now") now, so whether it has newer patches to OTP $(upstream_of "$2") is not known."
    fi
    [[ -n $(security_mirror) ]] || say "This machine's sources of apt have no security updates of Debian, so these were not asked for."
}
