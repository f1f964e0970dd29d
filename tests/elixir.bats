#!/usr/bin/env bats
# The libraries in another mix project, on Debian's own Elixir, used as their READMEs show.

# Each test has a PATH of its own.
# shellcheck disable=SC2030,SC2031
load lib/common

# mix keeps files for all projects below HOME, and fetches a rebar3 unless it is given one.
setup_file() {
    HOME=$BATS_FILE_TMPDIR/home
    MIX_REBAR3=$(command -v rebar3)
    export HOME MIX_REBAR3
    mkdir "$HOME"
}

setup() {
    mkdir -p "$BATS_TEST_TMPDIR/theirs/lib"
    cd "$BATS_TEST_TMPDIR/theirs" || return
}

# their_project DEPENDENCY...: a mix project with these dependencies.
their_project() {
    local IFS=,
    {
        printf '%s\n' 'defmodule Theirs.MixProject do' '  use Mix.Project' \
            '  def project, do: [app: :theirs, version: "0.1.0", deps: deps()]' \
            '  def application, do: [extra_applications: [:logger]]' '  defp deps, do: ['
        printf '    %s\n' "$*"
        printf '%s\n' '  ]' 'end'
    } >mix.exs
}

# own LIBRARY: a copy of it without build results.
own() {
    local copy=$BATS_TEST_TMPDIR/ertslab
    mkdir -p "$copy/erl_src"
    cp -r "$TOP/nif" "$copy"
    cp -r "$TOP/erl_src/$1" "$copy/erl_src"
    rm -rf "$copy/erl_src/$1/priv"
    printf '{:%s, path: "../ertslab/erl_src/%s"}' "$1" "$1"
}

# runs LIBRARY [WORD...]: runs the Elixir examples of its README as written, except those for mix.exs. The words are for mix.
runs() {
    awk '/^```/ { inside = /^```elixir/; next } inside' "$TOP/erl_src/$1/README.md" |
        grep -v -A 1 '^# mix.exs' | grep -v "{:$1, path:" >example.exs
    [ -s example.exs ]
    run mix run "${@:2}" example.exs
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "libraries that are beside a mix project" {
    their_project "$(own batch_io)" "$(own callbacks)" "$(own cons_spacing)" "$(own diagnose)" "$(own mailbox_audit)"
    mix compile
    # Otherwise mix has rebar3 compile all five anew for each of them.
    for library in batch_io callbacks cons_spacing diagnose mailbox_audit; do runs "$library" --no-deps-check; done
    [ "$(wc -l <lines.txt)" -eq 100001 ]
}

@test "dam, on the oldest Erlang that it names" {
    PATH=$DEFAULT_ROOT/bin:$PATH
    their_project "$(own dam)"
    runs dam
}

@test "libraries from a git repository, whole or only their folder" {
    their_project "{:batch_io, git: \"file://$TOP\", sparse: \"erl_src/batch_io\"}" \
        "{:cons_spacing, git: \"file://$TOP\", subdir: \"erl_src/cons_spacing\"}"
    mix deps.get >got 2>&1
    runs cons_spacing
    [ ! -e deps/batch_io/scripts ]
    mix run -e ':not_started = :batch_io.stop() && :batch_io.info()'
}

@test "rebar3 edoc makes the chunks that h of iex shows" {
    own callbacks >/dev/null
    (cd "$BATS_TEST_TMPDIR/ertslab/erl_src/callbacks" && rebar3 edoc)
    cp -r "$BATS_TEST_TMPDIR/ertslab/erl_src/callbacks/_build/docs/lib/callbacks/ebin" "$BATS_TEST_TMPDIR/ertslab/erl_src/callbacks/ebin"
    run elixir -pa "$BATS_TEST_TMPDIR/ertslab/erl_src/callbacks/ebin" -e 'require IEx.Helpers; IEx.Helpers.h(:callbacks.send/2)'
    [[ $output == *"send"* && $output == *"lost when the callback has ended"* ]] || { echo "$output"; return 1; }
}

# their_receive PATTERN: a module whose receive matches PATTERN.
their_receive() {
    printf '%s\n' 'defmodule Theirs do' '  def wait(pid) do' '    receive do' "      $1 -> :ok" '    end' '  end' 'end' >lib/theirs.ex
}

@test "mix audit.mailbox names lines of Elixir, and fails on what its baseline does not know" {
    their_project "$(own mailbox_audit)"
    their_receive '{^pid, _}'
    run mix audit.mailbox --write-baseline known --sarif audit.sarif
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [[ $output == *"Elixir.Theirs:wait/1 (theirs.ex:3) scans"* ]] || { echo "$output"; return 1; }
    grep -q '"uri":"lib/theirs.ex"' audit.sarif
    run mix audit.mailbox --baseline known
    [ "$status" -eq 0 ]
    their_receive '{^pid, :other, _}'
    run mix audit.mailbox --baseline known
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == *"1 scanning receive is not in the baseline"* ]]
    mkdir src
    printf '%s\n' '-module(bare).' '-export([f/0]).' 'f() -> ok.' >src/bare.erl
    their_receive '{^pid, _}'
    mix compile
    erl -noinput -eval '{ok, _} = beam_lib:strip_files(["_build/dev/lib/theirs/ebin/bare"]), halt().'
    run mix audit.mailbox
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [[ $output == *"Only a part was judged: 1 of 2 modules was not."* ]] || { echo "$output"; return 1; }
    run mix audit.mailbox --baseline known
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == *"only a part was judged: 1 of 2 modules was not"* ]]
    run mix audit.mailbox --bseline known
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == *"there is no option --bseline"* ]]
    run mix audit.mailbox --deps --baseline nowhere
    [[ $status -eq 1 && ${lines[-1]} == *"cannot read the baseline nowhere"* ]]
}

