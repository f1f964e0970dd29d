#!/usr/bin/env bats
# otp_patches/check on folders with one error each, and how far ahead a patch prefetches.

load lib/common

setup() {
    export PATCH_DIR=$BATS_TEST_TMPDIR/patches
    TREE=$BATS_TEST_TMPDIR/tree
    mkdir -p "$PATCH_DIR" "$TREE/erts"
    printf '%s\n' a b c d one two three four five six seven w x y z >"$TREE/erts/file.c"
    write_patch good.patch three THREE
    printf '%s\n' 'stock | | | as shipped' 'good | good.patch | | changed' >"$PATCH_DIR/variants"
}

# write_patch NAME OLD NEW: a complete patch that changes one line of the toy tree.
write_patch() {
    {
        printf '%s: a value\n' Description Origin Author Forwarded Last-Update
        printf '%s\n' '---' 'diff --git a/erts/file.c b/erts/file.c'
        sed "s/^$2\$/$3/" "$TREE/erts/file.c" |
            diff -u --label a/erts/file.c --label b/erts/file.c "$TREE/erts/file.c" - || true
    } >"$PATCH_DIR/$1"
}

# a_series OLD NEW: two releases, of which the second is the newest, and a series of one patch that changes a line and
# claims to be good.patch.
a_series() {
    printf '%s\n' '1 | old' '2 | new' >"$PATCH_DIR/releases"
    echo 2.1 >"$TREE/OTP_VERSION"
    mkdir -p "$PATCH_DIR/upstream"
    write_patch upstream/0001-all.patch "$1" "$2"
    echo '0001 | good.patch' >"$PATCH_DIR/upstream/series"
}

check() { run "$TOP/otp_patches/check" "$@"; }

fails_with() {
    [ "$status" -eq 1 ] || { echo "status $status: $output"; return 1; }
    [[ $output == *"$1"* ]] || { echo "no '$1' in: $output"; return 1; }
}

@test "a check that is told to end leaves no temporary folder" {
    mkdir "$BATS_TEST_TMPDIR/bin" "$BATS_TEST_TMPDIR/temporary"
    printf '#!/bin/sh\ntouch "%s/begun"\nexec sleep 300\n' "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/bin/patch"
    chmod +x "$BATS_TEST_TMPDIR/bin/patch"
    TMPDIR=$BATS_TEST_TMPDIR/temporary PATH=$BATS_TEST_TMPDIR/bin:$PATH setsid "$TOP/otp_patches/check" "$TREE" >/dev/null 2>&1 3>&- &
    comes "$BATS_TEST_TMPDIR/begun"
    kill -TERM -- "-$!"
    wait $! || true
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/temporary")" ]
}

@test "a sound folder passes" {
    check "$TREE"
    [ "$status" -eq 0 ]
    [[ $output == "1 patch and 2 variants fit together (1 source tree)." ]]
}

@test "the project's own patches pass" {
    unset PATCH_DIR
    check
    [ "$status" -eq 0 ]
}

@test "the series for upstream is held against the newest release, and no other" {
    a_series four FOUR
    sed -i s/five/gone/ "$PATCH_DIR/upstream/0001-all.patch"
    echo 1.3 >"$TREE/OTP_VERSION"
    check "$TREE"
    [ "$status" -eq 0 ]
    echo 2.1 >"$TREE/OTP_VERSION"
    check "$TREE"
    fails_with "upstream/0001-all.patch: does not apply to $TREE with zero fuzz (the series for upstream)"
}

@test "the series for upstream makes the same tree as the patches that it is said to be" {
    a_series three THREE
    check "$TREE"
    [ "$status" -eq 0 ]
    a_series three Three
    check "$TREE"
    fails_with "upstream/: the series makes another erts/file.c of $TREE than the patches of upstream/series and upstream/differences.diff do."
    [ "${#lines[@]}" -eq 1 ]
    # A file that only one of the two sides creates is a difference, too.
    a_series three THREE
    printf '%s\n' '--- /dev/null' '+++ b/erts/new.h' '@@ -0,0 +1 @@' '+/* SPDX-License-Identifier: Apache-2.0 */' >>"$PATCH_DIR/upstream/0001-all.patch"
    check "$TREE"
    fails_with "the series makes another erts/new.h"
}

