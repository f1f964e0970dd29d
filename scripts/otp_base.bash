# Sourced by otp.sh: one complete build of unpatched OTP, kept in the cache under a key of everything that determines
# it. Its parts:
#   tree/      the built source tree, at the path that is compiled into objects
#   pristine/  copies of tree/erts and tree/make, from which each variant starts
#   root/      the installed OTP
# shellcheck shell=bash

# The applications that the project, its tests and rebar3 need. The build fails if configure omits one.
APPLICATIONS=(asn1 common_test compiler crypto dialyzer edoc erl_interface eunit
    inets kernel mnesia os_mon parsetools public_key runtime_tools sasl ssh ssl
    stdlib syntax_tools tools xmerl)

# The compiler flags: OTP's own choice, which OTP turns into -O3 for the emulator, and functions aligned to cache
# lines. Without the alignment, a patch shifts all code behind it within its cache lines, which alone changed times by
# up to a fifth. (Linux has CONFIG_DEBUG_FORCE_FUNCTION_ALIGN_64B for that.) Debug information of level 1 has functions and
# lines, which is what perf and valgrind show; complete one costs a fifth of the compiler's time. (The type debug has it.)
COMPILER_FLAGS='-g1 -O2 -falign-functions=64'

# The C++ files, those of the JIT and its assembler, begin with a precompiled header, without which they take twice as long. Complete
# debug information would hold addresses of that header, so the same sources would not give the same bytes. ccache needs
# -fpch-preprocess to compare the text of files with such a header.
CXX_FLAGS="$COMPILER_FLAGS -fpch-preprocess"

# No profile-guided optimisation, even if a configure would choose it (those of 27 and 29 end with USE_PGO=false). It
# trains on this machine's timing, so no two builds would be alike, and a variant would be measured with another
# profile than stock. The linker adds a build id that identifies the contents.
CONFIGURE=(--disable-pgo --without-javac --without-wx --without-odbc --disable-silent-rules
    "CFLAGS=$COMPILER_FLAGS" "CXXFLAGS=$CXX_FLAGS" "LDFLAGS=-Wl,--build-id=sha1")

# ccache compares preprocessed text, so a variant that only changes config.h does not recompile everything. It looks at no
# precompiled header unless it may ignore macros and the time in it, of which that header has none.
use_compiler_cache() {
    export CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=4G CCACHE_PCH_EXTSUM=yes CCACHE_NOHASHDIR=
    export CCACHE_SLOPPINESS=pch_defines,time_macros
    [[ ! -d /usr/lib/ccache ]] || PATH=/usr/lib/ccache:$PATH
}

compiler_line() { LC_ALL=C "${CC:-gcc}" --version | head -n 1; }

base_key() {
    {
        printf '%s\n' "$SOURCE_SHA256" "$CACHE" "$(uname -m)" "$(compiler_line)"
        grep -v '^ *#' "$TOP/scripts/otp_base.bash" # comments shape nothing
    } | short_key
}

# The compile server saves starting a VM for each of some 900 files.
in_tree() { (cd "$BASE/tree" && export ERL_TOP=$BASE/tree LC_ALL=C ERLC_USE_SERVER=yes && "$@"); }

unpack_source() {
    rm -rf "$BASE"
    mkdir -p "$BASE/tree"
    tar -xf "$SOURCE_ARCHIVE" -C "$BASE/tree" --strip-components=1
    # Debian's archive lacks these two scripts for Common Test's pages; it starts with empty ones.
    touch "$BASE/tree/lib/common_test/priv/jquery-latest.js" \
        "$BASE/tree/lib/common_test/priv/jquery.tablesorter.min.js"
}

configure_tree() {
    in_tree ./configure "${CONFIGURE[@]}"
    local app
    for app in "${APPLICATIONS[@]}"; do
        if [[ -f $BASE/tree/lib/$app/SKIP ]]; then
            say "configure dropped the application $app: $(cat "$BASE/tree/lib/$app/SKIP")"
            return 1
        fi
    done
    skip_other_applications
}

# configure deletes SKIP files, so these are written after it has run.
skip_other_applications() {
    local dir app
    for dir in "$BASE"/tree/lib/*/; do
        app=$(basename "$dir")
        [[ " ${APPLICATIONS[*]} " == *" $app "* ]] ||
            echo "not needed by ertslab" >"$dir/SKIP"
    done
}

# sum_header TYPE: what the precompiled header of the JIT of that type is made from, as a sum beside it. ccache takes it in place of the
# header, whose bytes differ each time that make makes it (also whenever erl_bif_info.c changes).
sum_header() {
    local makefile sum
    sum=$(in_tree "${CXX:-g++}" -std=c++17 -Ierts/emulator -E erts/emulator/asmjit/asmjit.h | sha256sum)
    for makefile in "$BASE"/tree/erts/emulator/*-linux-*/Makefile; do
        mkdir -p "${makefile%/*}/$1/jit/asmjit"
        printf '%s\n' "$sum" >"${makefile%/*}/$1/jit/asmjit/asmjit.hpp.gch.sum"
    done
}

make_tree() {
    sum_header opt
    in_tree make -j"$(nproc)"
}

install_root() {
    in_tree make release "RELEASE_ROOT=$BASE/root"
    (cd "$BASE/root" && ./Install -minimal "$BASE/root")
    local app
    for app in "${APPLICATIONS[@]}"; do
        if [[ $app != erl_interface ]] && ! compgen -G "$BASE/root/lib/$app-*/ebin/$app.app" >/dev/null; then
            say "the application $app was not built"
            return 1
        fi
    done
    "$BASE/root/bin/erl" -noinput -eval '{ok, _} = application:ensure_all_started(ssl), halt().'
    mkdir "$BASE/pristine"
    cp -a "$BASE/tree/erts" "$BASE/tree/make" "$BASE/pristine"
}

# build_base RELEASE: sets BASE; builds it unless it is complete.
build_base() {
    BASE=$CACHE/otp/$1-$(base_key)
    [[ ! -f $BASE/complete ]] || return 0
    step "Unpacking OTP $OTP_VERSION" 15 unpack_source
    step "Configuring OTP $OTP_VERSION" 30 configure_tree
    step "Building OTP $OTP_VERSION" 330 make_tree
    step "Installing OTP $OTP_VERSION" 15 install_root
    touch "$BASE/complete"
}
