#!/usr/bin/env bats
# What only a shell sees of the command line on the built OTP: statuses, what goes to standard output and what to standard error,
# signals, and that nothing already measured is lost. What the commands say of which words is tested in erl_src/ertslab/test.

load lib/common

setup() {
    OUT=$BATS_TEST_TMPDIR/out
    SMALL=(--vm "stock,stock_copy" --param cells=1001 --param value_words=3)
}

@test "answers are on standard output, refusals on standard error" {
    for words in --help "compare --help" list "list --json" "erl --help"; do
        # shellcheck disable=SC2086  # a word each
        "$TOP/ertslab" $words >"$OUT" 2>"$OUT.err"
        [ -s "$OUT" ]
        [ ! -s "$OUT.err" ]
    done
    "$TOP/ertslab" list --json | python3 -m json.tool >/dev/null
    status=0
    "$TOP/ertslab" compare fly >"$OUT" 2>"$OUT.err" || status=$?
    [ "$status" -eq 2 ]
    [ ! -s "$OUT" ]
    grep -q "^ertslab: there is no experiment 'fly'; choose from:" "$OUT.err"
}

@test "who reads what it says may leave, and nothing is lost or left behind" {
    cd "$BATS_TEST_TMPDIR"
    "$TOP/ertslab" compare spacing --quick "${SMALL[@]}" --out "$OUT" 2>"$OUT.err" | head -n 1
    "$TOP/ertslab" compare spacing --quick "${SMALL[@]}" --out "$OUT.both" 2>&1 | head -n 1
    [[ $(cat "$OUT.err") != *defect* ]]
    [ -s "$OUT/report.html" ]
    [ ! -e erl_crash.dump ]
}

@test "a VM that does not start leaves no crash dump" {
    cd "$BATS_TEST_TMPDIR"
    run "$TOP/ertslab" compare length --quick --vm stock --flags "-kernel logger nonsense" --out "$OUT"
    [ "$status" -eq 1 ]
    [[ $output == *"did not end well"* ]]
    [ ! -e erl_crash.dump ]
}

@test "closed outputs are no failure" {
    for closed in '>&-' '2>&-' '<&- >&- 2>&-'; do
        run bash -c "\"\$@\" $closed" bash "$TOP/ertslab" compare spacing --quick "${SMALL[@]}" --out "$OUT" --force
        [ "$status" -eq 0 ]
        [ -s "$OUT/report.html" ]
        ! grep -qr "Results go to" "$OUT"
    done
}

@test "settings of the shell for other VMs do not reach the command line" {
    for variable in ERL_AFLAGS ERL_ZFLAGS ERL_FLAGS; do
        run env "$variable=-s erlang halt" "$TOP/ertslab" list
        ends 0 "hibernate"
    done
}

@test "a folder that was removed is said, and what OTP logs is not in the output" {
    mkdir "$BATS_TEST_TMPDIR/removed"
    run bash -c 'cd "$1" && rmdir "$1" && "$2" --version' - "$BATS_TEST_TMPDIR/removed" "$TOP/ertslab"
    ends 1 "the current folder was removed"
    "$TOP/ertslab" audit --help >"$OUT"
    ERL_FLAGS="-kernel logger_level info" "$TOP/ertslab" audit --help 2>"$OUT.log" | cmp - "$OUT"
    grep -q PROGRESS "$OUT.log"
}

@test "a file beyond the limit of its size is named, and what was measured is kept" {
    run bash -c 'ulimit -f 4; "$@"' bash "$TOP/ertslab" compare spacing --quick "${SMALL[@]}" --out "$OUT"
    refused 1 "file too large; what was measured before is kept"
}

@test "only what measures wants a folder for temporary files" {
    TMPDIR=$OUT ertslab list
    ends 0 "hibernate"
    TMPDIR=$OUT ertslab compare spacing "${SMALL[@]}"
    refused 1 "nothing can be written below $OUT; set TMPDIR"
}

