# Sourced by otp_tests.bash: emulators for arm64, cross-compiled on this machine, and roots in which qemu-user runs
# them. Compiled modules are the same on all processors, so a root is that of this machine, with the programs and
# shared objects of arm64 in place of its own. Where BASE names the base build, in_arm64 gives the one for arm64, in
# the build cache:
#   tree/, pristine/   as in the base build, configured for arm64
#   root/erts-*/bin/   the programs; root/bin is that of this machine, whose compiler is used
# shellcheck shell=bash
# shellcheck disable=SC2153  # BASE is that of otp_base.bash

# shellcheck source=scripts/lib/debian_source.bash
source "$TOP/scripts/lib/debian_source.bash"

# The folder of Debian's cross compiler with the libraries that programs need, and OTP's name for the machine.
ARM64_LIBRARIES=/usr/aarch64-linux-gnu
ARM64_TARGET=aarch64-unknown-linux-gnu

# The applications with shared objects that tests load.
ARM64_APPLICATIONS=(asn1 crypto runtime_tools)

# What configure finds out by running programs, which it cannot do here.
ARM64_ANSWERS=(erl_xcomp_bigendian=no erl_xcomp_linux_nptl=yes erl_xcomp_linux_usable_sigusrx=yes
    erl_xcomp_linux_usable_sigaltstack=yes erl_xcomp_poll=yes erl_xcomp_getaddrinfo=yes
    erl_xcomp_clock_gettime_cpu_time=yes)

# GB of disk, and GB of memory for two emulated nodes of a suite.
ARM64_DISK=4
ARM64_MEMORY=3

# need_arm64: the tools and the room, or a sentence.
need_arm64() {
    local tool package free
    [[ $(uname -m) == x86_64 ]] || fail "arm64 is emulated only on x86-64; on an arm64 machine './build.sh test' tests it."
    while read -r tool package; do
        command -v "$tool" >/dev/null || fail "$tool is missing; './build.sh deps --arm64' installs it (Debian package $package)."
    done <<'TOOLS'
aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
qemu-aarch64 qemu-user
TOOLS
    writable_dir "$CACHE"
    free=$(($(free_mb "$CACHE") / 1000))
    ((free >= ARM64_DISK)) || fail "arm64 needs $ARM64_DISK GB in $CACHE, and $free are free; make room, or set ERTSLAB_CACHE to another place."
    free=$(awk '/^MemAvailable:/ { print int($2 / 1000000) }' /proc/meminfo)
    ((free >= ARM64_MEMORY)) || fail "emulating arm64 needs $ARM64_MEMORY GB of memory, and $free are free; end other programs."
}

# arm64_base: its folder, named by all that determines it.
arm64_base() {
    printf '%s/arm64/%s\n' "$CACHE" "$({
        basename "$BASE"
        aarch64-linux-gnu-gcc --version | head -n 1
        declare -p ARM64_LIBRARIES ARM64_TARGET ARM64_APPLICATIONS ARM64_ANSWERS
        declare -f fetch_openssl configure_arm64 make_arm64
    } | short_key)"
}

# in_arm64 COMMAND...: make takes TARGET from the environment. The compiler of Erlang is that of the base build.
in_arm64() {
    local base
    base=$(arm64_base)
    local -x TARGET=$ARM64_TARGET PATH=$BASE/root/bin:$PATH
    local BASE=$base
    "$@"
}

