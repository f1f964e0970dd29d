#!/usr/bin/env bats
# The libraries in a mix project of somebody else, on Debian's own Elixir, as their READMEs have it.

load common

# mix keeps what serves all projects below HOME, and asks a registry for a rebar3 where it is told of none.
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

# their_project DEPENDENCY...: a project of mix with these.
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

# own LIBRARY: a copy of it, in which nothing is built.
own() {
    cp -r "$TOP/erl_src/$1" "$BATS_TEST_TMPDIR/$1"
    rm -rf "$BATS_TEST_TMPDIR/$1/priv"
    printf '{:%s, path: "../%s"}' "$1" "$1"
}

# runs LIBRARY: the Elixir of its README as it is written, but for what belongs into mix.exs.
runs() {
    awk '/^```/ { inside = /^```elixir/; next } inside' "$TOP/erl_src/$1/README.md" |
        grep -v -A 1 '^# mix.exs' | grep -v "{:$1, path:" >example.exs
    [ -s example.exs ]
    run mix run example.exs
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "libraries that are beside a mix project" {
    their_project "$(own batch_io)" "$(own callbacks)" "$(own cons_spacing)" "$(own mailbox_audit)"
    mix compile
    for library in batch_io callbacks cons_spacing; do runs "$library"; done
    [ "$(wc -l <lines.txt)" -eq 100001 ]
    mix run -e '{:ok, %{modules: 7}} = :mailbox_audit.static([:callbacks])'
}

@test "dam, on the oldest Erlang that it names" {
    PATH=$TOP/build/otp-27/bin:$PATH
    their_project "$(own dam)"
    runs dam
}

@test "libraries from a git repository, whole or only their folder" {
    their_project "{:batch_io, git: \"file://$TOP\", subdir: \"erl_src/batch_io\"}" \
        "{:cons_spacing, git: \"file://$TOP\", sparse: \"erl_src/cons_spacing\"}"
    mix deps.get >got 2>&1
    runs cons_spacing
    [ ! -e deps/cons_spacing/scripts ]
    mix run -e ':not_started = :batch_io.stop() && :batch_io.info()'
}

@test "rebar3 edoc makes the chunks that h of iex shows" {
    own callbacks >/dev/null
    (cd "$BATS_TEST_TMPDIR/callbacks" && rebar3 edoc)
    cp -r "$BATS_TEST_TMPDIR/callbacks/_build/docs/lib/callbacks/ebin" "$BATS_TEST_TMPDIR/callbacks/ebin"
    run elixir -pa "$BATS_TEST_TMPDIR/callbacks/ebin" -e 'require IEx.Helpers; IEx.Helpers.h(:callbacks.send/2)'
    [[ $output == *"send"* && $output == *"lost when the callback has ended"* ]] || { echo "$output"; return 1; }
}