@test "a mix project, its release and a file of it, judged from outside" {
    their_project "$(own batch_io)"
    their_receive '{^pid, _}'
    # By default a release has no debug_info.
    sed -i 's/deps: deps()/deps: deps(), releases: [theirs: [strip_beams: false]]/' mix.exs
    mix compile
    MIX_ENV=prod mix release --quiet
    for target in . _build/dev _build/dev/lib/theirs _build/prod/rel/theirs lib/theirs.ex; do
        run "$TOP/ertslab" audit "$target"
        ends 0 "Elixir.Theirs:wait/1 (theirs.ex:3) scans: all clauses match pid"
    done
}

@test "diagnose and audit name the receive that a server of Elixir goes through" {
    local name=elixir$$_$BATS_TEST_NUMBER@127.0.0.1 bin=$DEFAULT_ROOT/bin elixir
    cat >server.ex <<'EX'
defmodule Server do
  use GenServer
  def init(port), do: {:ok, port}

  def handle_cast(:ask, port) do
    receive do
      {^port, :answer} -> :ok
    after
      5 -> :none
    end

    {:noreply, port}
  end

  def begin do
    {:ok, pid} = GenServer.start(__MODULE__, self())
    for _ <- 1..20_000, do: GenServer.cast(pid, :ask)
    File.write!("ready", "")
  end
end
EX
    PATH=$bin:$PATH elixirc server.ex
    elixir=$(PATH=$bin:$PATH elixir -e 'IO.write(:code.lib_dir(:elixir))')
    "$bin/erl" -noinput -name "$name" -setcookie audit -pa . "$elixir/ebin" -eval "'Elixir.Server':'begin'()" 3>&- >node.log 2>&1 &
    local node=$!
    for _ in $(seq 300); do [ ! -e ready ] || break; sleep 0.1; done
    run "$TOP/ertslab" diagnose --node "$name" --cookie audit
    local diagnosed=$output
    run "$TOP/ertslab" audit --node "$name" --cookie audit
    kill "$node"
    [[ $diagnosed == *"Elixir.Server:handle_cast/2 (server.ex:6) scans"* ]] || { echo "$diagnosed"; cat node.log; return 1; }
    ends 0 "Elixir.Server:handle_cast/2 (server.ex:6) scans: all clauses match port"
    [[ $output != *"Not judged"* ]]
}

@test "iex on a variant runs a mix project on its emulator" {
    their_project "$(own batch_io)"
    their_receive '{^pid, _}'
    run "$TOP/ertslab" iex --vm tuned -- -S mix run -e '
        IO.puts(elem(File.read_link("/proc/self/exe"), 1)); IO.inspect(Theirs.__info__(:functions)); System.halt()' </dev/null
    [[ $status -eq 0 && $output == *"beam.tuned.smp"* && $output == *"[wait: 1]"* ]] || { echo "$output"; return 1; }
    run "$TOP/ertslab" iex --vm none
    refused 2 "none"
}

@test "an experiment in Elixir is measured on the arms, and one that does not compile is refused" {
    run "$TOP/ertslab" compare "$TOP/erl_src/experiments/elixir/exp_pmap.exs" --quick --accept-host --vm stock,tuned \
        --param elements=100 --param queue=off_heap --no-control --out out
    ends 0 "senders"
    run "$TOP/ertslab" compare "$TOP/erl_src/experiments/elixir/exp_callback_bytes.exs" --quick --accept-host --param units=1000 --out bytes
    ends 0 "bytes of a process to a callback"
    printf 'defmodule :exp_bad do\n  x(\n' >exp_bad.exs
    run "$TOP/ertslab" compare exp_bad.exs --quick --accept-host --out bad
    refused 1 "exp_bad.exs does not compile: (TokenMissingError)"
    [[ $output == *"exp_bad.exs:"[23]* ]] # Elixir 1.14 names the end of the file, 1.18 the bracket
    printf 'defmodule Other do\nend\n' >exp_bad.exs
    run "$TOP/ertslab" compare exp_bad.exs --quick --accept-host --out bad
    refused 1 "it has no 'defmodule :exp_bad'"
}