# fetch_openssl DIR: OpenSSL for arm64 below DIR/ssl, unpacked from Debian's package and not installed.
fetch_openssl() {
    local apt=$1/apt mirror suite parts=$1/parts
    # shellcheck source=/dev/null
    suite=$(source /etc/os-release && echo "$VERSION_CODENAME")
    new_state "$apt"
    mirror=$(debian_mirror) || return 1
    source_line deb "$mirror" "$suite" | sed 's/^deb \[/&arch=arm64 /' >"$apt/sources.list"
    private_apt "$apt" apt-get update -o APT::Architecture=arm64 -o APT::Architectures=arm64 --error-on=any
    (cd "$apt/download" && private_apt "$apt" apt-get download -o APT::Architecture=arm64 -o APT::Architectures=arm64 libssl-dev:arm64)
    dpkg-deb -x "$apt"/download/libssl-dev_*.deb "$parts"
    mkdir -p "$1/ssl/lib"
    cp -a "$parts/usr/include" "$1/ssl/include"
    cp -a "$parts"/usr/include/aarch64-linux-gnu/openssl/* "$1/ssl/include/openssl"
    cp -a "$parts"/usr/lib/aarch64-linux-gnu/*.a "$1/ssl/lib"
    rm -rf "$apt" "$parts"
}

# configure_arm64: --without-termcap, since only a shell on a terminal needs that library.
configure_arm64() {
    fetch_openssl "$BASE"
    in_tree ./configure --host=aarch64-linux-gnu "--build=$("$BASE/tree/make/autoconf/config.guess")" \
        "erl_xcomp_sysroot=$ARM64_LIBRARIES" "${ARM64_ANSWERS[@]}" "${CONFIGURE[@]}" \
        --without-termcap "--with-ssl=$BASE/ssl" --disable-dynamic-ssl-lib
    skip_other_applications
}

make_arm64() {
    local app
    sum_header opt
    in_tree make -j"$(nproc)" depend erl_interface emulator
    for app in "${ARM64_APPLICATIONS[@]}"; do
        in_tree make -j"$(nproc)" -C "lib/$app/c_src" opt
    done
    mkdir "$BASE/pristine"
    cp -a "$BASE/tree/erts" "$BASE/tree/make" "$BASE/pristine"
}

# keep_programs NATIVE: the programs, for all variants. (Each variant has its own beam.smp.)
keep_programs() {
    local bin
    bin=$BASE/root/$(basename "$1"/root/erts-*)/bin
    mkdir -p "$bin"
    find "$BASE/tree/bin/$ARM64_TARGET" -maxdepth 1 -type f -perm -u+x -exec cp -a {} "$bin" \;
    ln -s "$1/root/bin" "$BASE/root/bin"
    touch "$BASE/complete"
}

# build_arm64_base: unless it is complete.
build_arm64_base() {
    local base
    base=$(arm64_base)
    [[ ! -f $base/complete ]] || return 0
    step "Unpacking OTP $OTP_VERSION for arm64" 15 in_arm64 unpack_source
    step "Configuring it" 60 in_arm64 configure_arm64
    step "Cross-compiling it" 150 in_arm64 make_arm64
    step "Keeping its programs" 5 in_arm64 keep_programs "$BASE"
}

# build_arm64 VARIANT
build_arm64() {
    need_arm64
    build_arm64_base
    in_arm64 build_emulator "$1" jit
}

# emulated FILE PROGRAM [ARGUMENT...]: makes FILE a script that has qemu-user run the program. So nothing is registered
# with the kernel, nobody must be root, and what an emulated program starts may be for either processor.
emulated() {
    rm -f "$1"
    # shellcheck disable=SC2016  # these are for the script
    { echo '#!/bin/sh'; printf 'exec qemu-aarch64 -0 "$0" -L %q %q%s "$@"\n' "$ARM64_LIBRARIES" "$2" "${*:3}"; } >"$1"
    chmod 755 "$1"
}

# install_programs ROOT: those of the arm64 base, in place of the programs of this machine.
install_programs() {
    local program own file
    own=$(echo "$1"/erts-*/bin)
    for program in "$(arm64_base)"/root/erts-*/bin/*; do
        install -m 755 "$program" "$own/${program##*/}.arm64"
        for file in "$own/${program##*/}" "$1/bin/${program##*/}"; do
            if [[ -f $file && ! -L $file ]]; then emulated "$file" "$own/${program##*/}.arm64"; fi
        done
    done
}

# install_arm64 ROOT EMULATOR: qemu-user translates code once, and does not see that the JIT writes new code there through
# another mapping of the same memory. So the JIT gets one mapping, for which OTP has +JMsingle.
install_arm64() {
    local root=$1 base bin file app
    base=$(arm64_base)
    bin=$(echo "$root"/erts-*/bin)
    install_programs "$root"
    install -m 755 "$2" "$bin/beam.smp.arm64"
    emulated "$bin/beam.smp" "$bin/beam.smp.arm64" ' -JMsingle true'
    for app in "${ARM64_APPLICATIONS[@]}"; do
        for file in "$base/tree/lib/$app/priv/lib/$ARM64_TARGET"/*.so; do
            install -m 755 "$file" "$(echo "$root/lib/$app"-*/priv/lib)"
        done
    done
    starts_on_arm64 "$root"
}

# starts_on_arm64 ROOT: whether its emulator says that it is for arm64 and has the JIT, and whether OpenSSL is loaded.
starts_on_arm64() {
    "$1/bin/erl" -noinput -eval '
        "aarch64" ++ _ = erlang:system_info(system_architecture), jit = erlang:system_info(emu_flavor),
        {ok, _} = application:ensure_all_started(crypto), halt().'
}
