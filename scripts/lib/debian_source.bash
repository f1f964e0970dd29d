# Sourced: source packages from Debian's archive, of any suite, not only this machine's. They are fetched from the
# mirror that apt is configured for.
# shellcheck shell=bash

KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# debian_mirror: the mirror that this machine's apt already uses for Debian.
debian_mirror() {
    local site
    # shellcheck disable=SC2016  # $(SITE) is apt's own
    site=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u | head -n 1)
    [[ -n $site ]] || fail "apt knows no Debian mirror; run 'apt-get update' (as root) and try again."
    printf '%s\n' "$site"
}

# private_apt DIR COMMAND...: runs apt with its own state, so that the system's sources are not changed. An expired
# index is accepted, because a mirror of a testing suite may lag. Its signature is still verified, so an old index can
# at worst name an older release.
private_apt() {
    local dir=$1
    shift
    "$@" -o "Dir::Etc::SourceList=$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o "Dir::State::Lists=$dir/lists" -o "Dir::Cache=$dir/cache" \
        -o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none \
        -o APT::Get::AllowUnauthenticated=false -o Acquire::Check-Valid-Until=false
}

# security_mirror: the one of Debian's security updates, if this machine's apt uses it.
security_mirror() {
    # shellcheck disable=SC2016  # $(SITE) is apt's own
    apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Label: Debian-Security' | sort -u | head -n 1
}

# source_line KIND MIRROR SUITE: a line of a list of sources.
source_line() { printf '%s [signed-by=%s] %s %s main\n' "$1" "$KEYRING" "$2" "$3"; }

# new_state DIR: an empty state for apt.
new_state() {
    need apt-get apt
    [[ -r $KEYRING ]] || fail "the keyring $KEYRING is missing; './build.sh deps' installs it."
    rm -rf "$1"
    mkdir -p "$1/lists/partial" "$1/cache/archives/partial" "$1/download"
}

# open_suite DIR SUITE: an apt state with that suite's packages and sources, whose signature apt verifies.
open_suite() {
    local mirror
    new_state "$1"
    mirror=$(debian_mirror) || return 1
    { source_line deb "$mirror" "$2"; source_line deb-src "$mirror" "$2"; } >"$1/sources.list"
    private_apt "$1" apt-get update --error-on=any
}

# open_sources DIR SUITE: the same with its sources alone, and those of its security updates, which come there first.
open_sources() {
    local mirror security
    new_state "$1"
    mirror=$(debian_mirror) || return 1
    security=$(security_mirror)
    {
        source_line deb-src "$mirror" "$2"
        [[ -z $security ]] || source_line deb-src "$security" "$2-security"
    } >"$1/sources.list"
    private_apt "$1" apt-get -o Acquire::http::Timeout=20 -o Acquire::Retries=0 update --error-on=any
}

# fetch_from_debian PACKAGE SUITE DIR: downloads the upstream archive of SUITE's source package into DIR/download.
fetch_from_debian() {
    open_suite "$3" "$2" || return 1
    (cd "$3/download" && private_apt "$3" apt-get source --download-only --tar-only --only-source "$1")
}

# fetch_packaging_of PACKAGE SUITE DIR: the same for Debian's packaging with its patches, also of security updates.
fetch_packaging_of() {
    open_sources "$3" "$2" || return 1
    (cd "$3/download" && private_apt "$3" apt-get source --download-only --diff-only --only-source "$1")
}

# version_in_debian PACKAGE SUITE DIR: the highest version of its source package.
version_in_debian() {
    open_sources "$3" "$2" >/dev/null || return 1
    private_apt "$3" apt-cache showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -V | tail -n 1
}

# tested_file PATTERN: 'SHA256 NAME' of the last of Debian's files whose name matches and that this repository was tested with.
tested_file() { sed -nE "s/^([0-9a-f]{64})  ($1)\$/\1 \2/p" "$TOP/scripts/lib/tested_sources" | tail -n 1; }

# fetch_tested PATTERN DIR: downloads that file into DIR/download, while a mirror has it.
fetch_tested() {
    local sha name
    read -r sha name <<<"$(tested_file "$1")"
    [[ -n ${name-} ]] || return 1
    rm -rf "$2"
    mkdir -p "$2/download"
    /usr/lib/apt/apt-helper -o "APT::Sandbox::User=$(id -un)" download-file "$(debian_mirror)/pool/main/e/erlang/$name" "$2/download/$name" "SHA256:$sha"
}
