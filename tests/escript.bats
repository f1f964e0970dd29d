#!/usr/bin/env bats
# The command line as one file, made in a fresh copy without a built OTP. It runs on the system's Erlang and on those
# built here, without any other file of the project.

# Each test has a subshell of its own, and its own NODE_PID.
# shellcheck disable=SC2030,SC2031
load lib/common

setup_file() {
    export COPY=$BATS_FILE_TMPDIR/copy
    export PATH=/usr/bin:/bin
    mkdir -p "$COPY" "$BATS_FILE_TMPDIR/ebin"
    tar -C "$BATS_TEST_DIRNAME/.." -c build.sh ertslab erl_src scripts otp_patches --exclude-vcs --exclude=priv/*.so | tar -C "$COPY" -x
    "$COPY/build.sh" escript >"$BATS_FILE_TMPDIR/made" 3>&-
    cp "$COPY/dist/ertslab" "$BATS_FILE_TMPDIR/ertslab"
    printf '%s\n' '-module(deep).' '-export([start/1, wait/1]).' \
        'start(Ready) ->' \
        '    register(deep, spawn(fun() -> [self() ! {other, N} || N <- lists:seq(1, 20000)], wait(self()) end)),' \
        '    spawn(fun() -> net_kernel:monitor_nodes(true), receive {nodeup, _} -> file:write_file(Ready ++ ".seen", "") end end),' \
        '    ok = file:write_file(Ready, "").' \
        'wait(Pid) -> receive {Pid, _} -> ok after 5 -> wait(Pid) end.' >"$BATS_FILE_TMPDIR/deep.erl"
    erlc +debug_info -o "$BATS_FILE_TMPDIR/ebin" "$BATS_FILE_TMPDIR/deep.erl"
}

# Each test runs in an empty folder, as for a user without a cookie.
setup() {
    ERTSLAB=$BATS_FILE_TMPDIR/ertslab
    BY=("$ERTSLAB")
    READY=$BATS_TEST_TMPDIR/ready
    export HOME=$BATS_TEST_TMPDIR/home ERL_EPMD_PORT=$((20000 + RANDOM % 10000))
    unset ERL_FLAGS ERTSLAB_TOP COOKIE
    mkdir "$HOME" "$BATS_TEST_TMPDIR/here"
    cd "$BATS_TEST_TMPDIR/here" || return 1
}

teardown() {
    if [ -n "${NODE_PID:-}" ]; then
        kill "$NODE_PID" 2>/dev/null || true
        wait "$NODE_PID" || true
    fi
    epmd -port "$ERL_EPMD_PORT" -kill >/dev/null 2>&1 || true
}

escript() { run "$ERTSLAB" "$@"; }

# node -sname|-name HOST [WORD...]: starts a node with a deep mailbox, by ERL or the system's Erlang; sets NODE.
node() {
    NODE=door$BATS_TEST_NUMBER@$2
    "${ERL:-erl}" -noinput "$1" "$NODE" -setcookie door -pa "$BATS_FILE_TMPDIR/ebin" "${@:3}" \
        -eval "deep:start(\"$READY\")" 3>&- >"$BATS_TEST_TMPDIR/node.log" 2>&1 &
    NODE_PID=$!
    comes "$READY" || { cat "$BATS_TEST_TMPDIR/node.log"; return 1; }
}

# finds TEXT [WORD...]: BY, or the file itself, reports TEXT about NODE. On a busy machine a look may take longer.
finds() {
    local budget
    for budget in 3s 10s 60s; do
        run "${BY[@]}" diagnose --node "$NODE" --budget "$budget" "${@:2}"
        [[ $output != *"$1"* ]] || break
    done
    ends 3 "$1"
}

looks() { finds "20,000 messages wait" --cookie door --collect no; }

nothing_is_written() {
    run find "$BATS_TEST_TMPDIR/here" "$HOME" -mindepth 1
    [ -z "$output" ] || { echo "written: $output"; return 1; }
}

@test "it is one file of less than 1 MB, made without an OTP that was built" {
    [ -x "$ERTSLAB" ] && [ "$(stat -c %s "$ERTSLAB")" -lt 1000000 ]
    grep -q "dist/ertslab has [0-9]* kB, and runs on OTP" "$BATS_FILE_TMPDIR/made"
    [ ! -e "$COPY/build/erl" ]
    escript --version
    ends 0 "ertslab "
    escript --help
    ends 0 "Only in a clone of ertslab: bisect, "
    [[ $output == *$'\n  diagnose '* && $output != *$'\n  judges '* ]]
    escript diagnose --help
    ends 0 "--cookie"
}

@test "what wants the lab says so, also below a checkout" {
    cd "$COPY"
    export ERTSLAB_TOP=$COPY
    escript judges
    refused 2 "judges needs a clone of ertslab"
    escript audit --otp "$DEFAULT_OTP" stdlib
    refused 2 "--otp needs a clone"
    escript diagnose --node a@b --nif
    refused 2 "--nif needs a clone"
    for words in "--vm stock,tuned" "--vm /usr,git:/otp@main" "--vm /usr --otp $DEFAULT_OTP" "--flags +S --builds 2" \
        "--vm /usr,/usr/ --host a@b"; do
        # shellcheck disable=SC2086  # they are words
        escript compare hibernate $words
        refused 2 "needs a clone"
    done
    for experiment in drv_write callback_memory length; do
        escript compare "$experiment" --flags +S
        refused 2 "the experiment $experiment needs a clone"
    done
    escript compare hibernate
    refused 2 "nothing is built here that could be compared"
    escript report .
    refused 1 "is not the folder of a comparison"
    escript fly
    refused 2 "unknown argument: fly; see '$ERTSLAB --help'"
    escript doctor
    ends 0 "compiler, for audit"
}

@test "diagnose: a short name, in words, as JSON and as a page, and each command runs; the node does not see it" {
    node -sname "$(hostname -s)"
    finds "deep:wait/1 (deep.erl:7) scans 20,000 messages" --cookie door --out ../page.html
    grep -q "20,000 messages wait" ../page.html
    proof=$(sed -n 's/^    Look again: //p' <<<"$output" | head -n 1)
    [[ $proof == "$ERTSLAB diagnose --node $NODE --cookie "* ]]
    COOKIE=door run bash -c "$proof"
    ends 3 "20,000 messages wait"
    "$ERTSLAB" diagnose --node "$NODE" --cookie door --budget 1s --json 2>/dev/null >../json || [ $? -ge 3 ]
    python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["node"] == sys.argv[2]' ../json "$NODE"
    [ ! -e "$READY.seen" ]
    nothing_is_written
}

@test "diagnose: a long name, the user's own cookie, or none; watching" {
    node -name 127.0.0.1
    escript diagnose --node "$NODE" --cookie wrong
    refused 1 "does not answer"
    escript diagnose --node "$NODE"
    refused 1 "no cookie is known: give the node's with --cookie"
    run env -u HOME "$ERTSLAB" diagnose --node "$NODE"
    refused 1 "no cookie is known: give the node's with --cookie"
    nothing_is_written
    echo door >"$HOME/.erlang.cookie"
    finds "20,000" --watch --looks 2
    [[ $output == *"deepest mailbox"* ]]
    env -u HOME "$ERTSLAB" advise --node "$NODE" --cookie door --seconds 1 deep >../advised
    grep -q "20000 messages wait" ../advised
}

@test "diagnose: no epmd, and nothing that listens here" {
    local port=$((ERL_EPMD_PORT + 1))
    export ERL_FLAGS="-start_epmd false -erl_epmd_port $port"
    node -name 127.0.0.1
    run epmd -names
    [ "$status" -ne 0 ]
    looks
}

@test "diagnose: over TLS, by the options of the release" {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=door -keyout ../key.pem -out ../cert.pem 2>/dev/null
    echo "[{server, [{certfile, \"$BATS_TEST_TMPDIR/cert.pem\"}, {keyfile, \"$BATS_TEST_TMPDIR/key.pem\"}]}," \
        "{client, [{verify, verify_none}]}]." >../inet_tls.conf
    node -name 127.0.0.1 -proto_dist inet_tls -ssl_dist_optfile "$BATS_TEST_TMPDIR/inet_tls.conf"
    escript diagnose --node "$NODE" --cookie door
    refused 1 "does not answer"
    ERL_FLAGS="-proto_dist inet_tls -ssl_dist_optfile $BATS_TEST_TMPDIR/inet_tls.conf" looks
}

@test "diagnose: by an Erlang that has kernel and stdlib alone, as that of a release, where nothing can be written" {
    local root=$BATS_TEST_TMPDIR/otp own proof
    own=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')
    mkdir -p "$root/lib"
    cp -r "$own"/erts-* "$own/bin" "$own/releases" "$root"
    cp -r "$own"/lib/kernel-* "$own"/lib/stdlib-* "$root/lib"
    sed -i "s|$own|$root|" "$root"/bin/erl "$root"/erts-*/bin/erl
    node -name 127.0.0.1
    BY=("$(echo "$root"/erts-*/bin/escript)" "$ERTSLAB")
    looks
    # In a container without an escript on the PATH, the command that the report names runs as printed.
    mkdir "$BATS_TEST_TMPDIR/programs"
    ln -s /usr/bin/* "$BATS_TEST_TMPDIR/programs"
    rm "$BATS_TEST_TMPDIR/programs/escript"
    PATH=$BATS_TEST_TMPDIR/programs looks
    proof=$(sed -n 's/^    Look again: //p' <<<"$output" | head -n 1)
    [[ $proof == "${BY[0]} $ERTSLAB diagnose "* ]]
    COOKIE=door PATH=$BATS_TEST_TMPDIR/programs run bash -c "$proof"
    ends 3 "20,000 messages wait"
    run "$(echo "$root"/erts-*/bin/escript)" "$ERTSLAB" audit "$BATS_FILE_TMPDIR/ebin"
    refused 1 "this Erlang has no compiler"
}

