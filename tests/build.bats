#!/usr/bin/env bats
# build.sh and its scripts, above all how they fail. Nothing here needs the
# network or a compiler: sources are toys, and the build cache is a folder of
# the test's own.

load common

setup() {
    COPY=$BATS_TEST_TMPDIR/copy
    mkdir "$COPY"
    cp -r "$TOP/build.sh" "$TOP/ertslab" "$TOP/scripts" "$TOP/otp_patches" "$COPY"
    export ERTSLAB_CACHE=$BATS_TEST_TMPDIR/cache
}

build() { run "$COPY/build.sh" "$@"; }

# toy_source VERSION: an archive that looks like OTP of that version.
toy_source() {
    mkdir -p "$BATS_TEST_TMPDIR/otp/lib/common_test/priv"
    echo "$1" >"$BATS_TEST_TMPDIR/otp/OTP_VERSION"
    tar -C "$BATS_TEST_TMPDIR" -cf "$BATS_TEST_TMPDIR/otp.tar" otp
}

@test "every verb of the help has a script that answers --help" {
    build --help
    [ "$status" -eq 0 ]
    verbs=$(sed -nE 's/^  ([a-z-]+)(  .*)?$/\1/p' <<<"$output" | paste -sd' ')
    for verb in $verbs; do
        run "$COPY/build.sh" "$verb" --help
        ends 0 "Usage: ./build.sh $verb"
    done
}

@test "no verb, and an unknown one, are misuse" {
    build
    ends 2 "Usage:"
    build fly
    ends 2 "there is no verb 'fly'"
    build ../scripts/deps
    ends 2 "there is no verb"
}

@test "every verb refuses an unknown option" {
    for verb in deps otp native erl demo test otp-test soak memcheck benchstat verify docker clean; do
        build "$verb" --fly
        ends 2 "unknown option '--fly'"
    done
}

@test "an option without its value is misuse" {
    build otp --otp
    ends 2 ""
    build otp --source
    ends 2 ""
    build otp --interpreter
    ends 2 "--interpreter needs names of variants"
    build otp --interpreter stock,fly
    ends 2 "there is no variant 'fly'"
    build otp --vm
    ends 2 "--vm wants names of variants"
    build otp --vm stock,fly
    ends 2 "there is no variant 'fly'"
    build docker --vm fly
    ends 2 "there is no variant 'fly'"
}

@test "deps --dry-run only names what is missing" {
    build deps --dry-run --docker
    [ "$status" -eq 0 ]
    [[ $output == "All Debian packages are there." || $output == "Would install: "* ]]
}

@test "an unsupported release is misuse, and the supported ones are named" {
    build otp --otp 24
    ends 2 "'24' is not supported; choose one of: 27 29"
}

@test "--source of another release is refused" {
    toy_source 26.2.1
    build otp --source "$BATS_TEST_TMPDIR/otp.tar"
    ends 1 "holds OTP 26.2.1, not OTP 27"
}

@test "--source that is no OTP is refused" {
    mkdir "$BATS_TEST_TMPDIR/other"
    tar -C "$BATS_TEST_TMPDIR" -cf "$BATS_TEST_TMPDIR/other.tar" other
    build otp --source "$BATS_TEST_TMPDIR/other.tar"
    ends 1 "holds no Erlang/OTP"
    build otp --source "$BATS_TEST_TMPDIR/other"
    ends 1 "is no Erlang/OTP source tree"
}

@test "a tree of sources is packed with its links as they are" {
    mkdir -p "$BATS_TEST_TMPDIR/tree/lib/toy"
    ln -s ../../toy.pem "$BATS_TEST_TMPDIR/tree/lib/toy/link"
    # shellcheck source=scripts/otp_source.bash
    source "$TOP/scripts/otp_source.bash"
    archive_of_tree "$BATS_TEST_TMPDIR/tree" "$BATS_TEST_TMPDIR/tree.tar"
    tar -xf "$BATS_TEST_TMPDIR/tree.tar" -C "$BATS_TEST_TMPDIR"
    [ "$(readlink "$BATS_TEST_TMPDIR/otp/lib/toy/link")" = ../../toy.pem ]
}

@test "--source that is not there is misuse" {
    build otp --source "$BATS_TEST_TMPDIR/nowhere"
    ends 2 "does not exist"
}

@test "a damaged archive is refused" {
    head -c 100000 /dev/urandom >"$BATS_TEST_TMPDIR/otp.tar.xz"
    build otp --source "$BATS_TEST_TMPDIR/otp.tar.xz"
    ends 1 "is damaged or no tar archive"
}

