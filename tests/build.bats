#!/usr/bin/env bats
# build.sh and its scripts, above all their failures. Nothing here needs the network or a compiler: sources are toys,
# and the build cache is a folder of the test's own.

load lib/common

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
    for verb in deps otp native erl escript site demo test otp-test soak memcheck benchstat verify patchset install docker clean; do
        build "$verb" --fly
        ends 2 "unknown option '--fly'"
    done
}

@test "the value of an option may follow an equals sign" {
    build otp --builds=0
    ends 2 "--builds needs a number from 1 to 99"
    build otp --otp=x --builds=2
    ends 2 "OTP release 'x' is not supported"
    build verify --otp="$DEFAULT_OTP"
    ends 1 "OTP $DEFAULT_OTP is not built"
    build erl --fly=1
    ends 2 "unknown option '--fly'"
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
    build docker --target fly
    ends 2 "--target wants otp, otp-build or deb"
    for names in stock,tuned all '*' 'tune.'; do
        build docker --target otp --vm "$names"
        refused 2 "--vm wants one variant; there is none of the name '$names'"
        build patchset --vm "$names"
        refused 2 "--vm wants one variant; there is none of the name '$names'"
        build soak --vm "$names"
        refused 2 "there is no variant '$names'; choose from: stock"
    done
    build docker --otp '2.'
    refused 2 "OTP release '2.' is not supported"
}

@test "deps --dry-run only names what is missing" {
    build deps --dry-run --docker
    [ "$status" -eq 0 ]
    [[ $output == "All Debian packages are there." || $output == "Would install: "* ]]
}

@test "deps --otp names fewer packages than deps" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query" # nothing is installed
    chmod +x "$BATS_TEST_TMPDIR/bin/dpkg-query"
    run env "PATH=$BATS_TEST_TMPDIR/bin:$PATH" "$COPY/build.sh" deps --dry-run --otp
    [ "$status" -eq 0 ]
    [[ $output == "Would install: "*build-essential* && $output != *rebar3* && $output != *gnuplot* ]]
    run env "PATH=$BATS_TEST_TMPDIR/bin:$PATH" "$COPY/build.sh" deps --dry-run
    [[ $output == "Would install: "*build-essential*rebar3*gnuplot* ]]
}

