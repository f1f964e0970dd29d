#!/usr/bin/env bats
# The audit: other releases, live nodes, what a shell sees, and its plugin in another project, on Debian's own Erlang and rebar3.
# What is asked for wrongly and what baselines let through is in ertslab_audit_SUITE.

load lib/common

setup() {
    THEIRS=$BATS_TEST_TMPDIR/theirs
}

teardown() {
    [ -z "${NODE:-}" ] || kill "$NODE"
}

# compiled OTP MODULE [OPTION...]: compiles a module with one scanning receive into the folder ebin, with that OTP.
compiled() {
    mkdir -p "$BATS_TEST_TMPDIR/ebin"
    printf '%s\n' "-module($2)." '-export([start/0, wait/1]).' \
        'start() -> register(?MODULE, spawn(fun() -> [self() ! {other, N} || N <- lists:seq(1, 20000)], wait(self()) end)).' \
        'wait(Pid) -> receive {Pid, _} -> ok after 5 -> wait(Pid) end.' >"$BATS_TEST_TMPDIR/$2.erl"
    "$TOP/build/otp-$1/bin/erlc" "${@:3}" -o "$BATS_TEST_TMPDIR/ebin" "$BATS_TEST_TMPDIR/$2.erl"
}

# newest_modules: some modules of the newest release, with receives, and with code that older compilers do not understand.
newest_modules() {
    mkdir "$BATS_TEST_TMPDIR/newest"
    cp "$NEWEST_ROOT"/lib/stdlib-*/ebin/{dets,gen,proc_lib,timer}.beam "$BATS_TEST_TMPDIR/newest"
    echo "$BATS_TEST_TMPDIR/newest"
}

# node OTP MODULE: starts a node that runs that module; sets NAME.
node() {
    NAME=audit$$_$BATS_TEST_NUMBER@127.0.0.1
    "$TOP/build/otp-$1/bin/erl" -noinput -name "$NAME" -setcookie audit -pa "$BATS_TEST_TMPDIR/ebin" \
        -eval "true = $2:start(), ok = file:write_file(\"$BATS_TEST_TMPDIR/ready\", \"\")" 3>&- >"$BATS_TEST_TMPDIR/node.log" 2>&1 &
    NODE=$!
    comes "$BATS_TEST_TMPDIR/ready" || { cat "$BATS_TEST_TMPDIR/node.log"; return 1; }
}

ertslab() { run "$TOP/ertslab" audit "$@"; }

# their_project PATTERN: a project with one module, whose receive matches PATTERN.
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
    # rebar3 compares whole seconds, so each version is a minute newer than the previous one.
    WRITTEN=$((${WRITTEN:-0} + 1))
    touch -d "$WRITTEN minutes" "$THEIRS/src/theirs.erl"
}

@test "the receives of a compiler's OTP, as text, JSON and SARIF" {
    beam=$(echo "$DEFAULT_ROOT"/lib/stdlib-*/ebin/proc_lib.beam)
    ertslab "$beam"
    [ "$status" -eq 0 ]
    [[ $output == *"proc_lib:sync_start/2 (proc_lib.erl:"*") scans: all clauses match Pid"* ]]
    "$TOP/ertslab" audit --json "$beam" | python3 -m json.tool >/dev/null
    "$TOP/ertslab" audit --sarif "$beam" >"$BATS_TEST_TMPDIR/sarif"
    run python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["version"])' "$BATS_TEST_TMPDIR/sarif"
    [ "$output" = "2.1.0" ]
}

@test "the compiler of another release judges its own application" {
    ertslab --otp "$NEWEST_OTP" --vm stock sasl
    [ "$status" -eq 0 ]
    [[ $output == *" receives in "* ]]
}

@test "modules of a newer release are judged by a VM of that, and by an older one as far as it knows their code" {
    need_two_releases
    compiled "$NEWEST_OTP" newer +debug_info
    ertslab "$BATS_TEST_TMPDIR/ebin"
    ends 0 "newer:wait/1 (newer.erl:4) scans"
    ertslab --otp "$DEFAULT_OTP" "$BATS_TEST_TMPDIR/ebin"
    ends 0 "newer:wait/1 (newer.erl:4) scans"
    ertslab "$NEWEST_ROOT"/lib/{kernel,stdlib}-*/ebin
    ends 0 " receives in "
    library=$(newest_modules)
    ertslab "$library"
    ends 0 " receives in "
    by_default=$output
    ertslab --otp "$NEWEST_OTP" "$library"
    [ "$output" = "$by_default" ]
    ertslab --otp "$DEFAULT_OTP" "$library"
    ends 0 "whose code the compiler of OTP $DEFAULT_OTP does not understand; audit it on that release (./ertslab audit --otp $NEWEST_OTP)"
}

