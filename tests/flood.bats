#!/usr/bin/env bats
# A flood of a log server: its output, its counts, and how it ends. What it refuses is in ertslab_audit_SUITE.

load lib/common

setup() {
    SINK=$BATS_TEST_TMPDIR/log
}

flood() { run "$TOP/ertslab" flood "$@"; }

@test "directly or through a dam, all lines are in the file" {
    for way in direct dam; do
        flood "$way" --messages 2000 --sink "$SINK.$way"
        ends 0 "2000 of 2000 messages written (2000 lines in the file), 0 still waiting, none lost"
        [[ ${lines[1]} == *"dam queue"*"server queue"*"writes/s"* ]]
        [ "$(sort -u "$SINK.$way" | wc -l)" -eq 2000 ]
    done
}

@test "what time does not suffice for is counted as waiting, on any variant" {
    flood direct --messages 50000 --seconds 1 --otp "$NEWEST_OTP" --vm stock_copy
    ends 0 "none lost"
    [[ $output == *"stock_copy on OTP $NEWEST_OTP"* ]]
    [[ ! $output =~ " 0 still waiting" ]]
}

@test "a sink that cannot be written is one sentence" {
    flood direct --messages 10 --sink "$BATS_TEST_TMPDIR/none/log"
    ends 1 "no such file or directory"
    flood dam --messages 10 --sink /dev/full
    ends 1 "no space left on device"
    [ "${#lines[@]}" -eq 1 ]
}

# held_open FILE: whether any process has it open.
held_open() { find /proc/[0-9]*/fd -lname "$1" 2>/dev/null | grep -q .; }

# The signal goes to the whole process group, as by Ctrl-C.
@test "an interrupted flood leaves no VM" {
    env --default-signal=INT setsid "$TOP/ertslab" flood direct --messages 200000 --sink "$SINK" >"$BATS_TEST_TMPDIR/shown" 2>&1 3>&- &
    comes "$SINK"
    kill -INT -- -$!
    wait $! || true
    run grep "still waiting" "$BATS_TEST_TMPDIR/shown"
    [ "$status" -ne 0 ]
    for _ in {1..100}; do
        held_open "$SINK" || break
        sleep 0.1
    done
    run held_open "$SINK"
    [ "$status" -ne 0 ]
}
