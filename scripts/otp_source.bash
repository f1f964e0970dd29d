# Sourced by otp.sh: where the sources of an OTP release come from. Functions that return a value print it as a line
# on standard output. Archives that were fetched and verified are kept in $CACHE/sources/SHA256/.
# shellcheck shell=bash

# shellcheck source=scripts/lib/debian_source.bash
source "$TOP/scripts/lib/debian_source.bash"

# shellcheck source=otp_patches/releases.sh
source "$TOP/otp_patches/releases.sh"

# otp_version_in ARCHIVE: the contents of its OTP_VERSION file, or nothing.
otp_version_in() {
    local name
    name=$(tar -tf "$1" 2>/dev/null | grep -m1 -E '^[^/]+/OTP_VERSION$') || true
    [[ -z $name ]] || tar -xO --occurrence=1 -f "$1" "$name" 2>/dev/null # reads no further
}

# shellcheck disable=SC2034  # otp_base.bash builds from it
# use_archive VERSION SHA256: selects the kept archive that is built from now on; sets OTP_VERSION, SOURCE_SHA256 and
# SOURCE_ARCHIVE.
use_archive() {
    OTP_VERSION=$1 SOURCE_SHA256=$2
    SOURCE_ARCHIVE=$CACHE/sources/$2/otp.tar
}

# is_kept SHA256 [NAME]: whether the cache has that archive undamaged, by default one of OTP.
is_kept() { sha256sum --check --status <<<"$1  $CACHE/sources/$1/${2:-otp.tar}" 2>/dev/null; }

# keep_archive RELEASE ARCHIVE: verifies the archive, keeps it and selects it.
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
    use_archive "$version" "$sha"
}

# archive_of_tree TREE ARCHIVE: packs the tree; the same files give the same bytes, whatever their times and owners.
# (S: the targets of links are not changed.)
archive_of_tree() {
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --exclude-vcs \
        --transform 's,^\.,otp,S' -cf "$2" -C "$1" .
}

# use_given_source RELEASE PATH: uses an unpacked tree or an archive that the user names.
use_given_source() {
    local release=$1 path=$2
    [[ -e $path ]] || misuse "--source $path does not exist"
    if [[ -d $path ]]; then
        [[ -f $path/OTP_VERSION ]] || fail "$path is not a source tree of Erlang/OTP (it has no OTP_VERSION)."
        archive_of_tree "$path" "$CACHE/sources/given.tar"
        path=$CACHE/sources/given.tar
    fi
    keep_archive "$release" "$path"
    rm -f "$CACHE/sources/given.tar"
}

# fetch_otp RELEASE FRESH DIR: the version that this repository was tested with, so that all machines build the same. What the suite
# has now, if that is asked for or the mirror has no other.
fetch_otp() {
    if [[ $2 == yes ]] || ! fetch_tested "erlang_$1\\.[0-9.]+\\+dfsg\\.orig\\.tar\\.xz" "$3"; then
        fetch_from_debian erlang "$(suite_of "$1")" "$3"
    fi
}

# use_debian_source RELEASE FRESH
use_debian_source() {
    local release=$1 apt=$CACHE/apt-$1
    step "Fetching OTP $release from Debian $(suite_of "$release")" 15 fetch_otp "$release" "$2" "$apt"
    keep_archive "$release" "$(echo "$apt"/download/erlang_*.orig.tar.*)"
    printf '%s %s\n' "$OTP_VERSION" "$SOURCE_SHA256" >"$CACHE/sources/$release.current"
    rm -rf "$apt"
}

# use_kept_source RELEASE: uses what was fetched before, if it is in the cache and undamaged.
use_kept_source() {
    local version sha
    [[ -f $CACHE/sources/$1.current ]] || return 1
    read -r version sha <"$CACHE/sources/$1.current"
    if ! is_kept "$sha"; then
        say "The cached archive of OTP $version is damaged; it is fetched anew."
        rm -rf "$CACHE/sources/${sha:-none}" "$CACHE/sources/$1.current"
        return 1
    fi
    use_archive "$version" "$sha"
}

# obtain_source RELEASE GIVEN FRESH: selects an archive as use_archive does.
obtain_source() {
    local release=$1 given=$2 fresh=$3
    writable_dir "$CACHE/sources"
    if [[ -n $given ]]; then
        use_given_source "$release" "$given"
    elif [[ $fresh == yes ]] || ! use_kept_source "$release"; then
        use_debian_source "$release" "$fresh"
    fi
}
