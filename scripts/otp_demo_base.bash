# Sourced by otp.sh: the first part of a base build, which has only the applications that the demo needs. A later build
# without '--demo' adds the others in the same tree, so nothing is compiled twice.
# shellcheck shell=bash

DEMO_APPLICATIONS=(compiler crypto kernel parsetools sasl stdlib syntax_tools)

has_first_part() { [[ -f $BASE/first_part && ! -f $BASE/complete ]]; }

install_first_part() {
    in_tree make release "RELEASE_ROOT=$BASE/root"
    (cd "$BASE/root" && ./Install -minimal "$BASE/root")
    mkdir "$BASE/pristine"
    cp -a "$BASE/tree/erts" "$BASE/tree/make" "$BASE/pristine"
}

# build_first_part RELEASE: sets BASE; builds the first part, unless it or all of the base is there.
build_first_part() {
    BASE=$CACHE/otp/$1-$(base_key)
    [[ ! -f $BASE/complete && ! -f $BASE/first_part ]] || return 0
    # shellcheck disable=SC2034  # the functions of otp_base.bash read it
    local APPLICATIONS=("${DEMO_APPLICATIONS[@]}")
    step "Unpacking OTP $OTP_VERSION" 15 unpack_source
    step "Configuring OTP $OTP_VERSION" 30 configure_tree
    step "Building the first part of OTP $OTP_VERSION" 170 make_tree
    step "Installing the first part of OTP $OTP_VERSION" 5 install_first_part
    touch "$BASE/first_part"
}

# The emulators that were built meanwhile left their objects in the tree.
make_other_applications() {
    fresh_erts
    rm -f "$BASE"/tree/lib/*/SKIP
    skip_other_applications
    make_tree
}

install_complete() {
    rm -rf "$BASE/root" "$BASE/pristine"
    install_root
}

# complete_base RELEASE: sets BASE; builds the other applications, if only its first part is there.
complete_base() {
    BASE=$CACHE/otp/$1-$(base_key)
    has_first_part || return 0
    step "Building the other applications of OTP $OTP_VERSION" 40 make_other_applications
    step "Installing OTP $OTP_VERSION" 10 install_complete
    touch "$BASE/complete"
}