# brief_experiment: what takes a short time to measure, as the budget is spent.
brief_experiment() {
    cat >"$BATS_TEST_TMPDIR/exp_brief.erl" <<'ERL'
-module(exp_brief).
-behaviour(ertslab_experiment).
-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "a list", shows => "what a budget buys", origin => "a test", vms => [~"stock", ~"stock_copy"], parameters => [],
      metrics => [#{name => build, doc => "a list of 1,000"}], contrasts => [], estimator => floor, rounds => metrics, run_ms => 20,
      warm_up => 1, iterations => 1, timeout_ms => 120_000}.
setup(_) -> none.
prepare(_, State) -> State.
run(build, _) -> ertslab_experiment:timed(fun() -> lists:seq(1, 1000) end).
verify(_, List, _) -> ertslab_experiment:expect(1000, length(List)).
teardown(_) -> ok.
ERL
}

# More time is given until this machine, busy as it may be, does enough in it.
@test "a budget says what it will show, and too small a one what is missing" {
    brief_experiment
    words=("$BATS_TEST_TMPDIR/exp_brief.erl" --vm "stock,stock_copy" --accept-host --out "$OUT")
    ertslab compare "${words[@]}" --budget 1s
    [ "$status" -eq 2 ]
    [[ $output == *"--budget 1s is enough for"*"at least 10"* ]]
    # On a busy machine the runs may cost more than the pilot's did.
    for _ in {1..5}; do
        [ "$status" -eq 2 ]
        budget=$(sed -n 's/.*; give \([0-9]*[smh]\) or more.*/\1/p' <<<"$output")
        ertslab compare "${words[@]}" --budget "$budget"
        [[ $output == *"is enough for"*"at least 10"* ]] || break
    done
    ends 0 "A change of build by"
    [ "$(runs_in "$OUT")" -ge 20 ]
}

@test "erl becomes the VM: its words, its status, its libraries" {
    run "$TOP/ertslab" erl --vm stock_copy -- -noinput -eval \
        '{ok, Exe} = file:read_link("/proc/self/exe"), io:format("~ts ~p~n", [filename:basename(Exe), code:which(exp_hibernate) =/= non_existing]), halt(7).'
    ends 7 "beam.stock_copy.smp true"
}

@test "what follows -- is the VM's, also where it asks for help" {
    ertslab erl --vm stock -- -noinput -eval 'io:format("a --help b"), halt().' -extra -h
    ends 0 "a --help b"
    ertslab erl --vm stock --help -- x
    ends 0 "Usage"
}

@test "words that are no text are refused" {
    ertslab compare $'\xff\xfe'
    refused 2 "not valid UTF-8"
}

@test "erl takes the modules that the patches of a variant change from there, and no others" {
    for root in "$TOP"/build/otp-[0-9]*; do
        for vm in stock tuned; do
            run "$TOP/ertslab" erl --vm "$vm" --otp "${root##*-}" -- -noinput -eval \
                'io:format("~s ~s", [code:which(proc_lib), code:which(lists)]), halt().'
            [ "$status" -eq 0 ]
            [[ $output == *"$root/lib/stdlib-"*/ebin/lists.beam ]]
            [[ $vm == stock || $output == "$root/modules/tuned/proc_lib.beam "* ]]
            [[ $vm != stock || $output == "$root/lib/stdlib-"*/ebin/proc_lib.beam\ * ]]
        done
    done
}

@test "erl of an unknown variant is refused" {
    ertslab erl --vm fly
    refused 2 "there is no variant 'fly'"
}

@test "spacing_log shows 16 bytes for a dense list and 136 after hibernation" {
    local release
    for release in $(releases); do
        ertslab erl --otp "$release" --vm spacing_log -- -noinput -eval \
            'S = exp_hibernate:setup(#{cells => 300001, value_words => 14, prefetch_distance => -1}),
             exp_hibernate:run(length_dense, S), S1 = exp_hibernate:prepare(length_hibernated, S),
             exp_hibernate:run(length_hibernated, S1), halt().'
        ends 0 "=300001 "
        [[ ${lines[0]} =~ ^gc_length_1\(0x[0-9a-f]+\)=300001\ [0-9.]+ms\ avg=16\.000\ dev=0\.000$ ]]
        [[ ${lines[1]} =~ ^gc_length_1\(0x[0-9a-f]+\)=300001\ [0-9.]+ms\ avg=136\.000\ dev=0\.000$ ]]
    done
}

