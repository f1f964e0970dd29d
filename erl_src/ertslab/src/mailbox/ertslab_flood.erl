%% @doc `ertslab flood': shows a log server under a flood of messages, live. Each second it prints the messages
%% waiting in the dam and in the server's mailbox, and the number of writes.
%%
%% The flood itself is a module with this behaviour, whose functions are called in the VM (see {@link ertslab_declared}).
-module(ertslab_flood).

-export([run/1, format_error/1]).
-export_type([reason/0]).

%% The file may be one for temporary use.
-type reason() :: {not_one_of, What :: string(), Word :: string(), Words :: [string()]} | {sink_exists, file:filename()}
                | {not_loaded, Sink :: file:filename() | none, Why :: unicode:chardata()}
                | {cannot_write, Sink :: file:filename() | none, file:posix()} | {cannot_go_on, file:posix()}
                | {ended, Why :: term()} | {lost, pos_integer()} | {too_many, pos_integer()}.

%% Starts the flood, and returns when the server runs. `sink': if it is `none', a file that goes with the VM.
-callback start(#{way := direct | dam, driver := atom(), messages := pos_integer(), sink := file:filename() | none}) ->
    ok | {error, term()}.
%% The progress: `ms' since the start of the flood, `writing_ms' since the server began to write.
-callback look() -> {ok, #{ms := non_neg_integer(), writing_ms := non_neg_integer(), phase := filling | writing | empty,
                           dam_queue := non_neg_integer(), server_queue := non_neg_integer(), writes := non_neg_integer()}}
                        | {error, term()}.
%% Ends the flood and counts: `alone' and `flooded' are writes a second, `lines' are those in the file, if there is one.
-callback finish() -> {ok, #{written := non_neg_integer(), waiting := non_neg_integer(), lost := integer(),
                             lines := non_neg_integer() | none, alone := float(), flooded := float()}} | {error, term()}.

-define(WAYS, ["direct", "dam"]).
-define(DRIVERS, ["async", "output", "tagged", "control"]).
-define(MESSAGES, 1_000_000).
-define(SECONDS, 60).
-define(VARIANT, "stock").
%% The memory of a message of the flood, including collections: the highest RSS grew by 363 bytes for each of 300,000
%% that were sent directly (OTP 29.1.1).
-define(BYTES_A_MESSAGE, 400).
-define(CALL_TIMEOUT_MS, 120_000).
-define(TICK_MS, 1_000).
-define(LOOK_MS, 100).

-spec run(map()) -> ok.
run(#{way := Way} = Options) ->
    _ = ertslab_experiment_parts:calls_are_here(ertslab_declared:one(flood)) orelse ertslab_paths:wants_the_lab("flood"),
    Flood = #{way => one_of("the way", Way, ?WAYS),
              driver => one_of("--driver", maps:get(driver, Options, "async"), ?DRIVERS),
              messages => maps:get(messages, Options, ?MESSAGES),
              sink => sink(Options)},
    ok = room(Flood),
    VM = ertslab_inventory:find(ertslab_text:binary(maps:get(vm, Options, ?VARIANT)), ertslab_inventory:release(Options)),
    case ertslab_vm:start(VM) of
        {ok, Running} ->
            try watched(Running, Flood, Options)
            after ertslab_vm:stop(Running)
            end;
        {error, Reason} -> ended(Reason)
    end.

one_of(What, Word, Words) ->
    lists:member(Word, Words) orelse
        ertslab_error:usage(?MODULE, {not_one_of, What, Word, Words}),
    list_to_atom(Word).

