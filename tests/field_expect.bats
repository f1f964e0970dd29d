#!/usr/bin/env bats
# How a field case is judged (tests/field/lib/expect.bash), with a tool that says and ends as it is told, and without nodes.
#
# Words in single quotes are for another shell.
# shellcheck disable=SC2016

load lib/common

# judged STATUS SAID LINE...: what is wrong with a case that expects these lines, if the tool says that and ends so.
judged() {
    export WORK=$BATS_TEST_TMPDIR STATUS=$1 SAID_BY_TOOL=$2
    printf '#!/bin/sh\necho "$SAID_BY_TOOL"\nexit "$STATUS"\n' >"$WORK/ertslab"
    chmod +x "$WORK/ertslab"
    printf '%s\n' "${@:3}" >"$WORK/expected"
    : >"$WORK/wrong"
    run bash -c 'set -euo pipefail
        FIELD=$TOP/tests/field HERE=$WORK TOP=$WORK BIN=/bin NODE=n@h COOKIE=secret once=no TOOL_PID=
        source "$FIELD/lib/expect.bash"
        wrong() { printf "%s\n" "$*" >>"$WORK/wrong"; }
        expect_case
        cat "$WORK/wrong"'
}

@test "a case that is as expected has nothing wrong" {
    judged 3 '{"findings": []}' 'command diagnose' 'status 3' 'says findings' 'never secrets' 'nothing_else'
    [ "$status" -eq 0 ]
    [ -z "$output" ]
}

@test "a status that is not expected is said, and all else is looked at" {
    judged 4 '{"findings": [{"subject": {"node": "n"}, "signs": [{"kind": "other", "evidence": 1}]}]}' \
        'command diagnose' 'status 0 3' 'says something' 'finds deep_mailbox deep' 'nothing_else' 'command list' 'status 4' 'says nothing'
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [[ $output == *"ertslab diagnose --node n@h --cookie COOKIE ended with status 4, not 0 3:"* ]]
    [[ $output == *"it does not say 'something':"* ]]
    [[ $output == *"it does not find deep_mailbox of 'deep', but:"* ]]
    [[ $output == *"it finds what is not there: other of 1"* ]]
    # The next command has its turn.
    [[ $output == *"it does not say 'nothing':"* ]]
}

@test "what must never be said is a fault, by what was said" {
    judged 0 '{"findings": [], "advice": "use +S 4"}' 'command diagnose' 'status 0' 'never use [+]S [0-9]' 'never something'
    [ "$status" -eq 0 ]
    [[ $output == "it says 'use +S 4':"* ]]
}

@test "what is no JSON is said, whatever the status" {
    judged 1 'ertslab: no' 'command diagnose' 'status 0' 'nothing_else'
    [ "$status" -eq 0 ]
    [[ $output == *"ended with status 1, not 0:"*"its JSON is not as agreed:"* ]]
}