@test "the prefetch distance is read and set at run time" {
    ertslab erl --vm prefetch -- -noinput -eval \
        'erts_debug:set_internal_state(available_internal_state, true),
         io:format("~p ~p ~p~n", [erts_debug:get_internal_state(length_prefetch),
                                  erts_debug:set_internal_state(length_prefetch, 8),
                                  erts_debug:get_internal_state(length_prefetch)]), halt().'
    ends 0 "128 128 8"
}

@test "what a summary holds is described, and nothing else is in it" {
    mkdir "$OUT"
    echo '{"format": 2, "other": 1}' >"$OUT/summary.json"
    run valid_summary "$OUT"
    [ "$status" -ne 0 ]
}

@test "a comparison that was killed goes on without repeating a run" {
    "$TOP/ertslab" compare hibernate --quick "${SMALL[@]}" --out "$OUT" >/dev/null 2>&1 &
    for ((i = 0; i < 600; i++)); do
        ! grep -qs '"run":3,.*"type":"run"\|"type":"run".*"run":3[,}]' "$OUT/samples.jsonl" || break
        sleep 0.05
    done
    pkill -KILL -f -- "-extra compare hibernate .*--out $OUT"
    wait || true
    before=$(runs_in "$OUT")
    [ "$before" -ge 3 ]
    [ "$before" -lt 12 ]
    [ ! -e "$OUT/summary.json" ]
    ertslab compare hibernate --quick "${SMALL[@]}" --out "$OUT"
    ends 0 "$before of them are done already"
    [ "$(grep '"type":"run"' "$OUT/samples.jsonl" | grep -oE '"run":[0-9]+' | sort | uniq -c | awk '$1 != 1' | wc -l)" -eq 0 ]
    [ "$(runs_in "$OUT")" -eq 12 ]
    [ -s "$OUT/plot.svg" ]
    valid_summary "$OUT"
}

# The caller only knows the process that it started, so signals go to that one.
@test "a comparison that is told to end ends at once, leaves no folder, and goes on" {
    export TMPDIR=$BATS_TEST_TMPDIR/scratch
    mkdir "$TMPDIR"
    for signal in TERM HUP; do
        # Under nohup the tests ignore HUP, and so would the processes that they start.
        env --default-signal="$signal" "$TOP/ertslab" compare hibernate --quick "${SMALL[@]}" --out "$OUT" >/dev/null 2>&1 &
        before=$(runs_in "$OUT")
        for ((i = 0; i < 600; i++)); do
            [ "$(runs_in "$OUT")" -lt $((before + 2)) ] || break
            sleep 0.05
        done
        kill -"$signal" $!
        status=0
        wait $! || status=$?
        [ "$status" -eq $((128 + $(kill -l "$signal"))) ]
        for ((i = 0; i < 100; i++)); do
            [ -n "$(ls "$TMPDIR")" ] || break
            sleep 0.05
        done
        [ -z "$(ls "$TMPDIR")" ]
    done
    before=$(runs_in "$OUT")
    [ "$before" -lt 12 ]
    ertslab compare hibernate --quick "${SMALL[@]}" --out "$OUT"
    ends 0 "$before of them are done already"
    [ "$(runs_in "$OUT")" -eq 12 ]
    [ "$(grep -c crashed "$OUT/samples.jsonl")" -eq 0 ]
}

@test "a sweep draws its curve" {
    ertslab sweep spacing --vm prefetch --over cells=1001,2002 --param value_words=3 --out "$OUT"
    ends 0 "cells=2002"
    [ -s "$OUT/plot.svg" ]
}