@test "deps that is told to end does so after the installation of packages" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/dpkg-query" # nothing is installed
    printf '#!/bin/sh\nexec "$@"\n' >"$BATS_TEST_TMPDIR/bin/sudo"
    # shellcheck disable=SC2016  # apt-get's argument is meant
    printf '%s\n' '#!/bin/bash' '[[ " $* " != *" update "* ]] || exit 0' "touch '$BATS_TEST_TMPDIR/installing'; sleep 2; touch '$BATS_TEST_TMPDIR/installed'" \
        >"$BATS_TEST_TMPDIR/bin/apt-get"
    chmod +x "$BATS_TEST_TMPDIR"/bin/*
    env "PATH=$BATS_TEST_TMPDIR/bin:$PATH" "$COPY/build.sh" deps --otp >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
    comes "$BATS_TEST_TMPDIR/installing"
    kill $!
    local status=0
    wait $! || status=$?
    [ -e "$BATS_TEST_TMPDIR/installed" ]
    ((EUID != 0)) || [[ $status -eq 130 && $(<"$BATS_TEST_TMPDIR/said") == *"cannot be interrupted; waiting for the end." ]]
}

@test "an unsupported release is misuse, and the supported ones are named" {
    build otp --otp 24
    ends 2 "'24' is not supported; choose one of: $(releases | paste -sd' ')"
}

@test "--source of another release is refused" {
    toy_source "$((DEFAULT_OTP - 1)).2.1"
    build otp --source "$BATS_TEST_TMPDIR/otp.tar"
    ends 1 "holds OTP $((DEFAULT_OTP - 1)).2.1, not OTP $DEFAULT_OTP"
}

@test "--source that is no OTP is refused" {
    mkdir "$BATS_TEST_TMPDIR/other"
    tar -C "$BATS_TEST_TMPDIR" -cf "$BATS_TEST_TMPDIR/other.tar" other
    build otp --source "$BATS_TEST_TMPDIR/other.tar"
    ends 1 "holds no Erlang/OTP"
    build otp --source "$BATS_TEST_TMPDIR/other"
    ends 1 "is not a source tree of Erlang/OTP"
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
    echo "$DEFAULT_OTP.0 0000" >"$ERTSLAB_CACHE/sources/$DEFAULT_OTP.current"
    build otp
    ends 1 "The cached archive of OTP $DEFAULT_OTP.0 is damaged; it is fetched anew."
    [[ $output == *"apt-get is missing"* ]]
}

@test "a build that fails shows the log's end and its path" {
    toy_source "$DEFAULT_OTP.0"
    build otp --source "$BATS_TEST_TMPDIR/otp.tar"
    ends 1 "Configuring OTP $DEFAULT_OTP.0 failed; the whole log is $COPY/build/log/otp-"
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

# toy_base: a base build whose make, like OTP's, refuses a Makefile that is older than the file from which configure
# writes it. Its only object has been made.
toy_base() {
    local erts=$BASE/tree/erts
    mkdir -p "$erts/emulator/obj" "$erts/lib_src" "$BASE/tree/make" "$BASE/pristine"
    printf '#!/bin/sh\n' >"$erts/config.status"
    printf '#!/bin/sh\necho "$@" >given\ncp emulator/Makefile.in emulator/Makefile\n' >"$erts/configure"
    printf '%s\n' '## Cache variables. ##' ac_cv_sizeof_int=4 ac_cv_env_CC_set= ethr_cv_futex=yes '## Output variables. ##' ac_cv_type_x=y \
        >"$erts/config.log"
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

# toy_patch NAME FILE SED: a patch for a file of the toy base, and a variant of that name.
toy_patch() {
    { sed "$3" "$BASE/tree/$2" | diff -u --label "a/$2" --label "b/$2" "$BASE/tree/$2" - || true; } \
        >"$COPY/otp_patches/$1.patch"
    echo "$1 | $1.patch | | x" >>"$COPY/otp_patches/variants"
}

# Sources what otp.sh sources, from the copy.
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
    # configure is told what autoconf's own tests have found out.
    [ "$(<"$BASE/tree/erts/given")" = --cache-file=answers.cache ]
    [ "$(<"$BASE/tree/erts/answers.cache")" = $'ac_cv_sizeof_int=4\nac_cv_env_CC_set=' ]
    rm "$BASE/pristine/erts/configure"
    make_emulator other jit
    [ "$(<"$BASE/tree/bin/toy/beam.smp")" = "as shipped" ]
}

@test "a folder where nothing can be written is named" {
    echo "in the way" >"$COPY/build"
    build otp
    ends 1 "cannot write to $COPY/build/log"
}

# Without their values these would do all there is to do.
@test "an option with an empty value is misuse" {
    echo "in the way" >"$COPY/build"
    while IFS='|' read -r verb option text; do
        build "$verb" "$option" ''
        refused 2 "$text"
    done <<'VERBS'
test|--only|--only needs the name of a check
test|--arch|--arch wants arm64
otp|--git|--git needs PATH, the repository
otp-test|--suite|--suite needs a name
docker|--base|--base needs an image
VERBS
    build test --only 'shell patches'
    refused 2 "there is no check 'shell patches'; choose from: shell patches bats"
    build test --arch mips
    refused 2 "--arch wants arm64"
    build test --arch arm64 --only shell
    refused 2 "--only does not go with --arch"
}

# on_arm64 COMMAND...: with the functions that emulate arm64, and the programs in the folder tools.
on_arm64() {
    # shellcheck disable=SC2016  # these are of that shell
    run env "PATH=$BATS_TEST_TMPDIR/tools:$PATH" bash -c 'SCRIPT=test; source "$0/scripts/lib/common.bash"; source "$0/scripts/lib/arm64.bash"; "$@"' "$COPY" "$@"
}

@test "arm64 says which tool is missing, and that there is no room" {
    local tool
    mkdir "$BATS_TEST_TMPDIR/tools"
    for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-aarch64; do
        hide "$tool"
        on_arm64 need_arm64
        [ "$(uname -m)" = x86_64 ] || { refused 1 "arm64 is emulated only on x86-64"; return; }
        refused 1 "$tool is missing; './build.sh deps --arm64' installs it (Debian package "
        ln -s /bin/true "$BATS_TEST_TMPDIR/tools/$tool"
    done
    printf '#!/bin/sh\necho Avail; echo 1500M\n' >"$BATS_TEST_TMPDIR/tools/df"
    chmod +x "$BATS_TEST_TMPDIR/tools/df"
    on_arm64 need_arm64
    refused 1 "arm64 needs 4 GB in $ERTSLAB_CACHE, and 1 are free"
}

@test "a program of arm64 is run by qemu-user, under its own name" {
    mkdir "$BATS_TEST_TMPDIR/tools"
    # shellcheck disable=SC2016  # of that script
    printf '#!/bin/sh\nfor word; do echo "$word"; done\n' >"$BATS_TEST_TMPDIR/tools/qemu-aarch64"
    chmod +x "$BATS_TEST_TMPDIR/tools/qemu-aarch64"
    on_arm64 emulated "$BATS_TEST_TMPDIR/beam.smp" "$BATS_TEST_TMPDIR/a beam" ' -JMsingle true'
    [ "$status" -eq 0 ]
    run env "PATH=$BATS_TEST_TMPDIR/tools:$PATH" "$BATS_TEST_TMPDIR/beam.smp" -- 'two words'
    [ "$output" = "-0
$BATS_TEST_TMPDIR/beam.smp
-L
/usr/aarch64-linux-gnu
$BATS_TEST_TMPDIR/a beam
-JMsingle
true
--
two words" ]
}

@test "a build cache where nothing can be written is named" {
    echo "in the way" >"$ERTSLAB_CACHE"
    build otp
    ends 1 "cannot write to $ERTSLAB_CACHE"
}

@test "verbs that need a built OTP say so" {
    build verify
    ends 1 "run './build.sh otp'"
    run "$COPY/ertslab" list
    ends 1 "nothing is built yet"
}

@test "a release that is not built is named, whatever else is" {
    mkdir -p "$COPY/build/otp-$DEFAULT_OTP"
    echo '{}' >"$COPY/build/otp-$DEFAULT_OTP/manifest.json"
    build verify --otp "$NEWEST_OTP"
    refused 1 "OTP $NEWEST_OTP is not built; run './build.sh otp --otp $NEWEST_OTP'."
    build verify --otp 99
    refused 2 "OTP release '99' is not supported; choose one of: $DEFAULT_OTP"
}

@test "a folder for temporary files that is not there is named" {
    run env "TMPDIR=$BATS_TEST_TMPDIR/none" "$COPY/build.sh" demo
    refused 1 "nothing can be written below $BATS_TEST_TMPDIR/none; set TMPDIR to a folder for temporary files."
}

@test "a demo of no release is refused before anything is built" {
    build demo --otp all
    refused 2 "'all' is not an OTP release"
    [ ! -e "$COPY/build" ]
}

@test "a demo of a release that is not supported is refused before packages are installed" {
    printf '#!/bin/sh\ntouch "%s/deps"\n' "$BATS_TEST_TMPDIR" >"$COPY/scripts/deps.sh"
    build demo --otp 26
    refused 2 "OTP release '26' is not supported"
    [ ! -e "$BATS_TEST_TMPDIR/deps" ]
}

# instead SCRIPT LINE...: these lines in place of a script, and an erl that says it is OTP 27.
instead() {
    printf '%s\n' '#!/usr/bin/env bash' "${@:2}" >"$COPY/scripts/$1.sh"
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\nprintf 27\n' >"$BATS_TEST_TMPDIR/bin/erl"
    chmod +x "$BATS_TEST_TMPDIR/bin/erl"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

# compiling_ends: the erl.sh of the two tests below has ended.
compiling_ends() {
    for _ in {1..100}; do
        kill -0 "$(<"$BATS_TEST_TMPDIR/compiling")" 2>/dev/null || return 0
        sleep 0.1
    done
    return 1
}

@test "a demo compiles the applications meanwhile, and passes their failure on" {
    instead deps
    instead otp '[[ " $* " == *" --demo "* ]] && echo "otp is built"'
    instead native
    instead erl '[[ $* == --installed ]] && sleep 1 && echo "ertslab erl: it does not compile." >&2; exit 1'
    build demo
    ends 1 "ertslab erl: it does not compile."
    [ "${lines[0]}" = "otp is built" ]
    [ "${#lines[@]}" -eq 2 ]
}

@test "a demo that fails or is told to end leaves nothing that compiles" {
    instead deps
    instead erl "echo \$\$ >'$BATS_TEST_TMPDIR/compiling'; sleep 300"
    instead otp "until [[ -s '$BATS_TEST_TMPDIR/compiling' ]]; do sleep 0.1; done" 'echo "otp fails" >&2; exit 1'
    build demo
    ends 1 "otp fails"
    compiling_ends
    rm "$BATS_TEST_TMPDIR/compiling"
    instead otp "exec sleep 5"
    "$COPY/build.sh" demo 3>&- &
    comes "$BATS_TEST_TMPDIR/compiling"
    kill $!
    compiling_ends
}

@test "a demo that ends does not cut the installation of packages short, and passes its failure on" {
    instead deps "[[ \$* == --otp ]] && exit" "trap : TERM; touch '$BATS_TEST_TMPDIR/installing'" "setsid --wait sleep 2; touch '$BATS_TEST_TMPDIR/installed'"
    instead erl
    instead otp "until [[ -e '$BATS_TEST_TMPDIR/installing' ]]; do sleep 0.1; done" 'echo "otp fails" >&2; exit 1'
    build demo
    ends 1 "otp fails"
    [ -e "$BATS_TEST_TMPDIR/installed" ]
    instead otp
    instead deps '[[ $* == --otp ]] || { echo "ertslab deps: no such package." >&2; exit 1; }'
    build demo
    ends 1 "ertslab deps: no such package."
}

@test "a demo whose packages cannot be installed ends at once, and not after the build" {
    instead deps '[[ $* == --otp ]] || { sleep 0.5; echo "ertslab deps: no such package." >&2; exit 1; }'
    instead erl
    instead otp "for _ in {1..600}; do sleep 0.1; done; touch '$BATS_TEST_TMPDIR/built'"
    build demo
    ends 1 "ertslab deps: no such package."
    [ ! -e "$BATS_TEST_TMPDIR/built" ]
}

@test "names of variants without a name are refused" {
    echo "in the way" >"$COPY/build" # so that nothing is ever built here
    for names in "," ",," " "; do
        build otp --vm "$names"
        refused 2 "--vm wants names of variants, or all; '$names' has none"
        build otp --interpreter "$names"
        refused 2 "--interpreter wants names of variants, or all; '$names' has none"
    done
}

@test "a page of results that is missing is named, whether or not anything is compiled" {
    build results --check no_page.md
    refused 2 "there is no page 'no_page.md'"
}

@test "the benchmarks take a value behind an equals sign" {
    run "$TOP/bench/run" "--out=$COPY"
    refused 2 "--out $COPY exists already"
    run "$TOP/bench/run" --quick --vm=no_file
    refused 2 "--vm needs a summary.json, and 'no_file' is no file"
}

@test "an OTP that is too new for this rebar3 is told from a fault of the code" {
    need_two_releases
    mkdir -p "$COPY/build/otp-$NEWEST_OTP/bin"
    echo '{}' >"$COPY/build/otp-$NEWEST_OTP/manifest.json"
    printf '#!/bin/sh\nexit 1\n' >"$COPY/build/otp-$NEWEST_OTP/bin/escript"
    chmod +x "$COPY/build/otp-$NEWEST_OTP/bin/escript"
    build erl
    ends 1 "'./build.sh otp' builds OTP $DEFAULT_OTP, on which it does."
}

@test "clean removes what was built, and nothing else" {
    mkdir -p "$COPY/build/otp-$DEFAULT_OTP" "$COPY/results"
    build clean
    [ "$status" -eq 0 ]
    [ ! -e "$COPY/build" ]
    [ -d "$COPY/results" ]
}

@test "clean reads all words before it removes anything" {
    mkdir -p "$COPY/build/otp-$DEFAULT_OTP" "$ERTSLAB_CACHE/otp"
    build clean --all --help
    ends 0 "Usage"
    build clean --all --fly
    ends 2 "unknown option '--fly'"
    [ -d "$COPY/build/otp-$DEFAULT_OTP" ]
    [ -d "$ERTSLAB_CACHE/otp" ]
    build clean --all
    [ "$status" -eq 0 ]
    [ ! -e "$COPY/build" ]
    [ ! -e "$ERTSLAB_CACHE/otp" ]
}

# Until then half of them stayed. What is called otherwise is nobody's.
@test "clean --all removes all that the scripts keep in the build cache" {
    names=$(grep -rhoE '[$]CACHE"?/[a-z-]+' "$COPY/scripts" --exclude=clean.sh | sed 's|.*/||' | sort -u | grep -vx lock)
    [[ $names == *emulators*libraries*otp-test*programs* ]]
    for name in $names other; do
        mkdir -p "$ERTSLAB_CACHE/$name/below"
    done
    build clean --all
    [ "$status" -eq 0 ]
    [ "$(cd "$ERTSLAB_CACHE" && echo *)" = "install lock other" ]
    [ "$(ls "$ERTSLAB_CACHE/install")" = lock ]
}

