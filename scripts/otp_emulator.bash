# Sourced by otp.sh: the emulators of one variant, kept in the cache under a
# key of the base build, its patches and its configure options. Each variant has
# one of OTP's flavour jit; for valgrind, which the JIT does not run under, it
# can also have one of the flavour emu, the interpreter.
# shellcheck shell=bash

# shellcheck source=scripts/otp_autoconf.bash
source "$TOP/scripts/otp_autoconf.bash"

variant_patch_files() {
    local patch
    for patch in $(variant_patches "$1"); do
        printf '%s\n' "$TOP/otp_patches/$patch"
    done
}

# emulator_key VARIANT FLAVOUR
emulator_key() {
    {
        basename "$BASE"
        [[ $2 == jit ]] || echo "$2"
        variant_options "$1"
        variant_patch_files "$1" | xargs -r -d '\n' cat
    } | short_key
}

# Each variant starts from the pristine copies, so no object of another one can
# be stale. (The configure script of erts also writes to make/.)
fresh_erts() {
    rm -rf "$BASE/tree/erts" "$BASE/tree/make" "$BASE"/tree/bin/*/beam*
    cp -a "$BASE/pristine/erts" "$BASE/pristine/make" "$BASE/tree"
}

apply_patches() {
    local patch
    while read -r patch; do
        [[ -n $patch ]] || continue
        if grep -E '^\+\+\+ ' "$patch" | grep -qvE '^\+\+\+ [^/]+/erts/'; then
            say "$(basename "$patch") changes files outside erts/, which a variant's emulator cannot carry"
            return 1
        fi
        patch -d "$BASE/tree" -p1 -F0 --no-backup-if-mismatch <"$patch"
    done < <(variant_patch_files "$1")
}

# regenerate_configure: as 'otp_build update_configure' does, but for erts alone.
regenerate_configure() {
    cd erts || return
    rm -rf autom4te.cache
    autoconf -B "$ERL_TOP/make/autoconf"
    autoheader -B "$ERL_TOP/make/autoconf"
}

reconfigure_erts() {
    local given
    given=$(cd "$BASE/tree/erts" && ./config.status --config)
    cd erts || return
    eval "./configure $given $(variant_options "$1")"
    # The emulator's make takes the thread library as it lies there.
    rm -rf lib_src/obj lib/internal/*/*.a
    make -j"$(nproc)" -C lib_src
}

touches_configure() { variant_patch_files "$1" | xargs -r -d '\n' grep -lq '^+++ [^/]*/erts/configure.ac'; }

make_emulator() {
    local variant=$1 flavour=$2
    fresh_erts
    apply_patches "$variant"
    if touches_configure "$variant"; then
        in_tree regenerate_configure
    fi
    if touches_configure "$variant" || [[ -n $(variant_options "$variant") ]]; then
        in_tree reconfigure_erts "$variant"
    fi
    compile_emulator "$flavour"
}

compile_emulator() {
    in_tree env "PATH=$BASE/tree/bootstrap/bin:$PATH" make -j"$(nproc)" "${MAKE_VARIABLES[@]}" \
        -C erts/emulator TYPE=opt FLAVOR="$1"
}

# For the question whether the same sources give the same emulator: no object is reused.
make_stock_again() {
    fresh_erts
    rm -rf "$BASE/tree/erts/emulator/obj"
    CCACHE_DISABLE=1 compile_emulator jit
}

# keep_emulator EMULATOR KEY: a half-written file never bears the final name.
keep_emulator() {
    mkdir -p "$CACHE/emulators"
    cp "$1" "$CACHE/emulators/$2.part"
    mv "$CACHE/emulators/$2.part" "$CACHE/emulators/$2"
}

# compiled_emulator FLAVOUR: what OTP's own make calls it.
compiled_emulator() {
    case $1 in
        jit) echo "$BASE"/tree/bin/*/beam.smp ;;
        *) echo "$BASE/tree/bin"/*/"beam.$1" ;;
    esac
}

have_emulator() { [[ -f $CACHE/emulators/$(emulator_key "$1" "$2") ]]; }

# build_emulator VARIANT FLAVOUR: builds it unless the cache has it.
build_emulator() {
    local variant=$1 flavour=$2 key
    ! have_emulator "$variant" "$flavour" || return 0
    key=$(emulator_key "$variant" "$flavour")
    if [[ $flavour == jit && -z $(variant_patches "$variant")$(variant_options "$variant") ]]; then
        keep_emulator "$(echo "$BASE"/root/erts-*/bin/beam.smp)" "$key"
        return
    fi
    if touches_configure "$variant"; then
        use_autoconf
    fi
    step "Building the emulator of $variant ($flavour)" 60 make_emulator "$variant" "$flavour"
    keep_emulator "$(compiled_emulator "$flavour")" "$key"
}
