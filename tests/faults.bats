#!/usr/bin/env bats
# The faults in doc/faults.md that no other file tests: full and read-only disks, no network, wrong signatures, kills,
# clocks, two calls at once, unusual environments. Tests that need namespaces or root are skipped without them.
#
# Words in single quotes are for another shell, and each test runs in its own subshell.
# shellcheck disable=SC2016,SC2030,SC2031

load lib/common

setup_file() {
    "$TOP/ertslab" compare spacing --vm stock,prefetch --param cells=1001 --param value_words=3 \
        --out "$BATS_FILE_TMPDIR/whole" >/dev/null 2>&1
}

setup() {
    WHOLE=$BATS_FILE_TMPDIR/whole
    OUT=$BATS_TEST_TMPDIR/out
    DISK=$BATS_TEST_TMPDIR/disk
    SMALL=(hibernate --quick --vm "stock,stock_copy" --param cells=1001 --param value_words=3)
    COUNTED=(spacing --vm "stock,prefetch" --param cells=1001 --param value_words=3)
    export DISK OUT
}

# apart KIND COMMAND...: runs it in its own namespace of mounts (-m) or of the network (-n).
apart() {
    if ((EUID == 0)); then unshare "$1" -- "${@:2}"; else unshare -r "$1" -- "${@:2}"; fi
}

need_network_apart() { apart -n true 2>/dev/null || skip "no namespace of the network may be made here"; }

# on_disk SIZE COMMAND...: runs it with $DISK as a file system of that size.
on_disk() {
    mkdir -p "$DISK"
    apart -m bash -c 'mount -t tmpfs -o size="$1" tmpfs "$DISK" && "${@:2}"' bash "$@"
}

need_mounts() { on_disk 4k true 2>/dev/null || skip "no file system may be mounted here"; }

# read_only COMMAND...: runs it while nothing in the checkout can be written.
read_only() {
    apart -m bash -c 'mount --bind "$TOP" "$TOP" && mount -o remount,bind,ro "$TOP" && "$@"' bash "$@"
}

# bytes FILE...: their total size in whole pages.
bytes() { stat -c %s "$@" | awk '{ sum += int($1 / 4096) + 1 } END { print sum * 4096 }'; }

# compare_and_rescue: runs a comparison on the small disk, and copies what it left to $OUT.
compare_and_rescue() {
    local status=0
    "$TOP/ertslab" compare "${COUNTED[@]}" --out "$DISK/in" || status=$?
    cp -r "$DISK/in" "$OUT"
    return "$status"
}

