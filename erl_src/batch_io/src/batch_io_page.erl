%% @doc Cuts waiting messages into pages, and makes the IO request for a page.
-module(batch_io_page).

-export([cut/2, request/3]).
-export_type([item/0, page/0]).

%% Messages, and between them requests that the device has to handle.
-type item() :: batch_io_buffer:entry() | {pass, reference(), pid(), Request :: term()}.
-type page() :: {Slots :: non_neg_integer(), Bytes :: non_neg_integer(), [batch_io_buffer:entry()]}.

%% @doc The next page and the rest. `full' means that waiting for more messages is useless: no more
%% would fit, or a request to be passed on comes next. A message larger than a page is a page of its
%% own.
-spec cut([item()], batch_io_buffer:limits()) -> empty | {pass, item(), [item()]} | {full | partial, page(), [item()]}.
cut([], _Limits) -> empty;
cut([{pass, _, _, _} = Item | Rest], _Limits) -> {pass, Item, Rest};
cut(Items, Limits) -> cut(Items, Limits, 0, 0, []).

cut([{batch_io_buffer, Size, _} = Entry | Rest], {Most, MostSlots} = Limits, Slots, Bytes, Page)
  when Slots < MostSlots, Bytes + Size =< Most; Slots =:= 0 ->
    cut(Rest, Limits, Slots + 1, Bytes + Size, [Entry | Page]);
cut([], {Most, MostSlots}, Slots, Bytes, Page) when Slots < MostSlots, Bytes < Most ->
    {partial, {Slots, Bytes, lists:reverse(Page)}, []};
cut(Rest, _Limits, Slots, Bytes, Page) -> {full, {Slots, Bytes, lists:reverse(Page)}, Rest}.

%% @doc The request that writes a page, preceded by Line, which may be empty. Text is sent as one
%% binary, formats for the device as one list of requests.
-spec request([batch_io_buffer:entry()], Line :: binary(), latin1 | unicode) -> tuple().
request(Entries, Line, Encoding) ->
    case joined([{batch_io_buffer, byte_size(Line), Line} | Entries], []) of
        [Text] when is_binary(Text) -> put_chars(Text, Encoding);
        Parts -> {requests, [put_chars(Part, Encoding) || Part <- Parts, Part =/= <<>>]}
    end.

%% Joins consecutive texts.
joined([], Parts) -> lists:reverse(Parts);
joined([{batch_io_buffer, _, Text} | _] = Entries, Parts) when is_binary(Text) ->
    {Texts, Rest} = texts(Entries, []),
    joined(Rest, [iolist_to_binary(Texts) | Parts]);
joined([{batch_io_buffer, _, Unformatted} | Entries], Parts) -> joined(Entries, [Unformatted | Parts]).

texts([{batch_io_buffer, _, Text} | Entries], Texts) when is_binary(Text) -> texts(Entries, [Text | Texts]);
texts(Entries, Texts) -> {lists:reverse(Texts), Entries}.

put_chars({Format, Arguments}, unicode) -> {put_chars, unicode, io_lib, format, [Format, Arguments]};
put_chars({Format, Arguments}, latin1) -> put_chars(batch_io_format:text(Format, Arguments), latin1);
put_chars(Text, unicode) -> {put_chars, unicode, Text};
put_chars(Text, latin1) -> {put_chars, latin1, latin1(Text)}.

%% ASCII text, the most common case, is not converted: conversion takes 10 ns for each byte.
latin1(Text) ->
    case batch_io_format:is_ascii(Text) of
        true -> Text;
        false -> << <<(latin1_character(Char))/binary>> || <<Char/utf8>> <= Text >>
    end.

%% A Latin-1 file device terminates on a character that it cannot write, and other clients' messages
%% are lost with it. So such a character is written as OTP's terminals write it.
latin1_character(Char) when Char < 256 -> <<Char>>;
latin1_character(Char) -> <<"\\x{", (integer_to_binary(Char, 16))/binary, "}">>.