@test "diagnose: without a home, where no folder can be written, in 256 MB" {
    bwrap --ro-bind / / --dev /dev --proc /proc true 2>/dev/null || skip "bwrap is not installed, or may not be used"
    node -name 127.0.0.1
    BY=(bwrap --ro-bind / / --dev /dev --proc /proc env -u TMPDIR -u HOME prlimit --data=268435456 "$ERTSLAB")
    looks
}

@test "diagnose: a log goes on while the file is replaced, and the node restarts" {
    node -name 127.0.0.1
    ERTSLAB=$BATS_TEST_TMPDIR/ertslab
    cp "$BATS_FILE_TMPDIR/ertslab" "$ERTSLAB"
    "$ERTSLAB" diagnose --node "$NODE" --cookie door --collect no --budget 3s --watch --log looks --every 6s --looks 3 3>&- 2>said &
    local watch=$! waited
    for ((waited = 0; waited < 600; waited++)); do
        ! [ "$(wc -l 2>/dev/null <looks)" -ge 2 ] 2>/dev/null || break
        sleep 0.1
    done
    head -c 900000 /dev/urandom >"$ERTSLAB"
    kill "$NODE_PID"
    wait "$NODE_PID" || true
    rm "$READY"
    sleep 2
    node -name 127.0.0.1
    timeout 120 tail --pid="$watch" -f /dev/null || kill "$watch"
    wait "$watch" || { cat said; return 1; }
    [ "$(grep -c '"deepest"' looks)" -eq 3 ] && grep -q '"gone"' looks
}

