# Sourced by otp_emulator.bash: the autoconf that OTP's configure.ac requires. Debian bookworm's is one release too
# old, so trixie's is built from source.
# shellcheck shell=bash

AUTOCONF_WANTED=2.72
AUTOCONF_SUITE=trixie

autoconf_is_new_enough() {
    local found
    found=$(autoconf --version | sed -nE '1s/.* ([0-9.]+)$/\1/p')
    [[ $(printf '%s\n' "$AUTOCONF_WANTED" "$found" | sort -V | head -n 1) == "$AUTOCONF_WANTED" ]]
}

build_autoconf() {
    local work=$CACHE/autoconf-build
    fetch_from_debian autoconf "$AUTOCONF_SUITE" "$work"
    mkdir -p "$work/source"
    tar -xf "$(echo "$work"/download/*.orig.tar.*)" -C "$work/source" --strip-components=1
    cd "$work/source" || return
    ./configure "--prefix=$CACHE/autoconf"
    make install MAKEINFO=true
    rm -rf "$work"
}

use_autoconf() {
    ! autoconf_is_new_enough || return 0
    [[ -x $CACHE/autoconf/bin/autoconf ]] || step "Building autoconf $AUTOCONF_WANTED" 10 build_autoconf
    PATH=$CACHE/autoconf/bin:$PATH
}
