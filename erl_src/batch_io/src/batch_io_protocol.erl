%% @doc IO requests of other processes: which of them write, and the text that they write.
-module(batch_io_protocol).

-export([outputs/2, output/2, entry/3]).
-export_type([output/0]).

%% `pass': the request does more than write.
-type output() :: {text, Bytes :: non_neg_integer(), binary() | {io:format(), [term()]}} |
                  {error, term()} | pass.

%% @doc The texts that a request and all requests inside it write, in order. `pass' means that the
%% device must handle one of them, and therefore all. A `requests' request without a proper list is
%% refused here, and so are options that no device takes, because both terminate OTP's devices, and
%% with them what other clients write.
-spec outputs(Request :: term(), caller | device) -> [output()] | pass.
outputs(Request, Who) ->
    case flat([Request], [], []) of
        {ok, Requests} -> unless_passed([output(Each, Who) || Each <- Requests]);
        error -> [{error, request}]
    end.

unless_passed(Outputs) ->
    case lists:member(pass, Outputs) of
        true -> pass;
        false -> Outputs
    end.

flat([{requests, Inner} | Rest], Later, Before) -> flat(Inner, [Rest | Later], Before);
flat([{setopts, Options} = Request | Rest], Later, Before) ->
    case are_options(Options) of
        true -> flat(Rest, Later, [Request | Before]);
        false -> error
    end;
flat([Request | Rest], Later, Before) -> flat(Rest, Later, [Request | Before]);
flat([], [Rest | Later], Before) -> flat(Rest, Later, Before);
flat([], [], Before) -> {ok, lists:reverse(Before)};
flat(_, _, _) -> error.

are_options(Options) when length(Options) >= 0 -> lists:all(fun is_option/1, Options);
are_options(_) -> false.

%% A device answers that it does not know others.
is_option({binary, Value}) -> is_boolean(Value);
is_option(_) -> true.

%% @doc The text that one request writes.
-spec output(Request :: term(), caller | device) -> output().
output({put_chars, unicode, io_lib, format, [Format, Arguments]}, Who) ->
    try entry(Format, Arguments, Who) of
        {Bytes, Text} -> {text, Bytes, Text}
    catch error:_ -> {error, format}
    end;
output({put_chars, Encoding, Chars}, _) -> chars(Encoding, Chars);
output({put_chars, Encoding, Module, Function, Arguments}, _) -> called(Encoding, Module, Function, Arguments);
output({put_chars, Chars}, _) -> chars(latin1, Chars);
output({put_chars, Module, Function, Arguments}, _) -> called(latin1, Module, Function, Arguments);
output(_, _) -> pass.

%% Calls the function in a process of its own, because a function may end the process that calls it,
%% even by a signal, and take its messages. The process returns what the function returned as its exit
%% reason. The function can choose a reason too, so the text is made here, of whatever the reason has.
-dialyzer({nowarn_function, called/4}). % the process only exits
called(Encoding, Module, Function, Arguments) ->
    Returned = make_ref(),
    {Caller, Monitor} = spawn_monitor(fun() -> exit({Returned, made(Module, Function, Arguments)}) end),
    receive
        {'DOWN', Monitor, process, Caller, {Returned, {chars, Chars}}} -> chars(Encoding, Chars);
        {'DOWN', Monitor, process, Caller, _} -> {error, Function}
    end.

made(Module, Function, Arguments) ->
    try {chars, apply(Module, Function, Arguments)}
    catch _:_ -> error
    end.

chars(Encoding, Chars) when Encoding =:= latin1; Encoding =:= unicode ->
    try unicode:characters_to_binary(Chars, Encoding) of
        Text when is_binary(Text) -> {text, byte_size(Text), Text};
        _ -> {error, {put_chars, Encoding, Chars}}
    catch error:_ -> {error, {put_chars, Encoding, Chars}}
    end;
chars(_, _) -> {error, request}.

%% @doc What the buffer keeps of a format and its arguments, and how many bytes that counts for.
%% This is the text, or the format and arguments themselves if the device formats them and cannot
%% fail.
%% Fails with `badarg' if io:format would.
-spec entry(io:format(), [term()], caller | device) ->
          {Bytes :: non_neg_integer(), binary() | {io:format(), [term()]}}.
entry(Format, Arguments, device) ->
    case batch_io_format:check(Format, Arguments) of
        {sure, Bytes} -> {Bytes, {Format, Arguments}};
        unsure -> entry(Format, Arguments, caller)
    end;
entry(Format, Arguments, caller) ->
    Text = batch_io_format:text(Format, Arguments),
    {byte_size(Text), Text}.
