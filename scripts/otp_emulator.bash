# Sourced by otp.sh: the emulators of one variant, kept in the cache under a key of the base build, its configure
# options and what its patches change in erts, without tests. Each variant has one of OTP's flavour jit. For valgrind,
# under which the JIT does not run, it can also have one of the flavour emu, the interpreter.
# Here the flavour buildK (K from 2) is the flavour jit with another code layout, to measure the random effect of
# layout: its object files are linked in another order, and the loops of the emulator's own files are aligned in
# another way.
# The flavours debug and asan are OTP's types of these names, with the JIT: the first checks its authors' assertions,
# the second each access of memory.
# shellcheck shell=bash

# shellcheck source=scripts/lib/otp_autoconf.bash
source "$TOP/scripts/lib/otp_autoconf.bash"
# shellcheck source=scripts/otp_demo_base.bash
source "$TOP/scripts/otp_demo_base.bash"

variant_patch_files() {
    local patch
    for patch in $(variant_patches "$1"); do
        printf '%s\n' "$PATCH_DIR/$patch"
    done
}

# patch_files_below VARIANT PLACE: its patches that change files below PLACE (a regular expression).
patch_files_below() {
    local patch
    while read -r patch; do
        ! grep -qE "^\+\+\+ [^/ ]+/$2" "$patch" || printf '%s\n' "$patch"
    done < <(variant_patch_files "$1")
}

# patch_part PATCH PLACE [WITHOUT]: the part of the patch that changes files below PLACE, but not below WITHOUT.
patch_part() {
    awk -v place="^[^/]+/$2" -v without="^[^/]+/${3:-/}" '/^--- / { before = $0; inside = 0; next }
         /^\+\+\+ / { inside = $2 ~ place && $2 !~ without; if (inside) print before }
         inside' "$1"
}

# patched_sources VARIANT PLACE [WITHOUT]: these parts of all its patches. A patch's header determines no build.
patched_sources() {
    local patch
    while read -r patch; do
        patch_part "$patch" "${@:2}"
    done < <(patch_files_below "$1" "$2")
}

# alignment K: the compiler flags for build K. The order of object files moves whole functions; this moves the code
# inside them, in one of 16 ways. Some of these are better than the compiler's default, but all variants of a build K
# get the same.
alignment() { echo "-falign-loops=$((8 << $1 % 4)) -falign-jumps=$((8 << $1 / 4 % 4))"; }

# mark_of_first_part VARIANT PLACE: a line for the key of what the compiler of a first part compiles of PLACE.
mark_of_first_part() { ! has_first_part || [[ -z $(patch_files_below "$1" "$2") ]] || echo first part; }

# emulator_key VARIANT FLAVOUR
emulator_key() {
    {
        basename "$BASE"
        mark_of_first_part "$1" erts/preloaded/src/
        [[ $2 == jit ]] || echo "$2"
        [[ $2 != build* ]] || { alignment "${2#build}"; cat "$TOP/scripts/lib/shuffled_link.bash"; }
        variant_options "$1"
        patched_sources "$1" erts/ erts/emulator/test/
    } | short_key
}