@test "what OTP logs before the command line begins is not in its output" {
    ERL_FLAGS="-kernel logger_level info" "$ERTSLAB" audit "$BATS_FILE_TMPDIR/ebin" --json >../json 2>../log
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' ../json
    grep -q PROGRESS ../log
}

@test "audit: a module, a folder, an application, JSON, SARIF and a baseline" {
    escript audit "$BATS_FILE_TMPDIR/ebin/deep.beam"
    ends 0 "deep:wait/1 (deep.erl:7) scans"
    escript audit "$BATS_FILE_TMPDIR/ebin" --write-baseline ../baseline
    ends 0 "deep:wait/1"
    escript audit "$BATS_FILE_TMPDIR/ebin" --baseline ../baseline
    ends 0 ""
    for form in --json --sarif; do
        "$ERTSLAB" audit "$BATS_FILE_TMPDIR/ebin" "$form" | python3 -m json.tool >/dev/null
    done
    escript audit fly
    refused 2 "fly"
    nothing_is_written
}

# Nothing but the results is written, also if it is killed.
@test "time: two expressions, by the Erlang that runs it; its report" {
    export TMPDIR=$BATS_TEST_TMPDIR/tmp
    mkdir "$TMPDIR"
    escript time 'lists:seq(1, 10)' 'lists:seq(1, 1000)' --no-control --quick
    ends 0 "changed?"
    [[ $(ls) == results && $(ls "$TMPDIR") == "" ]]
    escript report results/time-*
    ends 0 report.html
    grep -q "$ERTSLAB time" results/time-*/report.html
    escript report results/time-* --format table
    ends 0 "lists:seq(1, 1000)"
    [ "$(runs_in results/time-*)" -eq 12 ]
    "$ERTSLAB" time 1 2 --accept-host --out ../killed 3>&- >/dev/null 2>&1 &
    NODE_PID=$!
    comes ../killed/samples.jsonl
    kill -KILL "$NODE_PID"
    for _ in {1..100}; do
        [ -n "$(ls "$TMPDIR")" ] || break
        sleep 0.1
    done
    [ -z "$(ls "$TMPDIR")" ]
    escript time 'lists:seq(1' 2
    refused 2 "is not an expression"
    escript time 1
    refused 2 "two expressions"
    TMPDIR=/nonexistent escript time 1 2 --quick --no-control --out ../without
    ends 0 "Report"
}

