#!/usr/bin/env bats
# Revisions of a git repository of OTP: which are built how, comparisons of them, and refusals.

load lib/common
load lib/history

setup_file() {
    # The archive of the default release, so that the first commit needs no base build of its own.
    local cache=${ERTSLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ertslab} sha
    read -r _ sha <"$cache/sources/$DEFAULT_OTP.current"
    export REPOSITORY=$BATS_FILE_TMPDIR/otp
    planted_history "$REPOSITORY" "$cache/sources/$sha/otp.tar" 2 2 1
    # A root that the checkout had before is kept.
    ROOT_OF_TEST=$TOP/build/revisions/$(git -C "$REPOSITORY" rev-parse main~2 | cut -c 1-10)
    export ROOT_OF_TEST
    [ ! -e "$ROOT_OF_TEST" ] || unset ROOT_OF_TEST
}

teardown_file() { [ -z "${ROOT_OF_TEST-}" ] || rm -rf "$ROOT_OF_TEST"; }

setup() { OUT=$BATS_TEST_TMPDIR/out; }

# in_otp_sh: defines what otp.sh does with the repository.
in_otp_sh() {
    # shellcheck source=scripts/lib/common.bash
    source "$TOP/scripts/lib/common.bash"
    # shellcheck source=scripts/otp_revisions.bash
    source "$TOP/scripts/otp_revisions.bash"
    # shellcheck source=otp_patches/variants.sh
    source "$TOP/otp_patches/variants.sh"
    use_repository "$REPOSITORY"
}

build() { run "$TOP/build.sh" otp --git "$REPOSITORY" "$@"; }

@test "revisions are built beside the first, and one that does not build is named" {
    build --rev main~2 --rev main~1 --rev main --rev main+walks
    ends 1 "not built: main~1"
    [[ $output != *"Building OTP"* ]] || { echo "a base of its own: $output"; return 1; }
    ertslab compare process_memory --vm "git:$REPOSITORY@main~2,git:$REPOSITORY@main,git:$REPOSITORY@main+walks" \
        --param processes=1000 --quick --accept-host --out "$OUT"
    ends 0 "main~2 again"
    [[ $output == *"main+walks"* ]]
    ertslab compare length --vm "git:$REPOSITORY@main~1,git:$REPOSITORY@main" --quick --out "$OUT-2"
    refused 1 "is not built; this builds it: ./build.sh otp --git $REPOSITORY --rev 'main~1'"
}

@test "a bisection that was made before is told again, and another question is refused" {
    words=(estone --git "$REPOSITORY" --good main~2 --bad main --param theme=lists --param percent=1 --quick --accept-host --out "$OUT")
    ertslab bisect "${words[@]}"
    ends 0 "2 commits"
    [[ $output == *"does not build"* ]]
    readings=$(find "$OUT" -name summary.json | wc -l)
    [ -s "$OUT/history.svg" ]
    python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["commits"]) == 2' "$OUT/bisect.json"
    ertslab bisect "${words[@]}"
    ends 0 "${lines[-2]}"
    [ "$(find "$OUT" -name summary.json | wc -l)" -eq "$readings" ]
    ertslab bisect "${words[@]/#--quick/--pairs=20}"
    ends 1 "was begun with other arguments"
}

@test "a history is followed" {
    ertslab follow estone --git "$REPOSITORY" --good main~2 --bad main --every 2 --param theme=lists --param percent=1 --quick \
        --accept-host --out "$OUT"
    ends 0 "history.svg"
    [ "$(grep -c ^2026 "$OUT/follow.csv")" -eq 1 ]
}

# One aborts when it starts, the next makes lists of 4321 elements and more too long.
@test "a commit whose VM does not start, or computes something else, is left out" {
    file=erts/emulator/beam/erl_bif_guard.c
    git -C "$REPOSITORY" checkout -q -b odd main~2
    echo '__attribute__((constructor)) static void planted(void) { abort(); }' >>"$REPOSITORY/$file"
    history_commit "$REPOSITORY" "does not start"
    git -C "$REPOSITORY" checkout -q main~2 -- "$file"
    sed -i 's/^\ti++, max_iter--;$/&\n\tif (i == 4321) { i++; }/' "$REPOSITORY/$file"
    history_commit "$REPOSITORY" "too long"
    git -C "$REPOSITORY" checkout -q main~2 -- "$file"
    echo '/* as before */' >>"$REPOSITORY/$file"
    history_commit "$REPOSITORY" "as before"
    git -C "$REPOSITORY" checkout -q main
    ertslab follow length --git "$REPOSITORY" --good main~2 --bad odd --every 1 --param cells=5000 --quick --accept-host --out "$OUT"
    ends 0 "history.svg"
    [[ $output == *"does not build"*" does not start"* && $output == *"fails the experiment"*" too long"* ]]
    [ "$(grep -c ^2026 "$OUT/follow.csv")" -eq 1 ]
    build --rev main~2 --rev odd~2
    ends 1 "not built: odd~2"
}

@test "what is no repository, no revision and no OTP is refused in a sentence" {
    build --rev nothing
    refused 2 "has no such revision"
    build
    refused 2 "--git needs --rev"
    run "$TOP/build.sh" otp --rev main
    refused 2 "--rev needs --git"
    run "$TOP/build.sh" otp --git "$BATS_TEST_TMPDIR" --rev main
    refused 2 "there is no git repository"
    git -C "$BATS_TEST_TMPDIR" init -q -b main
    history_commit "$BATS_TEST_TMPDIR" none 2>/dev/null || true
    echo one >"$BATS_TEST_TMPDIR/one"
    history_commit "$BATS_TEST_TMPDIR" one
    run "$TOP/build.sh" otp --git "$BATS_TEST_TMPDIR" --rev main
    ends 1 "is not a revision of Erlang/OTP"
}

@test "what differs in more than the emulator and single modules gets a base of its own" {
    in_otp_sh
    differs_little main~2 main
    for file in lib/compiler/src/compile.erl lib/stdlib/include/qlc.hrl erts/emulator/beam/erl_gc.c make/output.mk.in lib/kernel/src/code.erl \
        erts/etc/common/erlexec.c erts/lib_src/common/erl_printf.c \
        lib/stdlib/test/lists_SUITE.erl README.md; do
        git -C "$REPOSITORY" checkout -q -b side main
        echo "% more" >>"$REPOSITORY/$file"
        history_commit "$REPOSITORY" side
        status=0
        differs_little main side || status=$?
        case $file in
            lib/compiler/* | *.hrl | make/* | erts/etc/* | erts/lib_src/*) [ "$status" -eq 1 ] ;;
            *) [ "$status" -eq 0 ] ;;
        esac || { echo "$file: $status"; return 1; }
        git -C "$REPOSITORY" checkout -q main
        git -C "$REPOSITORY" branch -q -D side
    done
}

# It would be configured anew, and compiled as a whole. tests/cli.bats asks an emulator that was built with this option.
@test "a revision with a variant is built with the patches and the options of the variant" {
    in_otp_sh
    REVISIONS=$BATS_TEST_TMPDIR
    commit=$(commit_of main)
    declare_revision "$(commit_of main~2)" "$commit" prefetch
    grep -q "^g${commit:0:10}_prefetch | ${commit:0:10}.patch otp_patches/length-prefetch.patch | --with-length-prefetch=128 | " \
        "$REVISIONS"/*/variants
}