@test "an emulator that is gone is named with its remedy" {
    copy=$BATS_TEST_TMPDIR/copy
    mkdir -p "$copy/build"
    cp -al "$DEFAULT_ROOT" "$TOP/build/erl" "$copy/build/" 2>/dev/null || cp -a "$DEFAULT_ROOT" "$TOP/build/erl" "$copy/build/"
    cp "$TOP/ertslab" "$copy/"
    rm "$copy/build/otp-$DEFAULT_OTP"/erts-*/bin/beam.prefetch.smp
    run "$copy/ertslab" compare hibernate --quick --vm stock,prefetch
    ends 1 "./build.sh otp --otp $DEFAULT_OTP' builds it"
    run "$copy/ertslab" doctor
    ends 1 "the emulator is gone"
}

@test "what is counted is compared exactly, in three runs" {
    ertslab compare spacing --param cells=1001 --param value_words=14 --out "$OUT"
    ends 0 "136 bytes"
    [[ $output == *"distance_hibernated"* && $output == *"exact"* && $output == *"same"* ]]
    [ "$(runs_in "$OUT")" -eq 9 ]
    valid_summary "$OUT"
}

@test "a slope comes with its interval" {
    ertslab compare process_rss --quick --vm stock,stock_copy --param processes=10000 --out "$OUT"
    ends 0 "below 1 is less"
    [[ $output =~ rss\ +stock\ +[0-9.]+\ bytes\ \([0-9.]+\ to\ [0-9.]+\) ]]
    run python3 -c 'import json, sys
rows = json.load(open(sys.argv[1]))["cases"][0]["rows"]
print(all(row["slope"]["low"] <= row["value"] <= row["slope"]["high"] for row in rows))' "$OUT/summary.json"
    [ "$output" = True ]
    valid_summary "$OUT"
    [ "$(grep -c '"rss":[0-9]' "$OUT/samples.jsonl")" -eq 12 ]
}

# live_node [-name NODE]: starts a node with a process that has 2,000 messages, and an epmd of its own.
live_node() {
    export ERL_EPMD_PORT=$((20000 + RANDOM % 12000))
    : >"$BATS_TEST_TMPDIR/live"
    NODE=${2:-ertslab_test_$$@$(hostname -s)}
    "$DEFAULT_ROOT/bin/erl" "${1:--sname}" "$NODE" -setcookie live -noinput -eval '
        register(deep, spawn(fun() -> [self() ! N || N <- lists:seq(1, 2000)], receive stop -> ok end end)),
        io:format("up~n"), timer:sleep(300000), halt().' >"$BATS_TEST_TMPDIR/live" 2>&1 3>&- &
    LIVE=$!
    timeout 60 grep -q up <(tail -n +1 --pid="$LIVE" -f "$BATS_TEST_TMPDIR/live" 3>&-) || {
        cat "$BATS_TEST_TMPDIR/live"
        return 1
    }
}

end_live_node() {
    kill "$LIVE"
    wait "$LIVE" || true
    "$DEFAULT_ROOT/bin/epmd" -kill >/dev/null || true
}

@test "a node with a long name is reached, also from a host that knows no domain" {
    live_node -name "ertslab_test_$$@127.0.0.1"
    ertslab advise --node "$NODE" --cookie live --seconds 1 deep
    ends 0 "2000 messages wait"
    end_live_node
}

@test "try says in a sentence why a setting cannot be tried" {
    live_node
    ertslab try --node "$NODE" --cookie live '<0.x>' fullsweep_after=0
    refused 1 "this is not a process identifier of the node"
    ertslab try --node "$NODE" --cookie live deep fullsweep_after=0
    refused 1 "deep of $NODE: it is not a process of a behaviour"
    ertslab try --node "$NODE" --cookie live --for 3s logger fullsweep_after=0
    ends 1 "the process does next to nothing"
    ertslab try --node "$NODE" --cookie wrong logger fullsweep_after=0
    refused 1 "does not answer"
    end_live_node
    ertslab try --node nonsense logger fullsweep_after=0
    refused 2 "give a name such as node@host"
    ertslab try --node a@b logger fullsweep=0
    refused 2 "can be tried"
    ertslab try --node a@b logger fullsweep_after=soon
    refused 2 "an integer from 0 to 65535"
    ertslab try --node a@b logger min_heap_size=99999999999999999
    refused 2 "to 100000000 for the sizes"
    ertslab try --node a@b --for 1s logger fullsweep_after=0
    refused 2 "--for 1 s is too short for twice 12 turns"
}

