%% @doc A setting as it is written: `fullsweep_after=0'. Pure.
-module(ertslab_try_setting).

-export([type/0, format_error/1]).
-export_type([setting/0, reason/0]).

-type setting() :: {fullsweep_after | min_heap_size | min_bin_vheap_size, non_neg_integer()} | {message_queue_data, on_heap | off_heap}.
-type reason() :: no_setting | no_queue | no_size | no_flag.

%% The flags that a process can set, and get back as they were.
-define(SIZES, [fullsweep_after, min_heap_size, min_bin_vheap_size]).
-define(QUEUES, [on_heap, off_heap]).
%% The VM keeps 16 bits of it, so 65,536 is 0 to it.
-define(MOST_SWEEPS, 65_535).
%% Words, of 8 bytes: 800 MB. A node that gets no such heap ends, as it does with a size that is none to its VM.
%% What runs in the node refuses more than 134 million.
-define(MOST_WORDS, 100_000_000).

%% @doc For ertslab_arguments.
-spec type() -> ertslab_arguments:custom(setting()).
type() -> {custom, fun parsed/1, fun written/1}.

parsed(Text) ->
    case string:split(Text, "=") of
        [Name, Value] -> parsed(lists:search(fun(Flag) -> atom_to_list(Flag) =:= Name end, [message_queue_data | ?SIZES]), Value);
        [_] -> {error, {?MODULE, no_setting}}
    end.

parsed({value, message_queue_data}, Value) ->
    case [Queue || Queue <- ?QUEUES, atom_to_list(Queue) =:= Value] of
        [Queue] -> {ok, {message_queue_data, Queue}};
        [] -> {error, {?MODULE, no_queue}}
    end;
parsed({value, Flag}, Value) ->
    case is_number(Value, most(Flag)) of
        true -> {ok, {Flag, list_to_integer(Value)}};
        false -> {error, {?MODULE, no_size}}
    end;
parsed(false, _) -> {error, {?MODULE, no_flag}}.

is_number(Value, Most) ->
    Value =/= "" andalso lists:all(fun(C) -> C >= $0 andalso C =< $9 end, Value)
        andalso length(string:trim(Value, leading, "0")) =< 9 andalso list_to_integer(Value) =< Most.

most(fullsweep_after) -> ?MOST_SWEEPS;
most(_) -> ?MOST_WORDS.

-spec format_error(reason()) -> unicode:chardata().
format_error(no_setting) -> "give a flag and its value, as fullsweep_after=0";
format_error(no_queue) -> "message_queue_data is on_heap or off_heap";
format_error(no_size) ->
    io_lib:format("its value is an integer from 0 to ~b for fullsweep_after, and to ~b for the sizes", [?MOST_SWEEPS, ?MOST_WORDS]);
format_error(no_flag) -> "only fullsweep_after, min_heap_size, min_bin_vheap_size and message_queue_data can be tried".

written({Flag, Value}) -> lists:flatten(io_lib:format("~ts=~w", [Flag, Value])).
