-module(program_memory_SUITE).
-behaviour(ct_suite).

-export([all/0, peak_is_of_the_function/1]).

all() -> [peak_is_of_the_function].

%% The VM keeps memory that was released for some seconds. Then it no longer counts.
peak_is_of_the_function(_) ->
    Size = 64_000_000,
    OsPid = list_to_integer(os:getpid()),
    {Before, ok} = program_memory:peak(OsPid, fun() -> ok end),
    {With, Size} = program_memory:peak(OsPid, fun() -> byte_size(binary:copy(<<1>>, Size)) end),
    true = With > Before + Size div 2,
    garbage_collect(),
    falls(OsPid, With - Size div 2).

falls(OsPid, Bound) ->
    case program_memory:peak(OsPid, fun() -> ok end) of
        {Bytes, ok} when Bytes < Bound -> ok;
        _ -> timer:sleep(100), falls(OsPid, Bound)
    end.