# small_disk SIZE [FILE...]: compare_and_rescue on a disk of that size that holds these files.
small_disk() {
    local size=$1
    shift
    run on_disk "$size" bash -c "$(declare -p COUNTED); $(declare -f compare_and_rescue)"'
        mkdir "$DISK/in"; [ $# -eq 0 ] || cp "$@" "$DISK/in"; compare_and_rescue' bash "$@"
}

done_already() { sed -nE 's/.*; ([0-9]+) of them are done already.*/\1/p' <<<"$output"; }

@test "a disk that fills up in mid-comparison costs one run" {
    need_mounts
    small_disk $(($(bytes "$WHOLE"/{session,manifest}.json) + $(bytes "$WHOLE/samples.jsonl") / 2))
    ends 1 "cannot write $DISK/in/samples.jsonl: no space left on device; what was measured before is kept"
    [ ! -e "$OUT/summary.json" ]
    ertslab compare "${COUNTED[@]}" --out "$OUT"
    ends 0 "of them are done already"
    [ "$(done_already)" -ge 1 ]
    [ "$(done_already)" -lt 6 ]
    [ "$(runs_in "$OUT")" -eq 6 ]
}

@test "a disk that is full from the start leaves a folder that can be used" {
    need_mounts
    small_disk 4k
    ends 1 "cannot write $DISK/in/manifest.json: no space left on device"
    [ "$(ls "$OUT")" = session.json ]
}

@test "a disk that is full at the end leaves a comparison to be finished, and not a broken summary" {
    need_mounts
    small_disk $(($(bytes "$WHOLE"/{session,manifest}.json "$WHOLE/samples.jsonl") + 8192)) \
        "$WHOLE/session.json" "$WHOLE/samples.jsonl"
    ends 1 "no space left on device; what was measured before is kept"
    [ ! -e "$OUT/summary.json" ]
    cmp "$OUT/manifest.json" "$WHOLE/manifest.json"
    ertslab compare "${COUNTED[@]}" --out "$OUT"
    ends 0 "6 of them are done already"
    cmp "$OUT/samples.jsonl" "$WHOLE/samples.jsonl"
    python3 -m json.tool "$OUT/summary.json" >/dev/null
}

@test "a full disk ends a build with a sentence, and no archive is half kept" {
    need_mounts
    copy
    toy_source
    head -c 200000 /dev/zero >"$BATS_TEST_TMPDIR/otp/zero"
    pack_source
    run on_disk 100k env ERTSLAB_CACHE="$DISK/cache" bash -c '"$0" "$@"; status=$?; find "$DISK" -name "otp.tar*"; exit $status' \
        "$COPY/build.sh" otp --source "$BATS_TEST_TMPDIR/otp.tar"
    ends 1 "otp.tar; make room there or choose another place"
    [[ ${lines[-1]} == "ertslab otp: "* ]]
}

@test "a checkout that cannot be written measures all the same, and builds nothing" {
    need_mounts
    run read_only "$TOP/ertslab" list
    ends 0 "hibernate"
    run read_only "$TOP/ertslab" compare "${COUNTED[@]}" --out "$OUT"
    ends 0 "distance_hibernated"
    run read_only "$TOP/ertslab" compare "${COUNTED[@]}"
    refused 1 "cannot write $TOP/results/spacing-"
    for verb in erl otp; do
        run read_only "$TOP/build.sh" "$verb"
        refused 1 "cannot write to $TOP/build/log"
    done
}

@test "a damaged file of the command line's own code is named" {
    checkout "$BATS_TEST_TMPDIR/copy"
    beam=$BATS_TEST_TMPDIR/copy/build/erl/default/lib/ertslab/ebin/ertslab_list.beam
    cp --remove-destination "$TOP/build/erl/default/lib/ertslab/ebin/ertslab_list.beam" "$beam"
    truncate -s 1000 "$beam"
    run "$BATS_TEST_TMPDIR/copy/ertslab" list
    refused 1 "its own module ertslab_list does not load (badfile); './build.sh erl' compiles it again."
}

@test "a second build needs no network" {
    need_network_apart
    [ "$(apart -n grep -c : /proc/net/dev)" -eq 1 ]
    [ -f "$(build_cache)/sources/$DEFAULT_OTP.current" ] || skip "OTP $DEFAULT_OTP has not been built from Debian's sources here"
    run apart -n "$TOP/build.sh" otp --otp "$DEFAULT_OTP"
    ends 0 "is in build/otp-$DEFAULT_OTP, with the variants: stock"
    run apart -n "$TOP/build.sh" erl
    ends 0 "Compiling the Erlang applications: done"
}

# copy: copies the scripts to a place of their own, with a build cache of their own.
copy() {
    COPY=$BATS_TEST_TMPDIR/copy
    mkdir "$COPY"
    cp -r "$TOP/build.sh" "$TOP/scripts" "$TOP/otp_patches" "$COPY"
    export ERTSLAB_CACHE=$BATS_TEST_TMPDIR/cache
}

# toy_source: sources that look like OTP until they are configured; pack_source: their archive.
toy_source() {
    mkdir -p "$BATS_TEST_TMPDIR/otp/lib/common_test/priv"
    echo "$DEFAULT_OTP.0" >"$BATS_TEST_TMPDIR/otp/OTP_VERSION"
}

pack_source() { tar -C "$BATS_TEST_TMPDIR" -cf "$BATS_TEST_TMPDIR/otp.tar" otp; }

# slow_source: sources whose configure waits for the file $BATS_TEST_TMPDIR/go.
slow_source() {
    toy_source
    printf '%s\n' '#!/bin/sh' "echo \$\$ >>'$BATS_TEST_TMPDIR/begun'" \
        "until [ -e '$BATS_TEST_TMPDIR/go' ]; do sleep 0.1; done" 'exit 1' >"$BATS_TEST_TMPDIR/otp/configure"
    chmod +x "$BATS_TEST_TMPDIR/otp/configure"
    pack_source
}

# await COMMAND...: repeats it until it succeeds, for 20 seconds at most.
await() {
    local i
    for ((i = 0; i < 400; i++)); do
        ! "$@" >/dev/null 2>&1 || return 0
        sleep 0.05
    done
    echo "in vain: $*"
    return 1
}

# build_in_background LOG: builds the slow source; sets BUILD_PID.
build_in_background() {
    "$COPY/build.sh" otp --source "$BATS_TEST_TMPDIR/otp.tar" >"$1" 2>&1 3>&- &
    BUILD_PID=$!
}

# gone PID: whether it has ended. It remains as a zombie in a container whose first process does not reap.
gone() { ! kill -0 "$1" 2>/dev/null || [[ $(ps -o stat= -p "$1") == Z* ]]; }

@test "no build begins while the last step of a killed one still works, and then it begins anew" {
    copy
    slow_source
    build_in_background "$BATS_TEST_TMPDIR/first"
    await test -s "$BATS_TEST_TMPDIR/begun"
    kill -KILL "$BUILD_PID"
    build_in_background "$BATS_TEST_TMPDIR/second"
    await grep "Another build is using $ERTSLAB_CACHE" "$BATS_TEST_TMPDIR/second"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/begun")" -eq 1 ]
    touch "$BATS_TEST_TMPDIR/go"
    wait "$BUILD_PID" || true
    grep -q "Unpacking OTP $DEFAULT_OTP.0: done" "$BATS_TEST_TMPDIR/second"
    grep -q "Configuring OTP $DEFAULT_OTP.0 failed; the whole log is" "$BATS_TEST_TMPDIR/second"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/begun")" -eq 2 ]
}

