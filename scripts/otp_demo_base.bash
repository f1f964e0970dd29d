# Sourced by otp_emulator.bash: the first part of a base build, with which the demo begins. It compiles the emulator and
# crypto alone. The modules of kernel, stdlib and the compiler are those that OTP's own sources bring in compiled form, to build OTP
# with: a few of them are of a slightly older revision. So build_base builds a base that has only this part anew. ccache then
# has the emulator's objects.
# shellcheck shell=bash

has_first_part() { [[ -f $BASE/first_part && ! -f $BASE/complete ]]; }

# configure_beside AUTOCONF: configure uses one core, so autoconf is built on another.
configure_beside() {
    local autoconf=''
    if [[ $1 == yes ]] && ! autoconf_is_new_enough && [[ ! -x $CACHE/autoconf/bin/autoconf ]]; then
        build_autoconf &
        autoconf=$!
    fi
    configure_tree
    [[ -z $autoconf ]] || wait "$autoconf"
}

# make_jobs ARGUMENTS...: one job more than there are cores, since a job also waits for the disk.
make_jobs() { in_tree make "-j$(($(nproc) + 1))" "$@"; }

# The C files of crypto are compiled meanwhile, in the times in which the emulator's make has a single job, such as a code generator
# or the linker.
make_first_part() {
    local crypto
    sum_header opt
    in_tree make -C lib/crypto/c_src opt &
    crypto=$!
    make_jobs erl_interface emulator
    wait "$crypto"
    make_jobs bootstrap_setup
    in_tree env "PATH=$BASE/tree/bootstrap/bin:$PATH" make "-j$(nproc)" -C lib/crypto opt
}

# Install also copies files that a first part lacks, such as start_sasl.boot, and goes on without them.
install_first_part() {
    local root=$BASE/root release app
    release=$root/releases/${OTP_VERSION%%.*}
    in_tree make -C erts release TYPE=opt FLAVOR=jit NO_START_SCRIPTS=true XINSTDIRS= "TESTROOT=$root"
    in_tree env "PATH=$BASE/tree/bootstrap/bin:$PATH" make -C lib/crypto release "TESTROOT=$root"
    for app in kernel stdlib compiler; do
        mkdir -p "$root/lib/$app"
        cp -a "$BASE/tree/bootstrap/lib/$app/ebin" "$root/lib/$app"
        [[ ! -d $BASE/tree/lib/$app/include ]] || cp -a "$BASE/tree/lib/$app/include" "$root/lib/$app"
    done
    mkdir -p "$release"
    cp "$BASE"/tree/bootstrap/bin/*.boot "$BASE/tree/OTP_VERSION" "$release"
    (cd "$root" && ./Install -minimal "$root")
    touch "$root/first_part"
    mkdir "$BASE/pristine"
    cp -a "$BASE/tree/erts" "$BASE/tree/make" "$BASE/pristine"
}

# build_first_part RELEASE AUTOCONF: sets BASE; builds the first part, unless it or all of the base is there.
build_first_part() {
    BASE=$CACHE/otp/$1-$(base_key)
    [[ ! -f $BASE/complete && ! -f $BASE/first_part ]] || return 0
    step "Unpacking OTP $OTP_VERSION" 15 unpack_source
    step "Configuring OTP $OTP_VERSION" 20 configure_beside "$2"
    step "Building the first part of OTP $OTP_VERSION" 110 make_first_part
    step "Installing the first part of OTP $OTP_VERSION" 5 install_first_part
    touch "$BASE/first_part"
}
