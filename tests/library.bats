#!/usr/bin/env bats
# Libraries in another project, on Debian's own Erlang.

load lib/common

setup() {
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

# shell_lines LIBRARY: the shell input in its README. A statement ends at a line that ends in a full stop.
shell_lines() {
    awk '/^```/ { inside = /^```erlang/; next }
         inside && sub(/^[0-9]+> /, "") { typing = 1 }
         inside && typing { print; typing = !/\.$/ }' "$TOP/erl_src/$1/README.md"
}

# typed LIBRARY BIN: evaluates these statements in order on that Erlang, and prints the value of the last one.
typed() {
    shell_lines "$1" >typed
    [ -s typed ]
    run timeout 120 "$2/erl" -noinput -pa _build/default/checkouts/*/ebin -eval '
        _ = application:ensure_all_started(callbacks),
        {ok, Typed} = file:open("typed", [read]),
        Each = fun Each(Bound, Last) ->
                       case io:parse_erl_exprs(Typed, "") of
                           {ok, Exprs, _} ->
                               {value, Value, More} = erl_eval:exprs(Exprs, Bound, {value, fun(flush, []) -> c:flush() end}),
                               Each(More, Value);
                           {eof, _} -> io:format(user, "~0p~n", [Last])
                       end
               end,
        Each([], none), halt().'
    [ "$status" -eq 0 ] || { echo "$1 on $2: $output"; return 1; }
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

@test "another project writes through a driver" {
    local drivers=$BATS_TEST_TMPDIR/ertslab/erl_src/port_drivers
    cp -r "$TOP/c_src" "$BATS_TEST_TMPDIR/ertslab"
    cp -r "$TOP/erl_src/port_drivers" "$drivers"
    rm -rf "$drivers/priv"
    ln -s "$drivers" "$THEIRS/_checkouts/port_drivers"
    cd "$THEIRS"
    echo '{deps, [port_drivers]}.' >rebar.config
    rm _checkouts/cons_spacing
    rebar3 compile
    run erl -noinput -pa _build/default/{lib,checkouts}/*/ebin -eval '
        {ok, Log} = port_drivers:open(tagged, "log", #{}),
        ok = port_drivers:write(Log, ["a line", $\n]),
        io:format("~p", [maps:get(bytes, port_drivers:counters(Log))]),
        ok = port_drivers:close(Log), halt().'
    [ "$output" = "7" ]
    [ "$(cat log)" = "a line" ]
}

@test "without the headers of Erlang the native code says what to install" {
    for folder in "$BATS_TEST_TMPDIR/ertslab/nif" "$TOP/c_src"; do
        run make -C "$folder" INCLUDE=/nowhere PRIV="$BATS_TEST_TMPDIR/priv"
        [ "$status" -ne 0 ]
        [[ $output == *"erlang-dev"* ]]
    done
}

@test "another project writes through batch_io, which needs nothing else" {
    ln -s "$TOP/erl_src/batch_io" "$THEIRS/_checkouts/batch_io"
    rm "$THEIRS/_checkouts/cons_spacing"
    echo '{deps, [batch_io]}.' >"$THEIRS/rebar.config"
    echo '{application, theirs, [{vsn, "1"}, {applications, [kernel, stdlib, batch_io]}]}.' \
        >"$THEIRS/src/theirs.app.src"
    cd "$THEIRS"
    rebar3 compile
    run erl -noinput -pa _build/default/{lib,checkouts}/*/ebin -kernel logger_level none -eval '
        {ok, File} = file:open("lines", [write]),
        ok = batch_io:start(#{leader => File, slots => 1000, drop => {block, 1000}}),
        [ok = batch_io:format("~b: ~ts~n", [N, "text"]) || N <- lists:seq(1, 10000)],
        {ok, #{sent := Sent, dropped := Dropped}} = batch_io:stop(),
        io:format("~p ~p", [Sent, Dropped]), halt().'
    [ "$output" = "10000 0" ]
    [ "$(wc -l <lines)" -eq 10000 ]
    [ "$(tail -n 1 lines)" = "10000: text" ]
}

# The example of its README, except the last line, which is for a shell.
@test "another project counts with callbacks" {
    rm "$THEIRS/_checkouts/cons_spacing"
    cp -r "$TOP/erl_src/callbacks" "$THEIRS/_checkouts/callbacks"
    echo '{deps, [callbacks]}.' >"$THEIRS/rebar.config"
    sed -i 's/cons_spacing/callbacks/' "$THEIRS/src/theirs.app.src"
    cd "$THEIRS"
    rebar3 compile
    example=$(sed -n 's/^[1-4]> \(.*\)\.$/\1,/p' "$TOP/erl_src/callbacks/README.md")
    [ -n "$example" ]
    run erl -noinput -pa _build/default/{lib,checkouts}/*/ebin -eval "
        {ok, _} = application:ensure_all_started(callbacks),
        $example
        receive {{callback_down, Id}, Reference, process, _, normal} -> ok end,
        receive {counted, 3} -> io:put_chars(\"counted 3\") end, halt()."
    [ "$output" = "counted 3" ]
}

@test "the experiment that the documentation writes compiles, measures and verifies" {
    cd "$BATS_TEST_TMPDIR"
    sed -n '/^%% @doc How long lists:sum\/1 takes/,/^```/p' "$TOP/doc/experiments.md" | grep -v '^```' >exp_sum.erl
    "$DEFAULT_ROOT/bin/erlc" -Werror +warn_missing_spec -pa "$TOP/build/erl/default/lib/ertslab/ebin" exp_sum.erl
    run "$DEFAULT_ROOT/bin/erl" -noinput -pa . "$TOP/build/erl/default/lib/ertslab/ebin" -eval '
        #{metrics := [#{name := sum}]} = exp_sum:info(),
        State = exp_sum:prepare(sum, exp_sum:setup(#{cells => 1000})),
        {Time, Result} = exp_sum:run(sum, State),
        io:format("~p ~p ~p", [is_number(Time), Result, exp_sum:verify(sum, Result, State)]), halt().'
    [ "$status" -eq 0 ] && [ "$output" = "true 500500 ok" ] || { echo "$output"; return 1; }
}

@test "what the READMEs type runs on the oldest and on the newest Erlang" {
    cd "$THEIRS"
    rm -rf _checkouts
    mkdir _checkouts
    for library in batch_io callbacks mailbox_audit; do cp -r "$TOP/erl_src/$library" "_checkouts/$library"; done
    # Its C code is in the same repository, and is compiled with the headers of either Erlang.
    ln -s "$BATS_TEST_TMPDIR/ertslab/erl_src/cons_spacing" _checkouts/cons_spacing
    echo '{deps, [batch_io, callbacks, cons_spacing, mailbox_audit]}.' >rebar.config
    rebar3 compile
    for library in mailbox_audit batch_io callbacks cons_spacing; do typed "$library" /usr/bin; done
    [[ $output == *"{16.0,136.0}"* ]]
    rm -rf _build
    cp -r "$TOP/erl_src/dam" _checkouts/dam
    sed -i 's/batch_io/dam, &/' rebar.config
    PATH=$DEFAULT_ROOT/bin:$PATH rebar3 compile
    for library in batch_io callbacks cons_spacing dam mailbox_audit; do typed "$library" "$NEWEST_ROOT/bin"; done
    typed dam "$DEFAULT_ROOT/bin"
}
