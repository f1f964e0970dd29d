#!/usr/bin/env bash
# Removes what was built.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

usage() {
    cat <<USAGE
Example: ./build.sh clean

Usage: ./build.sh clean [--all]

Removes build/ and dist/. Results stay.
  --all  also removes the build cache, which other clones may use: $CACHE
USAGE
}

# What the other scripts keep in the build cache, beside lock, install and apt-*.
KEPT=(autoconf autoconf-build benchstat ccache deb dialyzer emulators libraries otp otp-test programs proper sources sphinx)

# Removes only folders of these names from the cache. An installation that is being built needs its sources there.
clean_cache() {
    [[ ! -d $CACHE/install ]] || clean_installs
    lock_cache
    rm -rf "${KEPT[@]/#/$CACHE/}" "$CACHE"/apt-*
}

# The file of the lock stays, for those who wait for it.
clean_installs() {
    lock_installs
    find "$CACHE/install" -mindepth 1 -maxdepth 1 ! -name lock -exec rm -rf {} +
}

# Reads all arguments before removing anything.
main() {
    local all=no
    while (($#)); do
        case $1 in
            --all) all=yes ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift
    done
    rm -rf "$BUILD" "$TOP/dist"
    [[ $all == no ]] || clean_cache
}

main "$@"