@test "a build that is told to end takes its step along" {
    copy
    slow_source
    build_in_background "$BATS_TEST_TMPDIR/first"
    await test -s "$BATS_TEST_TMPDIR/begun"
    kill -TERM "$BUILD_PID"
    status=0
    wait "$BUILD_PID" || status=$?
    [ "$status" -eq 130 ]
    await gone "$(cat "$BATS_TEST_TMPDIR/begun")"
}

empty() { [[ -z $(ls -A "$1") ]]; }

# Its files are those of a Debian.
@test "a base image that is told to end, or fails, leaves no temporary folder" {
    ((EUID == 0)) || skip "root makes a base image"
    copy
    mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/temporary"
    printf '#!/bin/sh\n[ "$1" = info ]\n' >"$BATS_TEST_TMPDIR/bin/docker"
    printf '#!/bin/sh\necho http://mirror\n' >"$BATS_TEST_TMPDIR/bin/apt-get"
    export TMPDIR=$BATS_TEST_TMPDIR/temporary
    for end in 'exit 1' "echo \$\$ >'$BATS_TEST_TMPDIR/begun'; exec sleep 300"; do
        printf '#!/bin/sh\nmkdir -p "$3/etc"\n%s\n' "$end" >"$BATS_TEST_TMPDIR/bin/debootstrap"
        chmod +x "$BATS_TEST_TMPDIR/bin/"*
        PATH=$BATS_TEST_TMPDIR/bin:$PATH "$COPY/build.sh" docker >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
        [[ $end == exit* ]] || { await test -s "$BATS_TEST_TMPDIR/begun"; kill -TERM $!; }
        status=0
        wait $! || status=$?
        [ "$status" -ne 0 ]
        grep -q "a base image is made with debootstrap" "$BATS_TEST_TMPDIR/said"
        await empty "$TMPDIR"
    done
}

@test "an image is not begun where Docker's disk has no room for it" {
    copy
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\n[ "$1" = info ] && echo /\n' >"$BATS_TEST_TMPDIR/bin/docker"
    printf '#!/bin/sh\necho Avail; echo 2800M\n' >"$BATS_TEST_TMPDIR/bin/df"
    chmod +x "$BATS_TEST_TMPDIR/bin/"*
    PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$COPY/build.sh" docker
    [ "$status" -eq 1 ]
    [[ $output == *"no room: 6000 MB are needed in /, where Docker keeps its images, and 2800 MB are free"* ]]
}

# only_checks CODE: makes ./build.sh test of the copy do no more than two checks, each of which is this code of a shell.
only_checks() {
    local script
    for script in deps otp native erl benchstat programs; do
        echo '#!/bin/sh' >"$COPY/scripts/$script.sh"
    done
    for script in memcheck verify; do
        printf '#!/bin/sh\n%s\n' "$1" >"$COPY/scripts/$script.sh"
    done
    mkdir -p "$ERTSLAB_CACHE/proper"
    touch "$ERTSLAB_CACHE/proper/complete"
}

