#!/usr/bin/env bats
# Revisions of a git repository of OTP: which are built how, comparisons of them, and refusals.

load lib/common
load lib/history

setup_file() {
    # The archive of the default release, so that the first commit needs no base build of its own.
    local cache=${ERTSLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ertslab} sha
    read -r _ sha <"$cache/sources/$DEFAULT_OTP.current"
    export REPOSITORY=$BATS_FILE_TMPDIR/otp
    planted_history "$REPOSITORY" "$cache/sources/$sha/otp.tar" 3 3 2
    # A root that the checkout had before is kept.
    ROOT_OF_TEST=$TOP/build/revisions/$(git -C "$REPOSITORY" rev-parse main~3 | cut -c 1-10)
    export ROOT_OF_TEST
    [ ! -e "$ROOT_OF_TEST" ] || unset ROOT_OF_TEST
}

teardown_file() { [ -z "${ROOT_OF_TEST-}" ] || rm -rf "$ROOT_OF_TEST"; }

setup() { OUT=$BATS_TEST_TMPDIR/out; }

build() { run "$TOP/build.sh" otp --git "$REPOSITORY" "$@"; }

@test "revisions are built beside the first, and one that does not build is named" {
    build --rev main~3 --rev main~1 --rev main --rev main+prefetch
    ends 1 "not built: main~1"
    [[ $output != *"Building OTP"* ]] || { echo "a base of its own: $output"; return 1; }
    ertslab compare estone --vm "git:$REPOSITORY@main~3,git:$REPOSITORY@main,git:$REPOSITORY@main+prefetch" \
        --param theme=lists --param percent=1 --quick --accept-host --out "$OUT"
    ends 0 "main~3 again"
    [[ $output == *"main+prefetch"* ]]
    ertslab compare length --vm "git:$REPOSITORY@main~1,git:$REPOSITORY@main" --quick --out "$OUT-2"
    refused 1 "is not built; './build.sh otp --git $REPOSITORY --rev main~1' builds it."
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
    ertslab follow estone --git "$REPOSITORY" --good main~3 --bad main --every 3 --param theme=lists --param percent=1 --quick \
        --accept-host --out "$OUT"
    ends 0 "history.svg"
    [ "$(grep -c ^2026 "$OUT/follow.csv")" -eq 1 ]
}

@test "what is no repository, no revision and no OTP is refused in a sentence" {
    build --rev nothing
    refused 2 "has no such revision"
    build
    refused 2 "--git wants --rev"
    run "$TOP/build.sh" otp --rev main
    refused 2 "--rev wants --git"
    run "$TOP/build.sh" otp --git "$BATS_TEST_TMPDIR" --rev main
    refused 2 "there is no git repository"
    git -C "$BATS_TEST_TMPDIR" init -q -b main
    history_commit "$BATS_TEST_TMPDIR" none 2>/dev/null || true
    echo one >"$BATS_TEST_TMPDIR/one"
    history_commit "$BATS_TEST_TMPDIR" one
    run "$TOP/build.sh" otp --git "$BATS_TEST_TMPDIR" --rev main
    ends 1 "is no revision of Erlang/OTP"
    ertslab bisect length --git "$REPOSITORY" --good main --bad main~1 --out "$OUT"
    refused 2 "does not come before"
    ertslab bisect length --git "$BATS_TEST_TMPDIR/none" --good a --bad b --out "$OUT"
    refused 2 "there is no such folder"
}

@test "what differs in more than the emulator and single modules gets a base of its own" {
    # shellcheck source=scripts/lib/common.bash
    source "$TOP/scripts/lib/common.bash"
    # shellcheck source=scripts/otp_revisions.bash
    source "$TOP/scripts/otp_revisions.bash"
    use_repository "$REPOSITORY"
    differs_little main~3 main
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
