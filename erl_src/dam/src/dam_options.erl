%% @doc The options of a dam: their defaults and their valid values.
-module(dam_options).

-export([new/2, change/2, at_run_time/0, not_at_run_time/1, is_own_name/2, own_name/1, ended/1]).

-define(DEFAULTS, #{high => 1_000,
                    limit => 10_000, limit_bytes => infinity, measure => external,
                    policy => {block, infinity},
                    credit => sys, poll_ms => 10, recover_ms => 1_000, retry_ms => 100,
                    stop_ms => 5_000}).

-include("dam_timeout.hrl").

-type complaint() :: unicode:chardata().

%% @doc All options of a dam that is about to start.
-spec new(dam_types:server(), dam_types:options()) -> {ok, map()} | {bad_server | error, complaint()}.
new(Server, Options) when is_map(Options) ->
    case is_server(Server) of
        true -> change(Options#{server => Server}, maps:put(events, dam_events:telemetry(), ?DEFAULTS));
        false -> {bad_server, complaint(server, Server)}
    end;
new(_, _) -> {error, "the options must be a map"}.

%% @doc The options that can be changed while a dam runs.
-spec at_run_time() -> [atom(), ...].
at_run_time() -> [server, high, low, limit, limit_bytes, measure, policy, recover_ms, retry_ms, stop_ms].

%% @doc Applies changes to options, which are checked one by one and against each other. If only
%% `high' is given, `low' is half of it.
-spec change(map(), map()) -> {ok, map()} | {error, complaint()}.
change(Changes, Options) ->
    case [complaint(Name, Value) || Name := Value <- Changes, not is_valid(Name, Value)] of
        [Complaint | _] -> {error, Complaint};
        [] -> together(with_low(Changes, maps:merge(Options, Changes)))
    end.

with_low(#{low := _}, Options) -> Options;
with_low(#{high := High}, Options) -> Options#{low => High div 2};
with_low(_, #{low := _} = Options) -> Options;
with_low(_, #{high := High} = Options) -> Options#{low => High div 2}.

together(#{low := Low, high := High}) when Low >= High ->
    {error, io_lib:format("option low: ~p must be less than high, which is ~p", [Low, High])};
together(#{credit := poll, server := Server} = Options) ->
    case is_elsewhere(Server) of
        true -> {error, io_lib:format("option credit: poll is for servers of this node, not for ~p", [Server])};
        false -> {ok, Options}
    end;
together(Options) -> {ok, Options}.

is_elsewhere(Pid) when is_pid(Pid) -> node(Pid) =/= node();
is_elsewhere({Name, Node}) when Name =/= global -> Node =/= node();
is_elsewhere(_) -> false.

is_valid(server, Server) -> is_server(Server);
is_valid(high, High) -> is_positive(High);
is_valid(low, Low) -> is_integer(Low) andalso Low >= 0;
is_valid(limit, Limit) -> Limit =:= infinity orelse is_positive(Limit);
is_valid(limit_bytes, Limit) -> Limit =:= infinity orelse is_positive(Limit);
is_valid(measure, Measure) -> lists:member(Measure, [external, flat]) orelse is_function(Measure, 1);
is_valid(policy, Policy) -> is_policy(Policy);
is_valid(credit, Credit) -> lists:member(Credit, [sys, ack, poll]);
is_valid(stop_ms, Ms) -> is_time(Ms);
is_valid(Name, Ms) when Name =:= poll_ms; Name =:= recover_ms; Name =:= retry_ms ->
    is_time(Ms) andalso is_positive(Ms);
is_valid(events, Events) -> Events =:= undefined orelse is_function(Events, 3);
is_valid(_, _) -> false.

is_positive(N) -> is_integer(N) andalso N > 0.

is_time(Ms) -> is_integer(Ms) andalso Ms >= 0 andalso Ms =< ?MAX_MS.

is_server(Pid) when is_pid(Pid) -> true;
is_server(Name) when is_atom(Name) -> Name =/= undefined;
is_server({global, _}) -> true;
is_server({via, Module, _}) -> is_atom(Module);
is_server({Name, Node}) -> is_atom(Name) andalso is_atom(Node);
is_server(_) -> false.

is_policy({block, infinity}) -> true;
is_policy({block, Ms}) -> is_time(Ms);
is_policy(drop_newest) -> true;
is_policy(drop_oldest) -> true;
is_policy({drop_key, KeyFun}) -> is_function(KeyFun, 1);
is_policy({codel, TargetMs, IntervalMs}) -> is_positive(TargetMs) andalso is_positive(IntervalMs);
is_policy(_) -> false.

%% @doc Whether a dam of that name would be its own server.
-spec is_own_name(dam_types:name(), dam_types:server()) -> boolean().
is_own_name({local, Name}, Name) -> true;
is_own_name({local, Name}, {Name, Node}) -> Name =/= global andalso Node =:= node();
is_own_name({global, Name}, Server) -> is_own_name({via, global, Name}, Server);
is_own_name(Name, {global, Global}) -> Name =:= {via, global, Global};
is_own_name(Name, Server) -> Name =:= Server.

-spec own_name(dam_types:server()) -> complaint().
own_name(Server) -> io_lib:format("option server: ~p is the dam itself", [Server]).

%% @doc What a local server that has ended is refused with. The dam would end with it, and lose what it holds.
-spec ended(pid()) -> complaint().
ended(Server) -> io_lib:format("option server: ~p has ended", [Server]).

complaint(Name, Value) ->
    case is_option(Name) of
        true -> io_lib:format("option ~p: ~p ~ts", [Name, Value, must(Name)]);
        false -> unknown(Name)
    end.

is_option(Name) -> lists:member(Name, [credit, poll_ms, events | at_run_time()]).

unknown(Name) -> io_lib:format("option ~p: there is no such option", [Name]).

%% @doc What a change of this option is refused with while the dam runs.
-spec not_at_run_time(term()) -> complaint().
not_at_run_time(Name) ->
    case is_option(Name) of
        true -> io_lib:format("option ~p: cannot be changed while the dam runs", [Name]);
        false -> unknown(Name)
    end.

must(server) -> "must be a pid, a name, {Name, Node}, {global, Name} or {via, Module, Name}";
must(high) -> "must be a positive integer";
must(low) -> "must be an integer of 0 or more";
must(measure) -> "must be external, flat or a fun of one argument";
must(policy) ->
    "must be {block, Milliseconds | infinity}, drop_newest, drop_oldest, {drop_key, Fun} or"
        " {codel, TargetMs, IntervalMs}";
must(credit) -> "must be sys, ack or poll";
must(events) -> "must be a fun of three arguments or undefined";
must(Limit) when Limit =:= limit; Limit =:= limit_bytes -> "must be a positive integer or infinity";
must(stop_ms) -> "must be an integer of 0 or more, in milliseconds";
must(Ms) when Ms =:= poll_ms; Ms =:= recover_ms; Ms =:= retry_ms ->
    "must be a positive integer, in milliseconds".