@test "a check that fails fails the run of the checks" {
    copy
    only_checks 'exit 3'
    for check in memcheck verify; do
        run "$COPY/build.sh" test --only "$check"
        ends 1 "0 passed, 1 failed"
    done
    only_checks 'exit 0'
    for check in memcheck verify; do
        run "$COPY/build.sh" test --only "$check"
        ends 0 "1 passed, 0 failed"
    done
}

@test "a run of the checks that is told to end takes its checks along, and begins no other" {
    copy
    only_checks "echo \$\$ >>'$BATS_TEST_TMPDIR/begun'; exec sleep 300"
    for check in memcheck verify; do
        rm -f "$BATS_TEST_TMPDIR/begun"
        "$COPY/build.sh" test --only "$check" >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
        await test -s "$BATS_TEST_TMPDIR/begun"
        kill -TERM $!
        status=0
        wait $! || status=$?
        [ "$status" -eq 130 ]
        await gone "$(cat "$BATS_TEST_TMPDIR/begun")"
        run grep failed "$BATS_TEST_TMPDIR/said"
        [ "$status" -eq 1 ]
    done
}

# key NAME: makes a signing key, with its public half in NAME.gpg.
key() {
    gpg --batch --quiet --homedir "$KEYS" --passphrase '' --quick-generate-key "$1" ed25519 sign never 2>/dev/null
    gpg --batch --quiet --homedir "$KEYS" --export "$1" >"$BATS_TEST_TMPDIR/$1.gpg"
}

# listed FILE...: the files in the format of Debian's index.
listed() {
    local file
    for file in "$@"; do
        echo " $(sha256sum "$file" | cut -d' ' -f1) $(stat -c %s "$file") $file"
    done
}