# It must find the deep mailbox of the live node, and each command that it prints must run.
@test "diagnose says what is wrong with a live node, in words, in JSON and as a page" {
    live_node
    export COOKIE=live
    ertslab diagnose --node "$NODE" --cookie live --budget 5s --out "$BATS_TEST_TMPDIR/page.html"
    ends 3 "2,000 messages wait"
    [[ $output == *"> (deep)"*"2,000 messages wait"*"Mailboxes"*"Cost of the inspection"*"1 finding."* && $output != *"--cookie live"* ]]
    python3 -c 'import sys, xml.etree.ElementTree as x; x.parse(sys.argv[1])' "$BATS_TEST_TMPDIR/page.html"
    grep -q "2,000 messages wait" "$BATS_TEST_TMPDIR/page.html"
    proof=$(sed -n 's/^    Look again: //p' <<<"$output" | head -n 1)
    (cd "$TOP" && run bash -c "$proof" && ends 3 "2,000 messages wait")
    "$TOP/ertslab" diagnose --node "$NODE" --cookie live --budget 5s --json 2>/dev/null >"$BATS_TEST_TMPDIR/json" || [ $? -eq 3 ]
    run python3 -c 'import json, sys
[finding] = json.load(open(sys.argv[1]))["findings"]
[sign] = finding["signs"]
print(sorted(sign), sign["kind"], finding["subject"]["process"]["name"])' "$BATS_TEST_TMPDIR/json"
    [ "$output" = "['advice', 'evidence', 'kind', 'proof'] deep_mailbox deep" ]
    ertslab diagnose --node "nobody_$NODE" --cookie live
    refused 1 "is unknown to the epmd of its host"
    end_live_node
}

# listens NAME ANSWER...: an open port that epmd knows, but that does not speak Erlang's protocol. Python does ANSWER with each connection.
listens() {
    export ERL_EPMD_PORT=$((20000 + RANDOM % 12000))
    "$DEFAULT_ROOT/bin/epmd" -daemon
    python3 -c '
import os, socket, struct, sys, time
listening = socket.create_server(("", 0))
name, port = sys.argv[1].encode(), listening.getsockname()[1]
epmd = socket.create_connection(("127.0.0.1", int(os.environ["ERL_EPMD_PORT"])))
body = struct.pack(">BHBBHHH", 120, port, 77, 0, 6, 5, len(name)) + name + struct.pack(">H", 0)
epmd.sendall(struct.pack(">H", len(body)) + body)
epmd.recv(8)
print("up", flush=True)
connections = []
while True:
    connection, _ = listening.accept()
    connections.append(connection)
    exec(sys.argv[2])' "$1" "$2" >"$BATS_TEST_TMPDIR/listener" 3>&- &
    LISTENER=$!
    timeout 60 grep -q up <(tail -n +1 --pid="$LISTENER" -f "$BATS_TEST_TMPDIR/listener" 3>&-)
}

listens_no_more() {
    kill "$LISTENER"
    wait "$LISTENER" || true
    "$DEFAULT_ROOT/bin/epmd" -kill >/dev/null || true
}

@test "diagnose says it where what listens is no Erlang" {
    listens no_erlang 'connection.sendall(b"SSH-2.0-none\r\n"); connection.close()'
    ertslab diagnose --node "no_erlang@$(hostname -s)" --cookie live
    listens_no_more
    refused 1 "check the cookie"
}

# As a node whose schedulers are in native code, or that is stopped.
@test "diagnose says it where a node is too slow to answer" {
    listens slow 'pass'
    ertslab diagnose --node "slow@$(hostname -s)" --cookie live --budget 1s
    listens_no_more
    refused 1 "did not answer in 7 s"
}