@test "what the series for upstream makes otherwise on purpose wants a reason, and is all that differs" {
    a_series three Three
    differs() { printf '%s\n' "$@" '--- a/erts/file.c' '+++ b/erts/file.c' '@@ -6,3 +6,3 @@' ' two' '-THREE' '+Three' ' four' >"$PATCH_DIR/upstream/differences.diff"; }
    differs
    check "$TREE"
    fails_with "upstream/differences.diff: it gives no reason why a/erts/file.c differs."
    differs 'Reason: three is no shout.'
    sed -i 's/ two/ one/' "$PATCH_DIR/upstream/differences.diff"
    check "$TREE"
    fails_with "upstream/differences.diff: does not apply to $TREE with zero fuzz"
    differs 'Reason: three is no shout.'
    check "$TREE"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "each patch of the series for upstream is said to be one that is there" {
    a_series three THREE
    echo '0001 | other.patch' >"$PATCH_DIR/upstream/series"
    check
    fails_with "upstream/series: 0001 is said to be other.patch, which is not there."
    rm "$PATCH_DIR/upstream/series"
    check
    fails_with "upstream/series: it does not name each patch of upstream/ once, in their order."
}

@test "a patch that no variant names fails" {
    write_patch orphan.patch four FOUR
    check
    fails_with "orphan.patch: no variant names it."
}

@test "a variant that names no file fails" {
    echo 'more | nothing.patch | | x' >>"$PATCH_DIR/variants"
    check
    fails_with "more names nothing.patch, which is not there."
}

@test "a patch named twice by a variant fails" {
    echo 'more | good.patch good.patch | | x' >>"$PATCH_DIR/variants"
    check
    fails_with "more names good.patch twice."
}

# expanded NAME: the patches and then the options of a variant of the toy folder, resolved.
expanded() {
    # shellcheck source=otp_patches/variants.sh
    source "$TOP/otp_patches/variants.sh"
    variant_patches "$1"
    variant_options "$1"
}

@test "a variant is made of patches and of variants, in their order, with the options of all" {
    touch "$PATCH_DIR"/{a,b,c,d}.patch
    printf '%s\n' 'first | a.patch b.patch | --with-a | x' 'second | first c.patch | | x' \
        'all | d.patch second good | --with-b | x' >>"$PATCH_DIR/variants"
    [ "$(expanded all)" = $'d.patch a.patch b.patch c.patch good.patch\n--with-a --with-b' ]
    [ "$(expanded stock)" = "" ]
}

@test "a variant may be declared after that which is made of it" {
    printf '%s\n' 'early | late | | x' 'late | good.patch | | x' >>"$PATCH_DIR/variants"
    check "$TREE"
    [ "$status" -eq 0 ]
    [ "$(expanded early)" = good.patch ]
}

@test "a patch that comes by two ways is taken once, where it comes first" {
    touch "$PATCH_DIR"/{a,b}.patch
    printf '%s\n' 'one | good.patch a.patch | --with-a | x' 'two | b.patch a.patch | --with-a | x' 'both | one two good | | x' >>"$PATCH_DIR/variants"
    [ "$(expanded both)" = $'good.patch a.patch b.patch\n--with-a' ]
}

covering() {
    # shellcheck source=otp_patches/variants.sh
    source "$TOP/otp_patches/variants.sh"
    covering_variants
}

@test "variants that together have every patch are found, each with one that those after it do not have" {
    touch "$PATCH_DIR"/{a,b,c}.patch
    printf '%s\n' 'one | a.patch | | x' 'two | good b.patch | | x' 'both | one two | | x' 'last | c.patch | | x' >>"$PATCH_DIR/variants"
    [ "$(covering)" = $'last\nboth' ]
}

@test "a variant that is made of one that is not there fails, in one sentence" {
    printf '%s\n' 'more | good other | | x' 'most | more | | x' >>"$PATCH_DIR/variants"
    check
    fails_with "variants: more names the variant other, which is not there."
    [ "${#lines[@]}" -eq 1 ]
    run expanded nobody
    [ "${lines[0]}" = "there is no variant nobody." ]
}

@test "a variant that is made of itself fails, and the way round is told in one sentence" {
    printf '%s\n' 'a | good b | | x' 'b | c | | x' 'c | a | | x' 'd | a | | x' >>"$PATCH_DIR/variants"
    check
    fails_with "variants: a is made of itself (a, b, c, a)."
    [ "${#lines[@]}" -eq 1 ]
    echo 'self | self | | x' >"$PATCH_DIR/variants"
    check
    fails_with "variants: self is made of itself (self, self)."
}

@test "two patches with the same contents fail" {
    cp "$PATCH_DIR/good.patch" "$PATCH_DIR/twin.patch"
    echo 'more | twin.patch | | x' >>"$PATCH_DIR/variants"
    check
    fails_with "the same as"
}

@test "a variant declared twice fails" {
    echo 'good | | | x' >>"$PATCH_DIR/variants"
    check
    fails_with "'good' is declared twice."
}

@test "a name that erlexec could not bear fails" {
    echo 'a_name_that_is_much_too_long | | | x' >>"$PATCH_DIR/variants"
    check
    fails_with "is not a name for a variant"
}

@test "a missing header field fails" {
    sed -i '/^Origin/d' "$PATCH_DIR/good.patch"
    check
    fails_with "good.patch: its header has no field Origin."
}

@test "a patch that is a header alone fails" {
    sed -i '/^--- /,$d' "$PATCH_DIR/good.patch"
    check
    fails_with "good.patch: it has no diff, so it would change nothing."
}

@test "a field that only the diff has does not count" {
    sed -i -e '/^Author/d' -e 's/^+THREE/+Author: x/' "$PATCH_DIR/good.patch"
    check
    fails_with "its header has no field Author."
}

@test "a patch that needs fuzz fails" {
    sed -i 's/^five/other/' "$TREE/erts/file.c"
    check "$TREE"
    fails_with "good.patch: does not apply"
}

@test "a patch for a file that is not there fails" {
    rm "$TREE/erts/file.c"
    check "$TREE"
    fails_with "good.patch: does not apply"
}

# write_library_patch NAME FILE: a patch that adds a line to a file of the toy tree.
write_library_patch() {
    mkdir -p "$TREE/$(dirname "$2")"
    printf '%s\n' one two three >"$TREE/$2"
    {
        printf '%s: a value\n' Description Origin Author Forwarded Last-Update
        printf '%s\n' '---' "--- a/$2" "+++ b/$2" '@@ -1,3 +1,4 @@' ' one' '+more' ' two' ' three'
    } >"$PATCH_DIR/$1"
    echo "library | $1 | | x" >>"$PATCH_DIR/variants"
}

@test "a patch may change modules and tests of OTP's libraries" {
    write_library_patch module.patch lib/stdlib/src/a.erl
    check "$TREE"
    [ "$status" -eq 0 ]
    write_library_patch suite.patch lib/kernel/test/a_SUITE.erl
    sed -i 's/^library | suite/suite | suite/' "$PATCH_DIR/variants"
    check "$TREE"
    [ "$status" -eq 0 ]
}

@test "a patch for a file that no variant can have fails" {
    for file in lib/stdlib/include/a.hrl lib/stdlib/src/a.hrl make/a.mk; do
        write_library_patch other.patch "$file"
        check "$TREE"
        fails_with "other.patch: it changes $file, but a variant can only change"
        sed -i '$d' "$PATCH_DIR/variants"
    done
}

@test "a new file without a licence fails" {
    new() { printf '%s\n' '--- /dev/null' '+++ b/erts/new.h' "@@ -0,0 +1,$# @@" "${@/#/+}" >>"$PATCH_DIR/good.patch"; }
    new 'int x;'
    check
    fails_with "good.patch: it makes erts/new.h, whose text has no line 'SPDX-License-Identifier:'."
    write_patch good.patch three THREE
    new '/* SPDX-License-Identifier: Apache-2.0 */' 'int x;'
    check "$TREE"
    [ "$status" -eq 0 ]
}

@test "an offset is fine" {
    sed -i '1i zero' "$TREE/erts/file.c"
    check "$TREE"
    [ "$status" -eq 0 ]
}

@test "patches are tried in their order, one upon the other" {
    write_patch first.patch six SIX
    cp "$TREE/erts/file.c" "$BATS_TEST_TMPDIR/kept"
    sed -i 's/^six/SIX/' "$TREE/erts/file.c"
    write_patch second.patch seven SEVEN
    cp "$BATS_TEST_TMPDIR/kept" "$TREE/erts/file.c"
    echo 'both | first.patch second.patch | | x' >>"$PATCH_DIR/variants"
    check "$TREE"
    [ "$status" -eq 0 ]
    sed -i 's/first.patch second.patch/second.patch first.patch/' "$PATCH_DIR/variants"
    check "$TREE"
    fails_with "second.patch: does not apply"
}

@test "a folder that is no tree is a misuse" {
    check "$BATS_TEST_TMPDIR"
    [ "$status" -eq 2 ]
}

@test "--help answers" {
    check --help
    [ "$status" -eq 0 ]
    [[ $output == Usage:* ]]
}

# The slowdown of known size that serves as a test of the measuring method (doc/method.md).
@test "the planted slowdown fits every release" {
    local complete trees=()
    for complete in "${ERTSLAB_CACHE:-$HOME/.cache/ertslab}"/otp/*/complete; do
        mkdir -p "$BATS_TEST_TMPDIR/${complete%/complete}"
        ln -s "${complete%/complete}/pristine/erts" "$BATS_TEST_TMPDIR/${complete%/complete}/erts"
        trees+=("$BATS_TEST_TMPDIR/${complete%/complete}")
    done
    [ "${#trees[@]}" -ge 1 ]
    rm "$PATCH_DIR"/*
    cp "$TOP"/tests/planted/planted-sweep.patch "$PATCH_DIR"
    { echo 'stock | | | as shipped'; cat "$TOP/tests/planted/variants"; } >"$PATCH_DIR/variants"
    check "${trees[@]}"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

# prefetches PATCH: compiles the prefetching function of the receive's scan, and runs it on messages at all distances.
# Fails if an address is further away than 64 distances of 32 KB, or if messages lie at a distance that fits 16 bits
# and it is not the address of the message 64 ahead.
prefetches() {
    {
        cat <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef uintptr_t UWord;
typedef intptr_t Sint;
typedef int16_t Sint16;
typedef struct { UWord links[4]; struct { UWord mem[1]; } hfrag; } ErtsMessage;
static UWord asked[2];
static int times;
static void ask(const void *address) { asked[times++ % 2] = (UWord) address; }
#define ERTS_GLB_INLINE static
#define ERTS_AT_LEAST_GCC_VSN__(A, B, C) 1
#define __builtin_prefetch ask
C
        sed -n '/^+#define ERTS_MSGQ_PREFETCH_MESSAGES/,/^+}/ s/^+//p' "$1"
        cat <<'C'
int main(void)
{
    const UWord next = (UWord) 1 << 45;
    int shift, sign;

    for (shift = 4; shift < 44; shift++) {
        for (sign = -1; sign <= 1; sign += 2) {
            Sint distance = sign * ((Sint) 1 << shift) + 16 * sign;
            Sint ahead;

            erts_msgq_prefetch_ahead__((ErtsMessage *) (next - distance), (ErtsMessage *) next);
            ahead = (Sint) (asked[0] - next);
            if (labs(ahead) > 64 * 32768 || (labs(distance) < 32768 && ahead != 64 * distance)) {
                printf("%ld bytes apart: %ld ahead\n", (long) distance, (long) ahead);
                return 1;
            }
        }
    }
    return times == 160 ? 0 : 2;
}
C
    } >"$BATS_TEST_TMPDIR/ahead.c"
    gcc -Wall -Werror -o "$BATS_TEST_TMPDIR/ahead" "$BATS_TEST_TMPDIR/ahead.c" && "$BATS_TEST_TMPDIR/ahead"
}

@test "the receive's scan prefetches near the messages that it goes by, however far apart they lie" {
    patch=$TOP/otp_patches/mailbox/receive-scan-prefetch.patch
    run prefetches "$patch"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    sed 's/(Sint16) //' "$patch" >"$BATS_TEST_TMPDIR/unbound.patch"
    run prefetches "$BATS_TEST_TMPDIR/unbound.patch"
    [ "$status" -eq 1 ]
    [[ $output == "32784 bytes apart: "* || $output == "-32784 bytes apart: "* ]]
}

# a_variant_of_two: the variant 'two' changes the same file by two patches and makes another.
a_variant_of_two() {
    write_patch second.patch three THREE
    sed -i 's/^-three/-THREE/; s/^+THREE/+3/; s/^ a$/ a/' "$PATCH_DIR/second.patch"
    printf '%s\n' '--- /dev/null' '+++ b/erts/made.h' '@@ -0,0 +1 @@' '+made' >>"$PATCH_DIR/second.patch"
    echo 'two | good second.patch | | changed twice' >>"$PATCH_DIR/variants"
    echo "$(default_release).1" >"$TREE/OTP_VERSION"
    export ERTSLAB_CACHE=$BATS_TEST_TMPDIR/cache
}

@test "a patchset applies to the sources and gives what the patches give" {
    a_variant_of_two
    "$TOP/scripts/patchset.sh" --vm two --source "$TREE" >"$BATS_TEST_TMPDIR/patchset" 2>"$BATS_TEST_TMPDIR/said"
    patch -d "$TREE" -p1 -F0 <"$BATS_TEST_TMPDIR/patchset"
    [ "$(sed -n 7p "$TREE/erts/file.c")" = 3 ]
    [ "$(cat "$TREE/erts/made.h")" = made ]
    [ "$(find "$TREE" -type f | wc -l)" -eq 3 ]
}

@test "a patchset for sources that the patches do not fit is refused, and so is a variant without patches" {
    a_variant_of_two
    sed -i s/five/gone/ "$TREE/erts/file.c"
    run "$TOP/scripts/patchset.sh" --vm two --source "$TREE"
    fails_with "good.patch does not apply to OTP $(default_release).1"
    run "$TOP/scripts/patchset.sh" --vm stock --source "$TREE"
    [ "$status" -eq 2 ]
    [[ $output == *"the variant stock has no patches"* ]]
}