@test "an Erlang on the PATH judges what none that is built can" {
    need_two_releases
    # A checkout with only one release. A VM runs only from its real path, so links would not work.
    mkdir -p "$BATS_TEST_TMPDIR/top/build"
    cp "$TOP/ertslab" "$BATS_TEST_TMPDIR/top"
    ln -s "$TOP/build/erl" "$BATS_TEST_TMPDIR/top/build"
    cp -al "$DEFAULT_ROOT" "$BATS_TEST_TMPDIR/top/build" || cp -a "$DEFAULT_ROOT" "$BATS_TEST_TMPDIR/top/build"
    library=$(newest_modules)
    run "$BATS_TEST_TMPDIR/top/ertslab" audit "$library"
    ends 0 "audit it on that release (./ertslab audit --otp $NEWEST_OTP)"
    PATH=$NEWEST_ROOT/bin:$PATH run "$BATS_TEST_TMPDIR/top/ertslab" audit "$library"
    ends 0 " receives in "
    [[ $output != *"Not judged"* ]]
}

@test "a node of a newer release: its modules, and the receive that it goes through" {
    compiled "$NEWEST_OTP" of_node +debug_info
    node "$NEWEST_OTP" of_node
    ertslab --node "$NAME" --cookie audit
    ends 0 "of_node:wait/1 (of_node.erl:4) scans"
    [[ $output == "2 receives in 1 module"* || $output == "1 receive in 1 module"* ]]
    run "$TOP/ertslab" diagnose --node "$NAME" --cookie audit
    ends 3 "of_node:wait/1 (of_node.erl:4) scans"
    [[ $output != *"The receives of"* ]]
}

@test "what is not judged fails a baseline on standard error, and findings are on standard output" {
    compiled "$DEFAULT_OTP" bare
    compiled "$DEFAULT_OTP" whole +debug_info
    ertslab "$BATS_TEST_TMPDIR/ebin" --write-baseline "$BATS_TEST_TMPDIR/known"
    [ "$status" -eq 0 ]
    [ "${lines[-1]}" = "Only a part was judged: 1 of 2 modules was not." ]
    status=0
    "$TOP/ertslab" audit "$BATS_TEST_TMPDIR/ebin" --baseline "$BATS_TEST_TMPDIR/known" >"$BATS_TEST_TMPDIR/said" 2>"$BATS_TEST_TMPDIR/errors" || status=$?
    [ "$status" -eq 1 ]
    [ "$(cat "$BATS_TEST_TMPDIR/errors")" = "ertslab: only a part was judged: 1 of 2 modules was not." ]
    grep -q "bare" "$BATS_TEST_TMPDIR/said"
    ertslab $'\377'
    refused 2 "not valid UTF-8"
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
    [[ $output == *"1 receive in 1 module, 1 scan; 1 in the baseline"* ]] || { echo "$output"; return 1; }
    their_module '{Pid, _, _}' ''
    run rebar3 mailbox_audit --baseline known
    [ "$status" -eq 1 ]
    [[ $output == *"1 scanning receive is not in the baseline"* ]]
    run rebar3 mailbox_audit known
    [ "$status" -eq 1 ] || { echo "$status $output"; return 1; }
    [[ $output == *"'known' is not an option"* ]] || { echo "$output"; return 1; }
    run rebar3 mailbox_audit --baseline nowhere
    [ "$status" -eq 1 ]
    [[ $output == *"theirs:wait/1"*"cannot read the baseline nowhere: no such file or directory"* ]]
    run rebar3 mailbox_audit --baseline known --write-baseline known
    [ "$status" -eq 1 ]
    [[ $output == *"--baseline or --write-baseline, not both"* ]]
    echo '{project_plugins, [mailbox_audit]}. {erl_opts, [no_debug_info]}.' >rebar.config
    run rebar3 mailbox_audit --baseline known
    [ "$status" -eq 1 ]
    [[ $output == *"nothing was judged of 1 module"* ]] || { echo "$output"; return 1; }
}