# Each variant starts from the pristine copies, so no object of another variant is reused. (The configure script of
# erts also writes to make/.)
fresh_erts() {
    rm -rf "$BASE/tree/erts" "$BASE/tree/make" "$BASE"/tree/bin/*/beam*
    cp -a "$BASE/pristine/erts" "$BASE/pristine/make" "$BASE/tree"
}

apply_patches() {
    local patch
    while read -r patch; do
        patch_part "$patch" erts/ | patch -d "$BASE/tree" -p1 -F0 --no-backup-if-mismatch
    done < <(patch_files_below "$1" erts/)
    compile_preloaded "$1"
}

# compile_preloaded VARIANT: compiles the modules that the emulator's make links into it. OTP's sources have them in
# compiled form.
compile_preloaded() {
    local source
    while read -r source; do
        (cd "$BASE/tree/erts/preloaded/src" &&
            "$BASE/root/bin/erlc" -Werror +debug_info +deterministic +nowarn_deprecated_catch \
                -I "$BASE/tree/lib/kernel/src" -I "$BASE/tree/lib/kernel/include" -o ../ebin "$source")
    done < <(variant_patch_files "$1" | xargs -r -d '\n' \
        sed -nE 's,^\+\+\+ [^/]+/erts/preloaded/src/([^[:space:]]+\.erl).*,\1,p' | sort -u)
}

# regenerate_configure: the same as 'otp_build update_configure', but only for erts.
regenerate_configure() {
    cd erts || return
    rm -rf autom4te.cache
    autoconf -B "$ERL_TOP/make/autoconf"
    autoheader -B "$ERL_TOP/make/autoconf"
}

# known_answers LOG: a cache for configure, of what an earlier configure with this log has found out. Only the answers of
# autoconf's own tests: some tests of OTP's do more than answer.
known_answers() {
    sed -n '/^## Cache variables/,/^## Output/ { /^ac_cv_\(env\|func\|have_decl\|header\|lib\|member\|search\|sizeof\|type\)_/p }' "$1"
}

reconfigure_erts() {
    local given
    given=$(cd "$BASE/tree/erts" && ./config.status --config)
    cd erts || return
    known_answers config.log >answers.cache
    eval "./configure $given $(variant_options "$1") --cache-file=answers.cache"
    # The emulator's make does not rebuild the thread library.
    rm -rf lib_src/obj lib/internal/*/*.a
    make -j"$(nproc)" -C lib_src
}

touches_configure() {
    [[ -n $(patch_files_below "$1" erts/configure.ac) ]]
}

# touches_templates VARIANT: whether it changes files from which configure writes others, such as Makefile.in.
touches_templates() {
    [[ -n $(patch_files_below "$1" 'erts/[^[:space:]]+\.in([[:space:]]|$)') ]]
}

# configure_variant VARIANT: reconfigures if its patches or options require it.
configure_variant() {
    if touches_configure "$1"; then
        in_tree regenerate_configure
    fi
    if touches_configure "$1" || touches_templates "$1" || [[ -n $(variant_options "$1") ]]; then
        in_tree reconfigure_erts "$1"
    fi
    # make does not notice that a changed Makefile builds a file in another way.
    if touches_templates "$1"; then
        rm -rf "$BASE"/tree/erts/emulator/{obj,*/opt}
    fi
}

make_emulator() {
    fresh_erts
    apply_patches "$1"
    configure_variant "$1"
    compile_emulator "$2"
}

# otp_type FLAVOUR and otp_flavour FLAVOUR: the TYPE and the FLAVOR of OTP's make.
otp_type() { case $1 in debug | asan) echo "$1" ;; *) echo opt ;; esac; }
otp_flavour() { case $1 in emu) echo emu ;; *) echo jit ;; esac; }

# compile_emulator FLAVOUR [VARIABLE=VALUE...]
compile_emulator() {
    local type
    type=$(otp_type "$1")
    # The thread library exists only for the type opt.
    [[ $type == opt ]] || in_tree make -j"$(nproc)" -C erts/lib_src "$type"
    sum_header "$type"
    in_tree env "PATH=$BASE/tree/bootstrap/bin:$PATH" make -j"$(nproc)" \
        -C erts/emulator "$type" FLAVOR="$(otp_flavour "$1")" "${@:2}"
}

# To check whether the same sources give the same emulator: reuses no object.
make_stock_again() {
    fresh_erts
    rm -rf "$BASE/tree/erts/emulator/obj"
    CCACHE_DISABLE=1 compile_emulator jit
}

# keep_emulator EMULATOR KEY
keep_emulator() {
    mkdir -p "$CACHE/emulators"
    keep_file "$1" "$CACHE/emulators/$2"
}

