%% @doc IO requests of other processes: which of them write, and the text that they write.
%%
%% Some requests terminate OTP's files, and with them what other clients write. Requests are judged
%% here, before the device has any of them: a `requests' request without a proper list is refused,
%% and so are options, encodings, calls and numbers of characters that no device takes.
%%
%% Only the device can judge the following. Each terminates a file:
%%
%% <ul>
%% <li>a `get_until' request whose function fails, does not exist or does not return what it must,</li>
%% <li>a request that reads from a file that is only open for writing,</li>
%% <li>a request for characters of a file that the encoding of the file or of the request does not have,</li>
%% <li>a `get_chars' request for more characters than memory holds.</li>
%% </ul>
-module(batch_io_protocol).

-export([judged/2, outputs/2, output/2, entry/3]).
-export_type([output/0]).

%% More characters than anybody reads at once. A file terminates if it cannot allocate memory for them.
-define(MOST_CHARS, 16#FFFFFFFF).
%% A function of a `get_until' request has two arguments more, and no function has more than 255.
-define(MOST_ARGUMENTS, 253).

%% How long the other clients wait for the functions of a request. What a function makes of a large term can take seconds.
-define(FUNCTION_MS, 5_000).

%% `pass': the request does more than write. `none': it is an empty list of requests.
-type output() :: {text, Bytes :: non_neg_integer(), binary() | {io:format(), [term()]}} |
                  {error, term()} | pass | none.

%% @doc The texts that a request and all requests inside it write, in order. `{pass, Judged}' means
%% that the device must handle one of them, and therefore all. Judged is what the device is to have:
%% texts are rendered, so that the device calls no function again and finds no invalid characters.
%% A list of which the device must handle one request and another is an error is refused as a whole.
-spec judged(Request :: term(), caller | device) -> [output()] | {pass, Judged :: term()}.
judged(Request, Who) ->
    case flat([Request], [], []) of
        {ok, Requests} ->
            Deadline = deadline(),
            unless_passed(Requests, [output(Each, Who, Deadline) || Each <- Requests]);
        error -> [{error, request}]
    end.

unless_passed(Requests, Outputs) ->
    case lists:member(pass, Outputs) of
        true -> unless_refused(Requests, Outputs);
        false -> [Output || Output <- Outputs, Output =/= none]
    end.

unless_refused(Requests, Outputs) ->
    case lists:keyfind(error, 1, Outputs) of
        false -> {pass, as_one(lists:zipwith(fun rendered/2, Requests, Outputs))};
        Error -> [Error]
    end.

as_one([Request]) -> Request;
as_one(Requests) -> {requests, Requests}.

%% Formats are rendered too, because an encoding set among the requests may not have their characters.
rendered(_, {text, _, {Format, Arguments}}) -> {put_chars, unicode, batch_io_format:text(Format, Arguments)};
rendered(_, {text, _, Text}) -> {put_chars, unicode, Text};
rendered(Request, _) -> Request.

%% @doc As judged/2, with `pass' for `{pass, Judged}'. The server of version 0.1.0 calls this function
%% during an upgrade.
-spec outputs(Request :: term(), caller | device) -> [output()] | pass.
outputs(Request, Who) ->
    case judged(Request, Who) of
        {pass, _} -> pass;
        Outputs -> Outputs
    end.

%% Keeps an empty list, because it may be the last request, whose answer is that of all.
flat([{requests, []} = None | Rest], Later, Before) -> flat(Rest, Later, [None | Before]);
flat([{requests, Inner} | Rest], Later, Before) -> flat(Inner, [Rest | Later], Before);
flat([Request | Rest], Later, Before) -> flat(Rest, Later, [Request | Before]);
flat([], [Rest | Later], Before) -> flat(Rest, Later, Before);
flat([], [], Before) -> {ok, lists:reverse(Before)};
flat(_, _, _) -> error.

%% @doc The text that one request writes.
-spec output(Request :: term(), caller | device) -> output().
output(Request, Who) -> output(Request, Who, deadline()).

output({put_chars, unicode, io_lib, format, [Format, Arguments]}, Who, _) ->
    try entry(Format, Arguments, Who) of
        {Bytes, Text} -> {text, Bytes, Text}
    catch error:_ -> {error, format}
    end;
output({put_chars, Encoding, Chars}, _, _) -> chars(Encoding, Chars);
output({put_chars, Encoding, Module, Function, Arguments}, _, Deadline) -> called(Encoding, Module, Function, Arguments, Deadline);
output({put_chars, Chars}, _, _) -> chars(latin1, Chars);
output({put_chars, Module, Function, Arguments}, _, Deadline) -> called(latin1, Module, Function, Arguments, Deadline);
output({requests, []}, _, _) -> none;
output({setopts, Options}, _, _) -> pass_if(are_options(Options));
output({get_line, Encoding, _}, _, _) -> pass_if(is_encoding(Encoding));
output({get_chars, Encoding, _, Number}, _, _) -> pass_if(is_encoding(Encoding) andalso is_number_of_chars(Number));
output({get_chars, _, Number}, _, _) -> pass_if(is_number_of_chars(Number));
output({get_until, Encoding, _, Module, Function, Arguments}, _, _) ->
    pass_if(is_encoding(Encoding) andalso is_call(Module, Function, Arguments));
output({get_until, _, Module, Function, Arguments}, _, _) -> pass_if(is_call(Module, Function, Arguments));
output(_, _, _) -> pass.

deadline() -> now_ms() + ?FUNCTION_MS.

now_ms() -> erlang:monotonic_time(millisecond).

pass_if(true) -> pass;
pass_if(false) -> {error, request}.

are_options(Options) when length(Options) >= 0 -> lists:all(fun is_option/1, Options);
are_options(_) -> false.

%% A device answers that it does not know others.
is_option({binary, Value}) -> is_boolean(Value);
is_option(_) -> true.

is_encoding(Encoding) -> Encoding =:= latin1 orelse Encoding =:= unicode.

%% A device answers that it does not know what is no number.
is_number_of_chars(Number) -> not is_integer(Number) orelse Number =< ?MOST_CHARS.

is_call(Module, Function, Arguments)
  when is_atom(Module), is_atom(Function), length(Arguments) =< ?MOST_ARGUMENTS -> true;
is_call(_, _, _) -> false.

%% Calls the function in a process of its own, because a function may end the process that calls it,
%% even by a signal, and take its messages. The process returns what the function returned as its exit
%% reason. The function can choose a reason too, so the text is made here, of whatever the reason has.
%% A function that does not return in time is given up, because the other clients wait meanwhile.
-dialyzer({nowarn_function, called/5}). % the process only exits
called(Encoding, Module, Function, Arguments, Deadline) ->
    Returned = make_ref(),
    {Caller, Monitor} = spawn_monitor(fun() -> exit({Returned, made(Module, Function, Arguments)}) end),
    receive
        {'DOWN', Monitor, process, Caller, {Returned, {chars, Chars}}} -> chars(Encoding, Chars);
        {'DOWN', Monitor, process, Caller, _} -> {error, Function}
    after max(0, Deadline - now_ms()) ->
            true = exit(Caller, kill),
            true = demonitor(Monitor, [flush]),
            {error, Function}
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
