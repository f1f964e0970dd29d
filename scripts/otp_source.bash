# Sourced by otp.sh: where the sources of an OTP release come from.
# Every function that answers prints a line on standard output; fetched and
# checked archives are kept in $CACHE/sources/SHA256/.
# shellcheck shell=bash

# shellcheck source=scripts/lib/debian_source.bash
source "$TOP/scripts/lib/debian_source.bash"

RELEASES=$TOP/otp_patches/releases

releases() { sed 's/#.*//' "$RELEASES" | awk -F'|' 'NF { gsub(/ /, "", $1); print $1 }'; }

suite_of() { sed 's/#.*//' "$RELEASES" | awk -F'|' -v r="$1" '{ gsub(/ /, "") } $1 == r { print $2 }'; }

check_release() {
    grep -qx -- "$1" <(releases) ||
        misuse "OTP release '$1' is not supported; choose one of: $(releases | paste -sd' ')"
}

# otp_version_in ARCHIVE: what its OTP_VERSION file says, or nothing.
otp_version_in() {
    local name
    name=$(tar -tf "$1" 2>/dev/null | grep -m1 -E '^[^/]+/OTP_VERSION$') || true
    [[ -z $name ]] || tar -xOf "$1" "$name" 2>/dev/null
}

# keep_archive RELEASE ARCHIVE: check the archive and keep it; sets OTP_VERSION and SOURCE_SHA256.
keep_archive() {
    local release=$1 archive=$2 version sha
    tar -tf "$archive" >/dev/null 2>&1 || fail "$archive is damaged or no tar archive; fetch it again."
    version=$(otp_version_in "$archive")
    [[ -n $version ]] || fail "$archive holds no Erlang/OTP (no OTP_VERSION in its top folder)."
    [[ ${version%%.*} == "$release" ]] ||
        fail "$archive holds OTP $version, not OTP $release; give '--otp ${version%%.*}' if that is a supported release ($(releases | paste -sd' '))."
    sha=$(sha256_of "$archive")
    mkdir -p "$CACHE/sources/$sha"
    keep_file "$archive" "$CACHE/sources/$sha/otp.tar"
    OTP_VERSION=$version SOURCE_SHA256=$sha
}

# archive_of_tree TREE ARCHIVE: the same bytes for the same files, whatever their times and owners.
# (S: the targets of links stay as they are.)
archive_of_tree() {
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --exclude-vcs \
        --transform 's,^\.,otp,S' -cf "$2" -C "$1" .
}

# use_given_source RELEASE PATH: the sources are an unpacked tree or an archive of the user's.
use_given_source() {
    local release=$1 path=$2
    [[ -e $path ]] || misuse "--source $path does not exist"
    if [[ -d $path ]]; then
        [[ -f $path/OTP_VERSION ]] || fail "$path is no Erlang/OTP source tree (it has no OTP_VERSION)."
        archive_of_tree "$path" "$CACHE/sources/given.tar"
        path=$CACHE/sources/given.tar
    fi
    keep_archive "$release" "$path"
    rm -f "$CACHE/sources/given.tar"
}

use_debian_source() {
    local release=$1 apt=$CACHE/apt-$1
    step "Fetching OTP $release from Debian $(suite_of "$release")" 15 fetch_from_debian erlang "$(suite_of "$release")" "$apt"
    keep_archive "$release" "$(echo "$apt"/download/erlang_*.orig.tar.*)"
    printf '%s %s\n' "$OTP_VERSION" "$SOURCE_SHA256" >"$CACHE/sources/$release.current"
    rm -rf "$apt"
}

# use_kept_source RELEASE: what was fetched before, if it is there and undamaged.
use_kept_source() {
    [[ -f $CACHE/sources/$1.current ]] || return 1
    read -r OTP_VERSION SOURCE_SHA256 <"$CACHE/sources/$1.current"
    if ! sha256sum --check --status <<<"$SOURCE_SHA256  $CACHE/sources/$SOURCE_SHA256/otp.tar" 2>/dev/null; then
        say "The cached archive of OTP $OTP_VERSION is damaged; it is fetched anew."
        rm -rf "$CACHE/sources/${SOURCE_SHA256:-none}" "$CACHE/sources/$1.current"
        return 1
    fi
}

# obtain_source RELEASE GIVEN FRESH: sets OTP_VERSION, SOURCE_SHA256 and SOURCE_ARCHIVE.
obtain_source() {
    local release=$1 given=$2 fresh=$3
    writable_dir "$CACHE/sources"
    if [[ -n $given ]]; then
        use_given_source "$release" "$given"
    elif [[ $fresh == yes ]] || ! use_kept_source "$release"; then
        use_debian_source "$release"
    fi
    # shellcheck disable=SC2034  # otp_base.bash uses it
    SOURCE_ARCHIVE=$CACHE/sources/$SOURCE_SHA256/otp.tar
}
