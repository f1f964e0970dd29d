#!/usr/bin/env bats
# The audit: its command line, and its plugin in a project of somebody else, on
# Debian's own Erlang and rebar3.

load common

setup() {
    THEIRS=$BATS_TEST_TMPDIR/theirs
}

ertslab() { run "$TOP/ertslab" audit "$@"; }

# their_project PATTERN: a project with one module, whose receive matches that.
their_project() {
    mkdir -p "$THEIRS/src" "$THEIRS/_checkouts"
    cp -r "$TOP/erl_src/mailbox_audit" "$BATS_TEST_TMPDIR/mailbox_audit"
    ln -sfn "$BATS_TEST_TMPDIR/mailbox_audit" "$THEIRS/_checkouts/mailbox_audit"
    echo '{project_plugins, [mailbox_audit]}.' >"$THEIRS/rebar.config"
    echo '{application, theirs, [{vsn, "1"}, {applications, [kernel, stdlib]}]}.' >"$THEIRS/src/theirs.app.src"
    their_module "$1"
}

their_module() {
    printf '%s\n' '-module(theirs).' '-export([wait/1]).' "$2" 'wait(Pid) ->' \
        "    receive $1 -> ok end." >"$THEIRS/src/theirs.erl"
    # rebar3 compares whole seconds: each version is a minute newer than the one before.
    WRITTEN=$((${WRITTEN:-0} + 1))
    touch -d "$WRITTEN minutes" "$THEIRS/src/theirs.erl"
}

@test "the receives of a compiler's OTP, as text, JSON and SARIF" {
    beam=$(echo "$TOP"/build/otp-27/lib/stdlib-*/ebin/proc_lib.beam)
    ertslab "$beam"
    [ "$status" -eq 0 ]
    [[ $output == *"proc_lib:sync_start/2 (proc_lib.erl:"*") scans: all clauses match Pid"* ]]
    "$TOP/ertslab" audit --json "$beam" | python3 -m json.tool >/dev/null
    "$TOP/ertslab" audit --sarif "$beam" >"$BATS_TEST_TMPDIR/sarif"
    run python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$BATS_TEST_TMPDIR/sarif"
    [ "$output" = "2.1.0" ]
}

@test "the compiler of another release judges its own application" {
    ertslab --otp 29 --vm stock sasl
    [ "$status" -eq 0 ]
    [[ $output == *" receives in "* ]]
}

@test "a baseline lets through what it knows" {
    echo "# nothing is known" >"$BATS_TEST_TMPDIR/none"
    ertslab tools --write-baseline "$BATS_TEST_TMPDIR/all"
    [ "$status" -eq 0 ]
    ertslab tools --baseline "$BATS_TEST_TMPDIR/all"
    [ "$status" -eq 0 ]
    ertslab tools --baseline "$BATS_TEST_TMPDIR/none"
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == *"receives scan that the baseline does not know."* ]]
}

@test "calls that are timed, in the release asked for" {
    ertslab --timed --otp 29 --call 'lists:seq(1, 2)' --call 'lists:nth(1, [])'
    [ "$status" -eq 0 ]
    [[ $output == *"lists:nth(1, [])  crashed"* ]]
    [[ $output =~ lists:seq\(1,\ 2\)\ +(flat|unsure) ]]
}

@test "what is not asked for rightly is refused" {
    ertslab
    refused 2 "no target"
    ertslab --static --timed
    refused 2 "not both"
    ertslab nothing_of_that_name
    refused 2 "there is no application, file or folder 'nothing_of_that_name'"
    ertslab --timed --call 'os:cmd(os:getenv("X"))'
    refused 2 "no call with literal arguments"
    ertslab --timed nothing_of_that_name
    refused 2 "no call of the catalogue"
    ertslab --timed --page "$BATS_TEST_TMPDIR/none/page"
    [ "$status" -eq 1 ]
    [[ $output == "ertslab: cannot write "*"no such file or directory." ]]
    ertslab kernel --call 'lists:seq(1, 2)'
    refused 2 "--call goes with --timed"
}

@test "rebar3 mailbox_audit fails on what its baseline does not know" {
    their_project '{Pid, _}'
    cd "$THEIRS"
    run rebar3 mailbox_audit --write-baseline known --sarif audit.sarif
    [ "$status" -eq 0 ]
    [[ $output == *"theirs:wait/1 (theirs.erl:5) scans: all clauses match Pid"* ]]
    grep -q '"version":"2.1.0"' audit.sarif
    their_module '{Pid, _}' '% A line more.'
    run rebar3 mailbox_audit --baseline known
    [ "$status" -eq 0 ]
    their_module '{Pid, _, _}' ''
    run rebar3 mailbox_audit --baseline known
    [ "$status" -eq 1 ]
    [[ $output == *"1 receives scan that the baseline does not know"* ]]
    run rebar3 mailbox_audit --baseline nowhere
    [ "$status" -eq 1 ]
    [[ $output == *"cannot read the baseline nowhere: no such file or directory"* ]]
}