# As it is printed, with the file that its first command makes.
@test "the tutorial of a first comparison: each of its commands" {
    cd "$COPY"
    # shellcheck disable=SC2016  # Markdown
    sed -n '/^```sh$/,/^```$/{/^```/!p}' "$TOP/doc/tutorial_first_comparison.md" >tutorial.sh
    [ "$(grep -c '^dist/ertslab' tutorial.sh)" -eq 3 ]
    run bash -e tutorial.sh
    ends 0 "  lists:sum(L) again  "
    [[ $output =~ "foldl(fun(X, S) -> X + S end, 0, L)"\ +[^\ ]+\ [mun]s\ +[0-9.]+\ +[0-9.]+\ to\ [0-9.]+\ +[0-9.]+\ to\ [0-9.]+\ +[a-z]+ ]] || { echo "$output"; return 1; }
    [[ ${lines[-1]} == */results/report-*.html ]] || { echo "$output"; return 1; }
    rm -r results
}

@test "compare: flags, builds of code, an experiment of one's own" {
    escript compare queue --flags "+hmqd off_heap" --param backlog=1000 --param messages=100 --quick --no-control --out ../flags
    ends 0 "+hmqd off_heap"
    mkdir old new
    for dir in old new; do
        printf '%s\n' '-module(my).' '-export([list/0]).' 'list() -> lists:seq(1, 100).' >my.erl
        erlc -o "$dir" my.erl
    done
    printf '%s\n' '-module(exp_mine).' '-behaviour(ertslab_experiment).' \
        '-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).' \
        'info() -> #{title => "mine", shows => "it", origin => "me", vms => [], parameters => [], contrasts => [],' \
        '    metrics => [#{name => list, doc => "a list"}], estimator => floor, rounds => none, run_ms => 0, warm_up => 1,' \
        '    iterations => 10, timeout_ms => 120000}.' \
        'setup(_) -> none.' 'prepare(_, State) -> State.' 'run(list, _) -> ertslab_experiment:timed(fun my:list/0).' \
        'verify(_, List, _) -> ertslab_experiment:expect(100, length(List)).' 'teardown(_) -> ok.' >exp_mine.erl
    escript compare exp_mine.erl --code "old=old,new=new" --quick --out ../code
    ends 0 "new"
    python3 -c 'import json, sys; assert [arm["label"] for arm in json.load(open(sys.argv[1]))["arms"]] == ["old", "old again", "new"]' \
        ../code/session.json
}

