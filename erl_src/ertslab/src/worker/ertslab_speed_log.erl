%% @doc A log of the machine's speed during a run, kept beside the run's values.
%%
%% The log is a table, so that its points are not on the measuring process's heap.
-module(ertslab_speed_log).

-export([new/0, note/1, noted/1]).
-export_type([log/0, points/0]).

-opaque log() :: {ets:table(), ertslab_speed_probe:probe()}.
%% Milliseconds since the epoch, and the nanoseconds that a fixed piece of work took.
-type points() :: [{integer(), pos_integer()}].

%% The speed is probed at most once in this time. A probe takes a hundredth of it.
-define(EVERY_MS, 5).

%% @doc An empty log that belongs to this process.
-spec new() -> log().
new() ->
    Table = ets:new(?MODULE, [ordered_set, private]),
    true = ets:insert(Table, {next, erlang:monotonic_time(millisecond)}),
    {Table, ertslab_speed_probe:new()}.

%% @doc Probes the speed, if a probe is due.
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

%% @doc The points, in the order of time.
-spec noted(log()) -> points().
noted({Table, _}) -> [Point || {At, _} = Point <- ets:tab2list(Table), At =/= next].
