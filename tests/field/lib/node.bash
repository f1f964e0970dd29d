# Sourced by tests/field/run: starting nodes, asking them, and ending all that was started.
# shellcheck shell=bash disable=SC2034

FIELD=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
TOP=$(cd "$FIELD/../.." && pwd)
ELIXIR=${ELIXIR:-/usr/lib/elixir/lib}
COOKIE=field$RANDOM$RANDOM
export LC_ALL=C.UTF-8
unset ERL_AFLAGS ERL_FLAGS ERL_ZFLAGS ERL_LIBS ERL_ROOTDIR

STARTED=()
TOOL_PID=

# started PID: it is ended with the shell that started it.
started() { STARTED+=("$1"); }

# The tool ends its own programs when it is asked to; a stopped process, and one that ignores signals, end only by KILL.
stop_all() {
    local pid
    if [[ -n $TOOL_PID ]]; then
        kill -TERM "$TOOL_PID" 2>/dev/null || true
        wait "$TOOL_PID" 2>/dev/null || true
    fi
    for pid in "${STARTED[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    STARTED=()
}

wrong() { printf '%s\n' "$*" >>"$WORK/wrong"; }

# An epmd of this run's own, so that runs side by side, and what earlier ones left, do not meet.
start_epmd() {
    for _ in 1 2 3 4 5; do
        export ERL_EPMD_PORT=$((20000 + RANDOM % 12000))
        "$BIN/epmd" -address 127.0.0.1 >/dev/null 2>&1 &
        local pid=$!
        for _ in {1..20}; do
            sleep 0.1
            kill -0 "$pid" 2>/dev/null || break
            if "$BIN/epmd" -names >/dev/null 2>&1; then
                started "$pid"
                return
            fi
        done
        kill "$pid" 2>/dev/null || true
    done
    echo "field: epmd does not start" >&2
    exit 1
}

start_busy_loops() {
    for _ in 1 2; do
        while :; do :; done &
        started $!
    done
}

# An Elixir that is much older than the Erlang is not loaded by it.
runs_elixir() {
    "$BIN/erl" -noinput -boot no_dot_erlang -pa "$ELIXIR/elixir/ebin" \
        -eval "6 = 'Elixir.Enum':sum('Elixir.Range':new(1, 3)), halt()." >/dev/null 2>&1
}

# build [OPTION...]: what the case has, into $WORK. Elixir is compiled by the Erlang that it was built with.
# shellcheck disable=SC2120
build() {
    local sources
    mapfile -t sources < <(find "$HERE" -maxdepth 1 -name '*.erl')
    ((${#sources[@]} == 0)) || "$BIN/erlc" +debug_info "$@" -o "$WORK" "${sources[@]}" || return 1
    mapfile -t sources < <(find "$HERE" -maxdepth 1 -name '*.ex')
    ((${#sources[@]} == 0)) || elixirc --ignore-module-conflict -o "$WORK" "${sources[@]}" || return 1
}

# vm NAME [FLAG...]: a node of that name whose process is ended with the case; what it prints goes to $NODE_OUT.
vm() {
    "$BIN/erl" -noinput -boot no_dot_erlang -start_epmd false -name "$1@127.0.0.1" -setcookie "$COOKIE" -pa "$WORK" \
        -pa "$ELIXIR/elixir/ebin" -pa "$ELIXIR/logger/ebin" "${@:2}" >"${NODE_OUT:-$WORK/$1.log}" 2>&1 </dev/null &
    VM_PID=$!
    started "$VM_PID"
}

# node [FLAG...]: the sick node; waits until its program has started.
node() {
    local begin='ok = sick:start(), ok = file:write_file("ready", "", [raw])'
    [[ ! -f $HERE/sick.ex ]] || begin="{ok, _} = application:ensure_all_started(elixir), $begin"
    NODE=$CASE@127.0.0.1
    cd "$WORK" || return 1
    vm "$CASE" "$@" -eval "$begin"
    for _ in {1..600}; do
        [[ ! -e $WORK/ready ]] || return 0
        kill -0 "$VM_PID" 2>/dev/null || break
        sleep 0.1
    done
    wrong "the node did not start: $(tail -c 600 "$WORK/$CASE.log" 2>/dev/null)"
    return 1
}

# peer NAME [FLAG...]: another node, with a process sink that takes all messages; sets PEER and PEER_PID.
peer() {
    PEER=$1@127.0.0.1
    vm "$1" "${@:2}" -eval 'register(sink, spawn(fun Sink() -> receive _ -> Sink() end end)), ok = file:write_file("peer_ready", "").'
    PEER_PID=$VM_PID
    export PEER PEER_PID
    for _ in {1..600}; do
        [[ ! -e $WORK/peer_ready ]] || return 0
        sleep 0.1
    done
    wrong "the peer did not start"
    return 1
}

# ask EXPRESSIONS: what Erlang expressions give when the node evaluates them. A sick node may be too slow to connect at once.
ask() {
    EXPRESSIONS="$1." timeout 90 "$BIN/erl" -noinput -boot no_dot_erlang -hidden -start_epmd false -kernel net_setuptime 60 -name "asks$RANDOM@127.0.0.1" \
        -setcookie "$COOKIE" -eval '
            [Name] = init:get_plain_arguments(),
            Node = list_to_atom(Name),
            _ = lists:any(fun(_) -> net_kernel:connect_node(Node) end, [first, second, third]),
            {ok, Tokens, _} = erl_scan:string(os:getenv("EXPRESSIONS")),
            {ok, Parsed} = erl_parse:parse_exprs(Tokens),
            {value, Value, _} = erpc:call(Node, erl_eval, exprs, [Parsed, []], 30_000),
            io:format("~0p", [Value]), halt().' -extra "$NODE" 2>&1
}

# start_case: by the hook 'start' of the case, else one node with the flags that it names.
start_case() {
    local flags
    if [[ -f $HERE/sick.ex ]] && ! runs_elixir; then
        echo "the Elixir in $ELIXIR does not run on this Erlang" >"$WORK/skipped"
        return 1
    fi
    read -ra flags <<<"$(sed -n 's/^flags //p' "$HERE/expected")"
    cd "$WORK" || return 1
    if [[ -f $HERE/start ]]; then
        # shellcheck disable=SC1091
        source "$HERE/start"
    else
        # shellcheck disable=SC2119
        build >"$WORK/build.log" 2>&1 || { wrong "it does not compile: $(cat "$WORK/build.log")"; return 1; }
        node "${flags[@]}"
    fi
}