# archive_of_debian: a source package in an archive with an expired index, which apt is made to use as its mirror.
archive_of_debian() {
    local suite
    suite=$(suite_of "$DEFAULT_OTP")
    SUITE=$BATS_TEST_TMPDIR/mirror/dists/$suite
    mkdir -p "$SUITE/main/source" "$BATS_TEST_TMPDIR/bin"
    toy_source
    pack_source
    (
        cd "$BATS_TEST_TMPDIR/mirror" || return
        xz <"$BATS_TEST_TMPDIR/otp.tar" >"erlang_$DEFAULT_OTP.0.orig.tar.xz"
        echo "Source: erlang" >"erlang_$DEFAULT_OTP.0-1.dsc"
        printf '%s\n' "Package: erlang" "Format: 3.0 (quilt)" "Binary: erlang" "Architecture: any" "Version: 1:$DEFAULT_OTP.0-1" \
            "Directory: ." "Checksums-Sha256:" "$(listed "erlang_$DEFAULT_OTP.0-1.dsc" "erlang_$DEFAULT_OTP.0.orig.tar.xz")" "" >"$SUITE/main/source/Sources"
        cd "$SUITE" || return
        printf '%s\n' "Origin: Debian" "Label: Debian" "Codename: $suite" \
            "Date: $(date -Ru -d '9 days ago')" "Valid-Until: $(date -Ru -d '2 days ago')" \
            "SHA256:" "$(listed main/source/Sources)" >Release
    )
    printf '%s\n' '#!/bin/sh' "[ \"\$1\" != indextargets ] || exec echo 'copy:$BATS_TEST_TMPDIR/mirror'" \
        "exec $(command -v apt-get) \"\$@\"" >"$BATS_TEST_TMPDIR/bin/apt-get"
    chmod +x "$BATS_TEST_TMPDIR/bin/apt-get"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

signed_by() { gpg --batch --quiet --yes --homedir "$KEYS" -u "$1" --clearsign -o "$SUITE/InRelease" "$SUITE/Release"; }

# no_source WORDS: checks that the source was not fetched, that apt says why, and that nothing was kept.
no_source() {
    run "$COPY/build.sh" otp
    ends 1 "Fetching OTP $DEFAULT_OTP from Debian"
    ends 1 "failed; the whole log is"
    [[ $output =~ $1 ]] || { echo "no '$1' in: $output"; return 1; }
    [ ! -e "$ERTSLAB_CACHE/sources/$DEFAULT_OTP.current" ]
    [ ! -e "$ERTSLAB_CACHE/otp" ]
}

@test "sources with no signature, a stranger's, or a damaged one are refused, and an archive that is not the signed one" {
    command -v gpg >/dev/null || skip "gpg is not installed"
    KEYS=$BATS_TEST_TMPDIR/keys
    mkdir -m 700 "$KEYS"
    key keeper
    key stranger
    copy
    archive_of_debian
    sed -i "s,^KEYRING=.*,KEYRING=$BATS_TEST_TMPDIR/keeper.gpg," "$COPY/scripts/lib/debian_source.bash"
    no_source "is not signed"
    signed_by stranger
    no_source "NO_PUBKEY|Missing key"
    signed_by keeper
    sed -i 's/^Label: Debian/Label: debian/' "$SUITE/InRelease"
    no_source "BADSIG|[Bb]ad signature|invalid"
    signed_by keeper
    cp "$BATS_TEST_TMPDIR/mirror/erlang_$DEFAULT_OTP.0.orig.tar.xz" "$BATS_TEST_TMPDIR/kept"
    printf 'X' | dd of="$BATS_TEST_TMPDIR/mirror/erlang_$DEFAULT_OTP.0.orig.tar.xz" bs=1 seek=40 conv=notrunc status=none
    no_source "Hash Sum mismatch"
    cp "$BATS_TEST_TMPDIR/kept" "$BATS_TEST_TMPDIR/mirror/erlang_$DEFAULT_OTP.0.orig.tar.xz"
    run "$COPY/build.sh" otp
    ends 1 "Configuring OTP $DEFAULT_OTP.0 failed"
    [[ $output == *"Fetching OTP $DEFAULT_OTP from Debian"*": done"* ]]
    gpgconf --homedir "$KEYS" --kill all
}

# toy_base: a base build whose emulator is one C file; planted NAME CODE: a variant whose patch replaces its code.
toy_base() {
    BASE=$BATS_TEST_TMPDIR/base
    mkdir -p "$BASE"/pristine/{erts/emulator/asmjit,make} "$BASE/tree/bin/toy"
    touch "$BASE/pristine/erts/emulator/asmjit/asmjit.h"
    echo "int answer(void) { return 41; }" >"$BASE/pristine/erts/answer.c"
    printf 'opt:\n\tcc -c -o "$(ERL_TOP)/bin/toy/beam.smp" ../answer.c\n' >"$BASE/pristine/erts/emulator/Makefile"
    find "$COPY/otp_patches" -name '*.patch' -delete
    rm "$COPY/otp_patches/variants"
    export BASE COPY
}

planted() {
    printf '%s\n' "--- a/erts/answer.c" "+++ b/erts/answer.c" "@@ -1 +1 @@" \
        "-$(cat "$BASE/pristine/erts/answer.c")" "+$2" >"$COPY/otp_patches/$1.patch"
    echo "$1 | $1.patch | | planted" >>"$COPY/otp_patches/variants"
}

# build_variant NAME: builds only its emulator, as otp.sh does.
build_variant() {
    run bash -c 'set -euo pipefail
        for part in scripts/lib/common scripts/otp_source scripts/otp_base scripts/otp_emulator; do source "$COPY/$part.bash"; done
        source "$COPY/otp_patches/variants.sh"
        open_log; lock_cache; build_emulator "$1" jit' otp "$1"
}

@test "a patch with an error in its code, or for other code, stops the build, and no emulator of it is kept" {
    copy
    toy_base
    planted sound "int answer(void) { return 42; }"
    planted broken "int answer(void) { return 42 }"
    echo "int answer(void) { return 43; }" >"$BASE/pristine/erts/answer.c"
    planted other "int answer(void) { return 44; }"
    echo "int answer(void) { return 41; }" >"$BASE/pristine/erts/answer.c"
    for name in broken other; do
        build_variant "$name"
        ends 1 "Building the emulator of $name (jit) failed; the whole log is"
        [ ! -e "$ERTSLAB_CACHE/emulators" ]
    done
    build_variant sound
    ends 0 "Building the emulator of sound (jit): done"
    [ "$(find "$ERTSLAB_CACHE/emulators" -type f | wc -l)" -eq 1 ]
}

# children PID: all its descendants.
children() {
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        children "$child"
    done
}

# compare_in_background: compares into $OUT, returns after three runs, and sets COMPARE_PID.
compare_in_background() {
    "$TOP/ertslab" compare "${SMALL[@]}" --out "$OUT" >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
    COMPARE_PID=$!
    await grep '"type":"end".*"run":3[,}]\|"run":3,.*"type":"end"' "$OUT/samples.jsonl"
}

@test "a comparison that is killed leaves no VM behind" {
    compare_in_background
    mapfile -t left < <(children "$COMPARE_PID")
    [ "${#left[@]}" -ge 2 ]
    kill -KILL "${left[0]}"
    wait "$COMPARE_PID" || true
    for pid in "${left[@]}"; do
        await gone "$pid"
    done
}

@test "two comparisons do not get into one folder, not even by force, and the first one ends well" {
    compare_in_background
    mapfile -t first < <(children "$COMPARE_PID")
    kill -STOP "${first[@]}" # so that it is there still, however fast it is
    ertslab compare "${SMALL[@]}" --out "$OUT"
    refused 1 "another ertslab is measuring into $OUT; wait for its end, or choose another --out."
    ertslab compare "${SMALL[@]}" --out "$OUT" --force
    refused 1 "another ertslab is measuring into $OUT"
    kill -CONT "${first[@]}"
    wait "$COMPARE_PID"
    [ "$(runs_in "$OUT")" -eq 12 ]
    [ -s "$OUT/summary.json" ]
}

@test "a comparison beside another one, or whatever works, is refused by the look at the machine" {
    while :; do :; done 3>&- &
    busy=$!
    ertslab compare hibernate --vm stock,stock_copy --param cells=1001 --param value_words=3 --pairs 12 --out "$OUT"
    kill "$busy"
    refused 1 "this machine is not fit to measure on now: "
    [[ $output == *"other programs use "*" % of a core"* ]]
    [ -z "$(ls "$OUT")" ]
}

# stepping_clock: a library that sets the system time an hour ahead 0.7 s after the start.
stepping_clock() {
    cc -shared -fPIC -o "$BATS_TEST_TMPDIR/step.so" -x c - <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    static double first;
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    double seconds = now->tv_sec + now->tv_nsec / 1e9;
    if (clock != CLOCK_REALTIME)
        return result;
    if (!first)
        first = seconds;
    if (seconds > first + 0.7)
        now->tv_sec += 3600;
    return result;
}
C
}

