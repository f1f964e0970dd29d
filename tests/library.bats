#!/usr/bin/env bats
# cons_spacing in a project of somebody else, on Debian's own Erlang.

setup() {
    TOP=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    THEIRS=$BATS_TEST_TMPDIR/theirs
    mkdir -p "$BATS_TEST_TMPDIR/ertslab/erl_src" "$THEIRS/src" "$THEIRS/_checkouts"
    cp -r "$TOP/nif" "$BATS_TEST_TMPDIR/ertslab"
    cp -r "$TOP/erl_src/cons_spacing" "$BATS_TEST_TMPDIR/ertslab/erl_src"
    rm -rf "$BATS_TEST_TMPDIR/ertslab/erl_src/cons_spacing/priv"
    ln -s "$BATS_TEST_TMPDIR/ertslab/erl_src/cons_spacing" "$THEIRS/_checkouts/cons_spacing"
    echo '{deps, [cons_spacing]}.' >"$THEIRS/rebar.config"
    echo '{application, theirs, [{vsn, "1"}, {applications, [kernel, stdlib, cons_spacing]}]}.' \
        >"$THEIRS/src/theirs.app.src"
}

@test "another project finds 16 bytes before and 136 after hibernation" {
    cd "$THEIRS"
    rebar3 compile
    run erl -noinput -pa _build/default/{lib,checkouts}/*/ebin -eval '
        Build = fun() -> ([erlang:make_tuple(14, N) || N <- lists:seq(1, 100000)] ++ [none]) -- [none] end,
        #{built := #{spacing := #{mean := Built}}, hibernated := #{spacing := #{mean := Hibernated}}} =
            cons_spacing_report:before_after(Build, 10000000),
        io:format("~p ~p", [Built, Hibernated]), halt().'
    [ "$output" = "16.0 136.0" ]
}

@test "without the headers of Erlang the NIF says what to install" {
    run make -C "$BATS_TEST_TMPDIR/ertslab/nif" INCLUDE=/nowhere
    [ "$status" -ne 0 ]
    [[ $output == *"erlang-dev"* ]]
}