@test "clean waits for an installation that is being built" {
    mkdir -p "$ERTSLAB_CACHE/install/$DEFAULT_OTP-key"
    exec 8>"$ERTSLAB_CACHE/install/lock"
    flock 8
    "$COPY/build.sh" clean --all >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- 8>&- &
    for _ in {1..300}; do
        ! grep -q "Another build is using $ERTSLAB_CACHE/install" "$BATS_TEST_TMPDIR/said" || break
        sleep 0.1
    done
    [ -d "$ERTSLAB_CACHE/install/$DEFAULT_OTP-key" ]
    exec 8>&-
    wait $!
    [ ! -e "$ERTSLAB_CACHE/install/$DEFAULT_OTP-key" ]
}

@test "what is left of a build is estimated by what the steps before took, and said where it takes longer" {
    # shellcheck source=scripts/lib/common.bash
    source "$TOP/scripts/lib/common.bash"
    [ "$(as_before 60)" -eq 60 ]
    STEPS_ESTIMATED=20 STEPS_TOOK=140
    [ "$(as_before 60)" -eq 420 ]
    # If the cache made a step faster, that says nothing about the next step.
    STEPS_ESTIMATED=20 STEPS_TOOK=2
    [ "$(as_before 60)" -eq 60 ]
    [ "$(show_progress "Building" 30 60)" = "Building  0:30 of about 1:00" ]
    [[ "$(show_progress "Building" 420 60)" == "Building  7:00, longer than the 1:00 that were expected"* ]]
    STEPS_ESTIMATED=0 STEPS_TOOK=0 LOG=$BATS_TEST_TMPDIR/log
    step "Waiting" 1 sleep 2
    [ "$STEPS_ESTIMATED" -eq 1 ]
    [ "$STEPS_TOOK" -ge 2 ]
}