@test "a step of the clock changes no time that is measured" {
    stepping_clock
    run "$TOP/ertslab" erl --vm stock -- -noinput -eval '
        {ok, VM} = ertslab_vm:start(ertslab_inventory:find(~"stock", hd(ertslab_inventory:releases())), [],
                                    [{"LD_PRELOAD", os:getenv("BATS_TEST_TMPDIR") ++ "/step.so"}]),
        Call = fun(M, F, A) -> {ok, Value} = ertslab_vm:call(VM, M, F, A, 5000), Value end,
        timer:sleep(2000),
        Ahead = (Call(os, system_time, [second]) - os:system_time(second)) div 60,
        io:format("~b minutes ahead, ~s~n", [Ahead, Call(erlang, system_info, [time_warp_mode])]),
        ertslab_vm:stop(VM), halt().'
    # In the other modes Erlang's time is corrected gradually.
    [[ $output =~ ^(59|60)\ minutes\ ahead,\ multi_time_warp$ ]] || { echo "$output"; return 1; }
}

# checkout FOLDER: a copy of this checkout, with links to what is built.
checkout() {
    mkdir -p "$1/build"
    cp -al "$DEFAULT_ROOT" "$TOP/build/erl" "$1/build/" 2>/dev/null || cp -a "$DEFAULT_ROOT" "$TOP/build/erl" "$1/build/"
    cp -r "$TOP/ertslab" "$TOP/build.sh" "$TOP/scripts" "$TOP/otp_patches" "$1/"
}

