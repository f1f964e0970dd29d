#!/usr/bin/env bash
# Builds benchstat, Go's own program for the output of 'ertslab report --format benchstat'.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

# A version that Go 1.19, which is in Debian bookworm, can build.
VERSION=v0.0.0-20230113213139-801c7ef9e5c5

usage() {
    cat <<'USAGE'
Example: ./build.sh benchstat

Usage: ./build.sh benchstat

Builds Go's benchstat with Debian's Go into the build cache, and prints its path.
The sources come from Go's module proxy, and Go verifies them. Use it to read the
lines of './ertslab report --format benchstat'.
USAGE
}

# Go makes its downloads read-only, so Go itself must remove them.
build_benchstat() {
    local work=$CACHE/benchstat/work
    mkdir -p "$work"
    export GOPATH=$work/path GOCACHE=$work/cache GOBIN=$CACHE/benchstat/part
    go install "golang.org/x/perf/cmd/benchstat@$VERSION"
    mv "$GOBIN/benchstat" "$CACHE/benchstat/benchstat-$VERSION"
    go clean -modcache
    rm -rf "$work" "$GOBIN"
    ln -sfn "benchstat-$VERSION" "$CACHE/benchstat/benchstat"
}

main() {
    case ${1-} in
        '') ;;
        -h | --help) usage; exit 0 ;;
        *) misuse "unknown option '$1'" ;;
    esac
    if [[ ! -x $CACHE/benchstat/benchstat-$VERSION ]]; then
        need go golang-go
        open_log
        lock_cache
        step "Building benchstat" 30 build_benchstat
    fi
    say "benchstat is $CACHE/benchstat/benchstat"
}

main "$@"
