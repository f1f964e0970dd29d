#!/usr/bin/env bash
# Fetches the third-party programs that experiments run, from Debian's packages. They are unpacked into the build
# cache and not installed.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=scripts/lib/debian_source.bash
source "$TOP/scripts/lib/debian_source.bash"

SUITE=trixie
LIST=$TOP/erl_src/experiments/priv/programs

usage() {
    cat <<USAGE
Example: ./build.sh programs rabbitmq

Usage: ./build.sh programs [PROGRAM...]

Fetches the programs that experiments run ($(programs | paste -sd' ')), all of them or
the named ones, from the packages of Debian $SUITE, into the build cache. Each is
verified by the SHA-256 in erl_src/experiments/priv/programs. If Debian has a newer
version, that one is fetched, verified by apt, and its version is printed.
USAGE
}

# entries: the lines of the list without comments and blanks.
entries() { sed 's/#.*//; s/ //g' "$LIST" | grep .; }

programs() { entries | cut -d'|' -f1 | sort -u; }

# packages_of PROGRAM: PACKAGE|VERSION|SHA256, a line each.
packages_of() { entries | awk -F'|' -v OFS='|' -v program="$1" '$1 == program { print $2, $3, $4 }'; }

# fetch_packages APT PROGRAM: downloads into the current folder, in the listed versions or else in the available ones.
fetch_packages() {
    local apt=$1 package version exact=() any=()
    while IFS='|' read -r package version _; do
        if [[ $package == src:* ]]; then
            private_apt "$apt" apt-get source --download-only --tar-only --only-source "${package#src:}"
        else
            exact+=("$package=$version")
            any+=("$package")
        fi
    done < <(packages_of "$2")
    private_apt "$apt" apt-get download "${exact[@]}" || private_apt "$apt" apt-get download "${any[@]}"
}

# unpack_package FILE DIR: unpacks a binary package into DIR, and a source into DIR/source.
unpack_package() {
    case $1 in
        *.deb) dpkg-deb -x "$1" "$2" ;;
        *) mkdir -p "$2/source" && tar -xf "$1" -C "$2/source" --strip-components=1 ;;
    esac
}

# version_in FILE: the version in its name, NAME_VERSION_ARCHITECTURE.deb or NAME_VERSION.orig.tar.xz, which omits the
# epoch.
version_in() {
    local name=${1##*/}
    name=${name#*_}
    name=${name%%_*}
    printf '%s\n' "${name%.orig.tar.*}"
}

# fetch_program PROGRAM DIR
fetch_program() {
    local program=$1 dir=$2 apt=$CACHE/apt-programs package version sha file
    rm -rf "$dir"
    mkdir -p "$dir/fetched"
    open_suite "$apt" "$SUITE"
    (cd "$dir/fetched" && fetch_packages "$apt" "$program")
    while IFS='|' read -r package version sha; do
        file=$(echo "$dir/fetched/${package#src:}"_*)
        [[ $(version_in "$file") != "${version#*:}" || $(sha256_of "$file") == "$sha" ]] ||
            fail "$package $version is not the file that erl_src/experiments/priv/programs knows by its SHA-256."
        unpack_package "$file" "$dir"
        printf '%s %s\n' "$package" "$(version_in "$file")" >>"$dir/versions.part"
    done < <(packages_of "$program")
    # RabbitMQ loads all plugins in its folder to inspect them. This plugin needs an application that is not built
    # here.
    rm -rf "$apt" "$dir/fetched" "$dir"/usr/lib/rabbitmq/lib/*/plugins/rabbitmq_auth_backend_ldap-*
    mv "$dir/versions.part" "$dir/versions"
}

# obtain_program PROGRAM
obtain_program() {
    local dir package version
    dir=$CACHE/programs/$1-$(packages_of "$1" | short_key)
    [[ -f $dir/versions ]] || step "Fetching $1 from Debian $SUITE" 20 fetch_program "$1" "$dir"
    while IFS='|' read -r package version _; do
        grep -qxF -- "$package ${version#*:}" "$dir/versions" ||
            say "Debian $SUITE has another $package than $version: $(grep -F "$package " "$dir/versions")"
    done < <(packages_of "$1")
    mkdir -p "$BUILD/programs"
    ln -sfn "$dir" "$BUILD/programs/$1"
}

main() {
    local wanted=() program
    while (($#)); do
        case $1 in
            -h | --help) usage; exit 0 ;;
            -*) misuse "unknown option '$1'" ;;
            *)
                grep -qx -- "$1" <(programs) || misuse "there is no program '$1'; there are: $(programs | paste -sd' ')"
                wanted+=("$1")
                ;;
        esac
        shift
    done
    ((${#wanted[@]})) || mapfile -t wanted < <(programs)
    need apt-get apt
    lock_cache
    open_log
    for program in "${wanted[@]}"; do
        obtain_program "$program"
    done
    say "In build/programs: ${wanted[*]}"
}

main "$@"
