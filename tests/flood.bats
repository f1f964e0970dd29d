#!/usr/bin/env bats
# A flood of a log server: its output, its counts, and its refusals.

load lib/common

setup() {
    SINK=$BATS_TEST_TMPDIR/log
}

flood() { run "$TOP/ertslab" flood "$@"; }

@test "flood explains itself" {
    flood --help
    ends 0 "ertslab flood"
    [[ $output == *"--messages"* && $output == *"--seconds"* && $output == *"--sink"* ]]
}

@test "directly or through a dam, all lines are in the file" {
    for way in direct dam; do
        flood "$way" --messages 2000 --sink "$SINK.$way"
        ends 0 "2000 of 2000 messages written (2000 lines in the file), 0 still waiting, none lost"
        [[ ${lines[1]} == *"dam queue"*"server queue"*"writes/s"* ]]
        [ "$(sort -u "$SINK.$way" | wc -l)" -eq 2000 ]
    done
}

@test "another driver, and a sink without lines to count" {
    flood dam --driver control --messages 200 --sink /dev/null
    ends 0 "200 of 200 messages written (by the driver's count), 0 still waiting, none lost"
}

@test "what time does not suffice for is counted as waiting, on any variant" {
    flood direct --messages 50000 --seconds 1 --otp "$NEWEST_OTP" --vm stock_copy
    ends 0 "none lost"
    [[ $output == *"stock_copy on OTP $NEWEST_OTP"* ]]
    [[ ! $output =~ " 0 still waiting" ]]
}

@test "flood speaks JSON" {
    "$TOP/ertslab" flood dam --messages 2000 --json |
        python3 -c 'import json, sys
d = json.load(sys.stdin)
assert (d["way"], d["driver"], d["messages"]) == ("dam", "async", 2000), d
assert d["written"] == d["lines"] == 2000 and d["waiting"] == d["lost"] == 0, d
assert d["looks"][-1]["writes"] == 2000 and d["alone"] > 0 and d["flooded"] > 0, d'
}

@test "flood refuses what makes no sense" {
    flood sideways
    ends 2 "choose from direct dam"
    flood direct --driver fly
    ends 2 "choose from async output tagged control"
    flood direct --messages 0
    ends 2 "messages"
    flood direct --messages 1000000000
    ends 2 "of memory"
    touch "$SINK"
    flood direct --sink "$SINK"
    ends 2 "this file is there already"
    flood direct --vm fly
    ends 2 "there is no variant 'fly'"
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
    timeout -s INT 6 "$TOP/ertslab" flood direct --messages 200000 --sink "$SINK" >"$BATS_TEST_TMPDIR/shown" || true
    [ -e "$SINK" ]
    run grep "still waiting" "$BATS_TEST_TMPDIR/shown"
    [ "$status" -ne 0 ]
    for _ in {1..100}; do
        held_open "$SINK" || break
        sleep 0.1
    done
    run held_open "$SINK"
    [ "$status" -ne 0 ]
}
