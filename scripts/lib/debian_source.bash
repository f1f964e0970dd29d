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

# open_suite DIR SUITE: an apt state with that suite's packages and sources, whose signature apt verifies.
open_suite() {
    local dir=$1 suite=$2 kind
    need apt-get apt
    [[ -r $KEYRING ]] || fail "the keyring $KEYRING is missing; './build.sh deps' installs it."
    rm -rf "$dir"
    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
    for kind in deb deb-src; do
        printf '%s [signed-by=%s] %s %s main\n' "$kind" "$KEYRING" "$(debian_mirror)" "$suite"
    done >"$dir/sources.list"
    private_apt "$dir" apt-get update --error-on=any
}

# fetch_from_debian PACKAGE SUITE DIR [PART]: downloads a part of SUITE's source package into DIR/download: 'tar', the
# upstream archive (by default), or 'diff', Debian's packaging with its patches.
fetch_from_debian() {
    local package=$1 suite=$2 dir=$3 part=${4:-tar}
    open_suite "$dir" "$suite"
    mkdir "$dir/download"
    (cd "$dir/download" && private_apt "$dir" apt-get source --download-only "--$part-only" --only-source "$package")
}

# version_in_debian PACKAGE SUITE DIR: the version of SUITE's source package.
version_in_debian() {
    open_suite "$3" "$2" >/dev/null
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