@test "a damaged archive in the cache is not built from" {
    hide apt-get
    mkdir -p "$ERTSLAB_CACHE/sources/0000"
    echo damaged >"$ERTSLAB_CACHE/sources/0000/otp.tar"
    echo "27.0 0000" >"$ERTSLAB_CACHE/sources/27.current"
    build otp
    ends 1 "The cached archive of OTP 27.0 is damaged; it is fetched anew."
    [[ $output == *"apt-get is missing"* ]]
}

@test "a build that fails shows the log's end and its path" {
    toy_source 27.0
    build otp --source "$BATS_TEST_TMPDIR/otp.tar"
    ends 1 "Configuring OTP 27.0 failed; the whole log is $COPY/build/log/otp-"
}

@test "a missing tool is named with its package" {
    hide autoconf
    build otp
    ends 1 "autoconf is missing; './build.sh deps' installs it (Debian package autoconf)."
}

@test "patches that do not fit together stop the build" {
    echo 'more | nothing.patch | | x' >>"$COPY/otp_patches/variants"
    build otp
    ends 1 "more names nothing.patch, which is not there."
}

# toy_base: a base build whose make refuses a Makefile that is older than what configure
# writes it from, as OTP's does. Its one object has been made.
toy_base() {
    local erts=$BASE/tree/erts
    mkdir -p "$erts/emulator/obj" "$erts/lib_src" "$BASE/tree/make" "$BASE/pristine"
    printf '#!/bin/sh\n' >"$erts/config.status"
    printf '#!/bin/sh\ncp emulator/Makefile.in emulator/Makefile\n' >"$erts/configure"
    chmod +x "$erts/config.status" "$erts/configure"
    echo 'all:' >"$erts/lib_src/Makefile"
    {
        printf 'opt: obj/file.o\n\tmkdir -p ../../bin/toy && cp obj/file.o ../../bin/toy/beam.smp\n'
        printf 'obj/file.o:\n\tmkdir -p obj && echo as shipped >$@\n'
        printf 'Makefile: Makefile.in\n\t@echo please re-run configure && exit 1\n'
    } >"$erts/emulator/Makefile.in"
    (cd "$erts" && ./configure && make -C emulator opt)
    cp -a "$erts" "$BASE/tree/make" "$BASE/pristine"
}

# toy_patch NAME FILE SED: a patch of a file of the toy base, and a variant of that name.
toy_patch() {
    { sed "$3" "$BASE/tree/$2" | diff -u --label "a/$2" --label "b/$2" "$BASE/tree/$2" - || true; } \
        >"$COPY/otp_patches/$1.patch"
    echo "$1 | $1.patch | | x" >>"$COPY/otp_patches/variants"
}

# What otp.sh sources of the copy.
builder() {
    local part
    for part in scripts/lib/common.bash scripts/otp_base.bash scripts/otp_emulator.bash otp_patches/variants.sh; do
        # shellcheck source=/dev/null
        source "$COPY/$part"
    done
}

@test "a patch to what configure writes files from is built with these" {
    BASE=$BATS_TEST_TMPDIR/base
    toy_base
    toy_patch rules erts/emulator/Makefile.in 's/as shipped/as patched/'
    toy_patch other erts/lib_src/Makefile 's/all:/& emulator/'
    builder
    make_emulator rules jit
    [ "$(<"$BASE/tree/bin/toy/beam.smp")" = "as patched" ]
    rm "$BASE/pristine/erts/configure"
    make_emulator other jit
    [ "$(<"$BASE/tree/bin/toy/beam.smp")" = "as shipped" ]
}

@test "a folder where nothing can be written is named" {
    echo "in the way" >"$COPY/build"
    build otp
    ends 1 "cannot write to $COPY/build/log"
}

@test "a build cache where nothing can be written is named" {
    echo "in the way" >"$ERTSLAB_CACHE"
    build otp
    ends 1 "cannot write to $ERTSLAB_CACHE"
}

@test "verbs that need a built OTP say so" {
    for verb in erl verify; do
        build "$verb"
        ends 1 "run './build.sh otp'"
    done
    run "$COPY/ertslab" list
    ends 1 "nothing is built yet"
}

@test "an OTP that is too new for this rebar3 is told from a fault of the code" {
    mkdir -p "$COPY/build/otp-29/bin"
    echo '{}' >"$COPY/build/otp-29/manifest.json"
    printf '#!/bin/sh\nexit 1\n' >"$COPY/build/otp-29/bin/escript"
    chmod +x "$COPY/build/otp-29/bin/escript"
    build erl
    ends 1 "'./build.sh otp' builds OTP 27, on which it does."
}

@test "clean removes what was built, and nothing else" {
    mkdir -p "$COPY/build/otp-27" "$COPY/results"
    build clean
    [ "$status" -eq 0 ]
    [ ! -e "$COPY/build" ]
    [ -d "$COPY/results" ]
}
