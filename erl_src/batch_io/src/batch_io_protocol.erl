%% @doc IO requests, as other processes send them: those that write, and the text
%% that they write.
-module(batch_io_protocol).

-export([output/2, entry/3]).
-export_type([output/0]).

%% `pass': it does not only write.
-type output() :: {text, Bytes :: non_neg_integer(), binary() | {io:format(), [term()]}} |
                  {error, term()} | pass.

%% @doc What a request writes.
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

%% A function that ends the process that calls it ends nothing else.
called(Encoding, Module, Function, Arguments) ->
    try apply(Module, Function, Arguments) of
        Chars -> chars(Encoding, Chars)
    catch _:_ -> {error, Function}
    end.

chars(Encoding, Chars) when Encoding =:= latin1; Encoding =:= unicode ->
    try unicode:characters_to_binary(Chars, Encoding) of
        Text when is_binary(Text) -> {text, byte_size(Text), Text};
        _ -> {error, {put_chars, Encoding, Chars}}
    catch error:_ -> {error, {put_chars, Encoding, Chars}}
    end;
chars(_, _) -> {error, request}.

%% @doc What is kept of a format and its arguments, and the bytes that it counts
%% for: the text, or both as they are where the device makes text of them and
%% cannot fail. Fails with `badarg' where io:format would.
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