@test "time: on each Erlang that is here, beside the system's, by either of them" {
    local root own
    own=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')
    for root in "$TOP"/build/otp-[0-9]*; do
        [ -x "$root/bin/erl" ] || continue
        # A compiler of OTP writes for some releases back only.
        for path in "$root/bin:$PATH" "$PATH"; do
            PATH=$path escript time 'lists:seq(1, 10)' --vm "$root,$own" --no-control --quick --out ../both
            if [[ $output == *"writes for OTP"* ]]; then
                refused 1 "have an older Erlang first in PATH"
                [[ $path == "$root/bin:$PATH" && ! -e ../both ]]
                continue
            fi
            ends 0 "on $own"
            [ "$(runs_in ../both)" -eq 12 ]
            rm -r ../both
        done
    done
}

# OTP 25 rounds what it writes into an archive: a file of the second 59 is one of the second 60, which OTP 27 does not set.
@test "time: from an archive whose files are of the second 60" {
    python3 -c 'import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
for head, at in ((b"PK\3\4", 10), (b"PK\1\2", 12)):
    where = data.find(head)
    while where >= 0:
        struct.pack_into("<H", data, where + at, struct.unpack_from("<H", data, where + at)[0] & ~31 | 30)
        where = data.find(head, where + 4)
open(sys.argv[2], "wb").write(data)' "$BATS_FILE_TMPDIR/ertslab" "$BATS_TEST_TMPDIR/ertslab"
    chmod +x "$BATS_TEST_TMPDIR/ertslab"
    cd "$BATS_TEST_TMPDIR"
    PATH=$DEFAULT_ROOT/bin:$PATH run ./ertslab time 'lists:seq(1, 10)' 'lists:seq(1, 20)' --no-control --quick --out both
    ends 0 "lists:seq(1, 20)"
}

@test "diagnose --watch --log: a node that restarts, a run that was killed, and the report" {
    node -name 127.0.0.1
    "$ERTSLAB" diagnose --node "$NODE" --cookie door --collect no --budget 2s --watch --log ../looks.jsonl --every 1s 3>&- >/dev/null 2>&1 &
    local watching=$!
    for _ in {1..600}; do
        [[ $(grep -c '"at"' ../looks.jsonl 2>/dev/null) -lt 2 ]] || break
        sleep 0.1
    done
    kill "$NODE_PID"
    wait "$NODE_PID" || true
    for _ in {1..600}; do
        ! grep -q gone ../looks.jsonl || break
        sleep 0.1
    done
    rm "$READY"
    node -name 127.0.0.1
    for _ in {1..600}; do
        ! sed '1,/gone/d' ../looks.jsonl | grep -q deepest || break
        sleep 0.1
    done
    sed '1,/gone/d' ../looks.jsonl | grep -q deepest
    kill -KILL "$watching"
    wait "$watching" || true
    local whole
    whole=$(wc -l <../looks.jsonl)
    printf '{"at":1' >>../looks.jsonl
    escript diagnose --node "$NODE" --cookie door --collect no --budget 2s --watch --log ../looks.jsonl --every 1s --looks 2
    ends 0 "The looks go to"
    [ "$(wc -l <../looks.jsonl)" -eq $((whole + 2)) ]
    escript report ../looks.jsonl
    ends 0 "did not answer once"
    grep -q "<svg" ../looks.html
    escript report ../looks.jsonl --split "$(date -u -d '1 minute ago' '+%F %TZ')" --format table
    [[ $output == *"quantity"* || $output == *"no look before"* ]]
    escript report ../looks.jsonl --format table --out ../looks.txt
    ends 0 "looks.txt"
    grep -q "looks of" ../looks.txt
    escript report ../looks.jsonl --split yesterday
    refused 2 "this is not a time"
    echo diary >../diary
    escript report ../diary
    refused 1 "is not a log of"
    escript diagnose --node "$NODE" --cookie door --watch --log ../diary
    refused 1 "is not a log of"
    [[ $(<../diary) == diary ]]
    escript diagnose --node "$NODE" --log ../looks.jsonl
    refused 2 "--looks and --log need --watch"
    nothing_is_written
}

