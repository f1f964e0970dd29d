%% @doc The machine's speed beside the values of a run.
%%
%% The log is a table, so that what it holds is no part of the measuring process's heap.
-module(ertslab_speed_log).

-export([new/0, note/1, noted/1]).
-export_type([log/0, points/0]).

-opaque log() :: {ets:table(), ertslab_speed_probe:probe()}.
%% Milliseconds since the epoch, and nanoseconds of a fixed piece of work.
-type points() :: [{integer(), pos_integer()}].

%% The speed is looked at so often at most: a look takes a hundredth of that.
-define(EVERY_MS, 5).

%% @doc An empty log, of this process.
-spec new() -> log().
new() ->
    Table = ets:new(?MODULE, [ordered_set, private]),
    true = ets:insert(Table, {next, erlang:monotonic_time(millisecond)}),
    {Table, ertslab_speed_probe:new()}.

%% @doc Looks at the speed, where that is due.
-spec note(log()) -> ok.
note({Table, Probe}) ->
    Now = erlang:monotonic_time(millisecond),
    case ets:lookup_element(Table, next, 2) of
        Next when Now < Next -> ok;
        _ ->
            Nanoseconds = ertslab_speed_probe:run(Probe),
            true = ets:insert(Table, [{erlang:system_time(millisecond), Nanoseconds}, {next, Now + ?EVERY_MS}]),
            ok
    end.

%% @doc What was seen, in the order of time.
-spec noted(log()) -> points().
noted({Table, _}) -> [Point || {At, _} = Point <- ets:tab2list(Table), At =/= next].
