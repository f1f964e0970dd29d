# Sourced by the scripts that test properties: PropEr, kept in the cache.
# shellcheck shell=bash

# shellcheck source=scripts/lib/debian_source.bash
source "$TOP/scripts/lib/debian_source.bash"

PROPER_SUITE=trixie
# shellcheck disable=SC2034  # for those who source this
PROPER_LIBS=$CACHE/proper/build/default/lib

# Builds PropEr from source: Debian's package is compiled for Debian's OTP, and newer ones may not load it.
build_proper() {
    local proper=$CACHE/proper
    fetch_from_debian erlang-proper "$PROPER_SUITE" "$proper/apt"
    mkdir -p "$proper/source"
    tar -xf "$(echo "$proper"/apt/download/*.orig.tar.*)" -C "$proper/source" --strip-components=1
    (cd "$proper/source" && PATH=$(own_root)/bin:$PATH REBAR_BASE_DIR=$proper/build rebar3 compile)
    rm -rf "$proper/apt"
    touch "$proper/complete"
}

have_proper() {
    local root
    ! { has_root && root=$(own_root) && is_part "$root"; } ||
        fail "only a part of OTP is built; './build.sh otp --otp ${root##*-} --vm stock' builds the rest."
    [[ -f $CACHE/proper/complete ]] || step "Building PropEr" 15 build_proper
}