%% The drivers overwrite a file, so it must not exist.
sink(#{sink := File}) ->
    filelib:is_regular(File) andalso
        ertslab_error:usage(?MODULE, {sink_exists, File}),
    filename:absname(File);
sink(#{}) -> none.

room(#{messages := Messages}) ->
    ertslab_memory_limit:judge({["--messages ", integer_to_list(Messages)], Messages * ?BYTES_A_MESSAGE},
                       ertslab_memory_limit:available()).

watched(#{vm := VM} = Running, #{sink := Sink} = Flood, Options) ->
    case called(Running, start, [Flood]) of
        ok -> ok;
        {error, {not_loaded, Why}} -> ertslab_error:failure(?MODULE, {not_loaded, Sink, Why});
        {error, Posix} -> ertslab_error:failure(?MODULE, {cannot_write, Sink, Posix})
    end,
    show(Options, heading(VM, Flood)),
    Looks = looks(Running, Options, [#{ms => 0, dam_queue => 0, server_queue => 0, writes => 0}]),
    Result = (answered(called(Running, finish, [])))#{looks => Looks},
    case Options of
        #{json := true} -> io:put_chars(json:format(as_json(VM, Flood, Result)));
        #{} -> io:put_chars(ending(Flood, Result))
    end,
    nothing_lost(Result).

-spec format_error(reason()) -> unicode:chardata().
format_error({not_one_of, What, Word, Words}) -> [What, " '", Word, "': choose from ", lists:join(" ", Words)];
format_error({sink_exists, File}) -> ["--sink ", File, ": this file is there already; name a new one"];
format_error({not_loaded, Sink, Why}) -> ["cannot write to ", shown(Sink), ": the driver cannot be loaded (", Why, ")."];
format_error({cannot_write, Sink, Posix}) -> ["cannot write to ", shown(Sink), ": ", file:format_error(Posix), "."];
format_error({cannot_go_on, Posix}) -> ["the log server cannot write any more: ", file:format_error(Posix), "."];
format_error({ended, Why}) -> ["the flood ended: ", ertslab_crash:says(Why), "."];
format_error({lost, Number}) -> io_lib:format("~b messages were lost.", [Number]);
format_error({too_many, Number}) -> io_lib:format("~b messages came out more than were sent.", [Number]).

shown(none) -> "a file for temporary use";
shown(Sink) -> Sink.

called(Running, Function, Args) ->
    case ertslab_vm:call(Running, ertslab_declared:one(flood), Function, Args, ?CALL_TIMEOUT_MS) of
        {ok, Answer} -> Answer;
        {error, Reason} -> ended(Reason)
    end.

answered({ok, Answer}) -> Answer;
answered({error, Reason}) -> ended(Reason).

-spec ended(term()) -> no_return().
ended({the_server_ended, {cannot_write, Posix}}) -> ertslab_error:failure(?MODULE, {cannot_go_on, Posix});
ended(Why) -> ertslab_error:failure(?MODULE, {ended, Why}).

%% The looks of all seconds, in the order of time.
looks(Running, Options, [#{ms := Ms} = Before | _] = Seen) ->
    Look = next_look(Running, Ms - Ms rem ?TICK_MS + ?TICK_MS, limit_ms(Options)),
    show(Options, line(Before, Look)),
    case is_over(Look, limit_ms(Options)) of
        true -> tl(lists:reverse([Look | Seen]));
        false -> looks(Running, Options, [Look | Seen])
    end.

limit_ms(Options) -> 1000 * maps:get(seconds, Options, ?SECONDS).

next_look(Running, AtMs, LimitMs) ->
    #{ms := Ms} = Look = answered(called(Running, look, [])),
    case is_over(Look, LimitMs) orelse Ms >= AtMs of
        true -> Look;
        false ->
            timer:sleep(min(?LOOK_MS, AtMs - Ms)),
            next_look(Running, AtMs, LimitMs)
    end.

%% The time of sending the messages does not count.
is_over(#{phase := empty}, _LimitMs) -> true;
is_over(#{writing_ms := Ms}, LimitMs) -> Ms >= LimitMs.

show(#{json := true}, _Text) -> ok;
show(#{}, Text) -> io:put_chars(Text).

heading(#{name := Name, version := Version}, #{way := Way, driver := Driver, messages := Messages}) ->
    [io_lib:format("~b messages to a log server, ~ts, driver ~ts, ~ts on OTP ~ts~n",
                   [Messages, through(Way), Driver, Name, Version]),
     columns(["time", "dam queue", "change", "server queue", "change", "writes/s"])].

through(direct) -> "sent directly";
through(dam) -> "through a dam".

columns(Cells) -> io_lib:format("~8ts~12ts~12ts~15ts~12ts~12ts~n", Cells).

line(#{ms := From, dam_queue := DamBefore, server_queue := ServerBefore, writes := WritesBefore},
     #{ms := To, dam_queue := Dam, server_queue := Server, writes := Writes}) ->
    columns([io_lib:format("~.1f s", [To / 1000]), integer_to_list(Dam), signed(Dam - DamBefore),
             integer_to_list(Server), signed(Server - ServerBefore),
             integer_to_list(1000 * (Writes - WritesBefore) div max(1, To - From))]).

signed(Number) when Number > 0 -> [$+ | integer_to_list(Number)];
signed(Number) -> integer_to_list(Number).

ending(#{way := Way, messages := Messages},
       #{written := Written, waiting := Waiting, lost := Lost, alone := Alone, flooded := Flooded} = Result) ->
    [io_lib:format("~ts: ~.1f writes a second, ~.2f % of ~.1f with an empty mailbox~n",
                   [Way, Flooded, 100 * Flooded / Alone, Alone]),
     io_lib:format("~b of ~b messages written~ts, ~b still waiting, ~ts lost~n",
                   [Written, Messages, in_file(Result), Waiting, none_or(Lost)])].

in_file(#{lines := none}) -> " (by the driver's count)";
in_file(#{lines := Lines}) -> io_lib:format(" (~b lines in the file)", [Lines]).

none_or(0) -> "none";
none_or(Lost) -> integer_to_list(Lost).

as_json(#{name := Name, version := Version}, #{way := Way, driver := Driver, messages := Messages},
        #{looks := Looks, lines := Lines} = Result) ->
    Result#{format => 1, vm => Name, otp => Version, way => Way, driver => Driver, messages => Messages,
            lines := null_for_none(Lines), looks := [maps:remove(phase, Look) || Look <- Looks]}.

null_for_none(none) -> null;
null_for_none(Lines) -> Lines.

%% Receiving more messages than were sent is an error too.
nothing_lost(#{lost := 0}) -> ok;
nothing_lost(#{lost := Lost}) when Lost > 0 -> ertslab_error:failure(?MODULE, {lost, Lost});
nothing_lost(#{lost := Lost}) -> ertslab_error:failure(?MODULE, {too_many, -Lost}).