# compiled_emulator FLAVOUR: the path to which OTP's make writes it.
compiled_emulator() {
    case $1 in
        jit) echo "$BASE"/tree/bin/*/beam.smp ;;
        debug | asan) echo "$BASE"/tree/bin/*/"beam.$1.smp" ;;
        *) echo "$BASE/tree/bin"/*/"beam.$1" ;;
    esac
}

have_emulator() { [[ -f $CACHE/emulators/$(emulator_key "$1" "$2") ]]; }

# build_seconds FLAVOUR: the approximate duration of its build.
build_seconds() { case $1 in debug | asan) echo 240 ;; *) echo 60 ;; esac; }

# build_emulator VARIANT FLAVOUR: builds it unless the cache has it.
build_emulator() {
    local variant=$1 flavour=$2 key
    ! have_emulator "$variant" "$flavour" || return 0
    key=$(emulator_key "$variant" "$flavour")
    if [[ $flavour == jit && -z $(patch_files_below "$variant" erts/)$(variant_options "$variant") ]]; then
        keep_emulator "$(echo "$BASE"/root/erts-*/bin/beam.smp)" "$key"
        return
    fi
    if touches_configure "$variant"; then
        use_autoconf
    fi
    step "Building the emulator of $variant ($flavour)" "$(build_seconds "$flavour")" make_emulator "$variant" "$flavour"
    # These types also have their own version of the program that starts other programs.
    [[ $(otp_type "$flavour") == opt ]] ||
        keep_emulator "$(echo "$BASE"/tree/bin/*/"erl_child_setup.$flavour")" "$key.child_setup"
    keep_emulator "$(compiled_emulator "$flavour")" "$key"
}

# symbols EMULATOR: its symbols, without their addresses. sizes EMULATOR: the same with their sizes.
symbols() { nm "$1" | sed -E 's/^[0-9a-f ]{16} //' | LC_ALL=C sort; }
sizes() { nm -S "$1" | sed -E 's/^[0-9a-f]{16} //' | LC_ALL=C sort; }

# same_but_moved ORDINARY BUILD: whether the two differ, but have the same symbols.
same_but_moved() {
    if cmp -s "$1" "$2"; then
        say "the other layout made no other emulator"
        return 1
    fi
    diff <(symbols "$1") <(symbols "$2")
}

# moved_within ORDINARY BUILD: whether the alignment changed any function's length, which includes the padding before
# loops.
moved_within() {
    if diff -q <(sizes "$1") <(sizes "$2") >/dev/null; then
        say "the other alignment changed no function"
        return 1
    fi
}

# forget_objects: removes the objects of the emulator's own C files, which are those that patches change.
forget_objects() {
    local source
    for source in "$BASE"/tree/erts/emulator/beam/*.c; do
        rm -f "$BASE"/tree/erts/emulator/obj/*/opt/jit/"$(basename "$source" .c).o"
    done
}

# make_build VARIANT K: builds it in the tree of the ordinary one. OTP's make links the JIT with the C++ compiler.
make_build() {
    local emulator ordinary=$BASE/tree/bin/ordinary
    emulator=$(compiled_emulator jit)
    mv "$emulator" "$ordinary"
    rm "${emulator%/*}/beam.jit"
    forget_objects
    # shellcheck disable=SC2016  # the variables are make's
    compile_emulator jit 'V_CC=$(CC) '"$(alignment "$2")" "EMU_LD=$TOP/scripts/lib/shuffled_link.bash $2 "'$(CXX)'
    same_but_moved "$ordinary" "$emulator"
    moved_within "$ordinary" "$emulator"
    keep_emulator "$emulator" "$(emulator_key "$1" "build$2")"
    mv "$ordinary" "$emulator"
}

# make_builds VARIANT K...
make_builds() {
    local variant=$1 build
    make_emulator "$variant" jit
    for build in "${@:2}"; do
        make_build "$variant" "$build"
    done
}

# build_builds VARIANT N: makes the builds 2 to N of a variant that are not in the cache.
build_builds() {
    local variant=$1 build missing=()
    for ((build = 2; build <= $2; build++)); do
        have_emulator "$variant" "build$build" || missing+=("$build")
    done
    ((${#missing[@]})) || return 0
    if touches_configure "$variant"; then
        use_autoconf
    fi
    step "Building $variant in ${#missing[@]} more layouts" $((30 + 60 * ${#missing[@]})) \
        make_builds "$variant" "${missing[@]}"
}

# builds_in_cache VARIANT: the numbers of its builds, from 2 up to the first gap.
builds_in_cache() {
    local build=2
    while have_emulator "$1" "build$build"; do
        echo "$build"
        build=$((build + 1))
    done
}