@test "a manifest that is damaged, or of something else, is named with what mends it" {
    checkout "$BATS_TEST_TMPDIR/copy"
    manifest=$BATS_TEST_TMPDIR/copy/build/otp-$DEFAULT_OTP/manifest.json
    half=$(head -c 3000 "$manifest")
    rm "$manifest"
    echo "$half" >"$manifest"
    for words in list "compare ${COUNTED[*]}"; do
        # shellcheck disable=SC2086  # a word each
        run "$BATS_TEST_TMPDIR/copy/ertslab" $words
        refused 1 "$manifest is damaged; remove it, and './build.sh otp --otp $DEFAULT_OTP' writes it anew."
    done
    for text in "{}" "$half"; do
        echo "$text" >"$manifest"
        run "$BATS_TEST_TMPDIR/copy/build.sh" verify
        refused 1 "$manifest is damaged; remove it"
    done
}

@test "a path with blanks and umlauts will do, with LANG=C" {
    place="$BATS_TEST_TMPDIR/a ü b"
    checkout "$place"
    export LC_ALL=C LANG=C
    run "$place/ertslab" compare "${SMALL[@]}" --out "$place/o ö"
    ends 0 "length_hibernated"
    [[ $output == *"$place/o ö"* && $output != *"No picture"* ]]
    [ -s "$place/o ö/plot.svg" ]
    run "$place/ertslab" report "$place/o ö" --format markdown
    ends 0 "| length_hibernated |"
    run "$place/build.sh" verify
    ends 0 "emulators are what the manifest says"
}

@test "a cache with blanks in its path, or not from the root on, is refused before anything is made" {
    for place in "$BATS_TEST_TMPDIR/a b" cache; do
        cd "$BATS_TEST_TMPDIR"
        ERTSLAB_LOCKED='' ERTSLAB_CACHE=$place run "$TOP/build.sh" otp
        refused 1 "cannot be built in '$place'"
        [ ! -e "$place" ]
    done
}

# as_nobody COMMAND...
as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"; }

@test "who is not root measures, and is told what he may not write or read" {
    ((EUID == 0)) || skip "this is not root, so all other tests say it"
    as_nobody test -r "$DEFAULT_ROOT/manifest.json" 2>/dev/null || skip "others may not read this checkout"
    OUT=$(mktemp -d)
    chown 65534:65534 "$OUT"
    run as_nobody "$TOP/ertslab" list
    ends 0 "hibernate"
    run as_nobody "$TOP/ertslab" compare "${COUNTED[@]}" --out "$OUT/results"
    ends 0 "distance_hibernated"
    run as_nobody "$TOP/ertslab" compare "${COUNTED[@]}" --out /ertslab_may_not
    refused 1 "cannot write /ertslab_may_not: permission denied"
    run as_nobody "$TOP/build.sh" erl
    refused 1 "cannot write to $TOP/build/log"
    chmod 000 "$OUT/results/summary.json" "$OUT/results/samples.jsonl"
    run as_nobody "$TOP/ertslab" report "$OUT/results"
    refused 1 "cannot read $OUT/results/summary.json: permission denied."
    checkout "$BATS_TEST_TMPDIR/copy"
    cp --remove-destination "$DEFAULT_ROOT/manifest.json" "$BATS_TEST_TMPDIR/copy/build/otp-$DEFAULT_OTP/"
    chmod 000 "$BATS_TEST_TMPDIR/copy/build/otp-$DEFAULT_OTP/manifest.json"
    chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
    run as_nobody "$BATS_TEST_TMPDIR/copy/ertslab" list
    rm -r "$OUT"
    refused 1 "cannot read $BATS_TEST_TMPDIR/copy/build/otp-$DEFAULT_OTP/manifest.json: permission denied."
}

@test "without HOME the account's own is taken, and never a place that others can write" {
    cache() { env -u ERTSLAB_CACHE -u XDG_CACHE_HOME "$@" bash -c 'source "$TOP/scripts/lib/common.bash" && echo "$CACHE"'; }
    own=$(getent passwd "$(id -u)" | cut -d: -f6)
    [ -n "$own" ] || skip "this account has no home"
    [ "$(cache -u HOME)" = "$own/.cache/ertslab" ]
    [ "$(cache HOME=)" = "$own/.cache/ertslab" ]
    [ "$(cache HOME=/there)" = "/there/.cache/ertslab" ]
    [ "$(cache -u HOME ERTSLAB_CACHE=/here)" = "/here" ]
    run env -u HOME "$TOP/ertslab" compare "${COUNTED[@]}" --out "$OUT"
    ends 0 "distance_hibernated"
    run env -u HOME "$TOP/build.sh" erl
    ends 0 "Compiling the Erlang applications: done"
}