# The module of the NIF comes along without its C code, so it does not load by itself. Experiments are loaded by the VMs that
# they run on: some of them match binaries in a way that OTP 29 takes from its own compiler only.
@test "on each Erlang that is here, and between them" {
    local erl theirs
    for erl in "$TOP"/build/otp-*/bin; do
        [ -x "$erl/erl" ] || continue
        run "$erl/erl" -noshell -eval '
            {ok, Parts} = escript:extract("'"$ERTSLAB"'", []),
            {ok, Files} = zip:unzip(proplists:get_value(archive, Parts), [memory]),
            Refused = [File || {File, Beam} <- Files, filename:extension(File) =:= ".beam",
                               filename:basename(File) =/= "cons_spacing_nif.beam", filename:dirname(File) =/= "experiments/ebin",
                               {error, _} <- [code:load_binary(list_to_atom(filename:basename(File, ".beam")), File, Beam)]],
            io:format("~b files, refused: ~p~n", [length(Files), Refused]), halt().'
        ends 0 " files, refused: []"
        PATH=$erl:$PATH escript audit "$BATS_FILE_TMPDIR/ebin"
        ends 0 "deep:wait/1 (deep.erl:7) scans"
        for theirs in "$erl/erl" erl; do
            ERL=$theirs node -name 127.0.0.1
            if [[ $theirs == erl ]]; then
                PATH=$erl:$PATH looks
            else
                looks
            fi
            kill "$NODE_PID"
            wait "$NODE_PID" || true
            rm "$READY"
        done
    done
}

@test "from a checkout the same without an OTP that was built, compiled by the system's Erlang" {
    run "$COPY/ertslab" diagnose --node a@b
    refused 1 "for diagnose, try, advise, audit, time, compare and report './build.sh erl' is enough"
    run "$COPY/build.sh" erl
    ends 0 "diagnose, try, advise, audit, time, compare, report and doctor run on the installed OTP"
    run "$COPY/ertslab" sweep queue
    refused 1 "nothing is built yet"
    run "$COPY/ertslab" sweep --help
    ends 0 "--over"
    run "$COPY/ertslab" compare queue --vm stock,tuned
    refused 1 "stock is not built; './build.sh otp' builds it"
    run "$COPY/ertslab" time 'lists:seq(1, 10)' 'lists:seq(1, 1000)' --no-control --quick --out ../results
    ends 0 "changed?"
    run "$COPY/ertslab" audit "$BATS_FILE_TMPDIR/ebin"
    ends 0 "deep:wait/1 (deep.erl:7) scans"
    node -name 127.0.0.1
    BY=("$COPY/ertslab")
    finds "Look again: ./ertslab diagnose --node $NODE" --cookie door
    nothing_is_written
}

# shop_serves: waits until the node of a release that was started answers; it is stopped at the end.
shop_serves() {
    NODE=shop@127.0.0.1
    for _ in $(seq 100); do
        ! epmd -names 2>/dev/null | grep -q '^name shop ' || return 0
        sleep 0.1
    done
    return 1
}

@test "in a release that rebar3 made: by its own escript, and loaded into the node" {
    mkdir -p shop/src
    printf '%s\n' '{relx, [{release, {shop, "1"}, [shop]}, {mode, prod}, {vm_args, "vm.args"}]}.' >shop/rebar.config
    printf '%s\n' '-name shop@127.0.0.1' '-setcookie door' >shop/vm.args
    echo '{application, shop, [{vsn, "1"}, {mod, {shop, []}}, {applications, [kernel, stdlib]}]}.' >shop/src/shop.app.src
    printf '%s\n' '-module(shop).' '-export([start/2, stop/1]).' "start(_, _) -> ok = deep:start(\"$READY\"), {ok, whereis(deep)}." \
        'stop(_) -> ok.' >shop/src/shop.erl
    cp "$BATS_FILE_TMPDIR/deep.erl" shop/src
    (cd shop && rebar3 release >../made 2>&1) || { cat made; return 1; }
    cd shop/_build/prod/rel/shop 2>/dev/null || cd shop/_build/default/rel/shop
    bin/shop foreground >/dev/null 2>&1 3>&- &
    NODE_PID=$!
    shop_serves
    BY=(erts-*/bin/escript "$ERTSLAB")
    looks
    bin/shop eval "{ok, Parts} = escript:extract(\"$ERTSLAB\", []),
        {ok, Files} = zip:unzip(proplists:get_value(archive, Parts), [memory]),
        [code:load_binary(list_to_atom(filename:basename(File, \".beam\")), File, Code)
         || {[First | _] = File, Code} <- Files, filename:extension(File) =:= \".beam\", First =:= \$d orelse First =:= \$m],
        {ok, Report} = diagnose:node(),
        file:write_file(\"$BATS_TEST_TMPDIR/node.txt\", diagnose_text:report(Report))."
    grep -q "20,000 messages wait" "$BATS_TEST_TMPDIR/node.txt"
    bin/shop stop
}

@test "in a release that mix made: by its own escript, and loaded into the node" {
    command -v mix >/dev/null || skip "mix is not installed"
    mkdir -p shop/lib shop/src
    printf '%s\n' 'defmodule Shop.MixProject do' '  use Mix.Project' '  def project, do: [app: :shop, version: "1.0.0"]' \
        '  def application, do: [mod: {Shop, []}]' 'end' >shop/mix.exs
    printf '%s\n' 'defmodule Shop do' '  use Application' '  def start(_, _) do' "    :ok = :deep.start(~c\"$READY\")" \
        '    {:ok, Process.whereis(:deep)}' '  end' 'end' >shop/lib/shop.ex
    cp "$BATS_FILE_TMPDIR/deep.erl" shop/src
    (cd shop && MIX_ENV=prod mix release >../made 2>&1) || { cat made; return 1; }
    export RELEASE_NODE=shop@127.0.0.1 RELEASE_DISTRIBUTION=name RELEASE_COOKIE=door
    cd shop/_build/prod/rel/shop
    bin/shop start >/dev/null 2>&1 3>&- &
    NODE_PID=$!
    shop_serves
    BY=(erts-*/bin/escript "$ERTSLAB")
    ERL_AFLAGS="-boot $PWD/releases/1.0.0/start_clean -boot_var RELEASE_LIB $PWD/lib" looks
    run bin/shop rpc "{:ok, parts} = :escript.extract(~c\"$ERTSLAB\", [])
        {:ok, files} = :zip.unzip(parts[:archive], [:memory])
        for {file, code} <- files, :filename.extension(file) == ~c\".beam\", hd(file) in [?d, ?m], do:
            :code.load_binary(:erlang.list_to_atom(:filename.basename(file, ~c\".beam\")), file, code)
        {:ok, report} = :diagnose.node()
        IO.puts(:diagnose_text.report(report))"
    ends 0 "20,000 messages wait"
    bin/shop stop
}
