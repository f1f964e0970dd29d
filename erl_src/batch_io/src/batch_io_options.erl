%% @doc The options: what each may be, and what it is by default.
-module(batch_io_options).

-export([complete/1, change/2, format_error/1]).
-export_type([options/0, some/0, drop/0, leader/0, problem/0]).

-type leader() :: pid() | atom().
%% What becomes of a message that finds the buffer full: it is dropped itself, or
%% the oldest are for it, or it waits until the deadline and is dropped then.
-type drop() :: newest | oldest | {block, DeadlineMs :: non_neg_integer()}.
%% slots, bytes: what is held at most, in messages and in bytes of text.
%% page_size: bytes that go to the device at once; a larger message goes alone.
%% flush_ms: how long a message waits at most for others to fill its page.
%% leader: the device, by pid or by the name that it registers.
%% format: who makes text of a format and its arguments, the caller or the device.
%% Not to be given: writer, the name of the writer where it is not batch_io_writer, and
%% tell, which says in a line how many messages were dropped.
-type options() :: #{slots := pos_integer(), bytes := pos_integer(), page_size := pos_integer(),
                     flush_ms := non_neg_integer(), leader := leader(), drop := drop(),
                     format := caller | device, writer => atom(), tell => {module(), atom(), [term()]}}.
-type some() :: #{slots => pos_integer(), bytes => pos_integer(), page_size => pos_integer(),
                  flush_ms => non_neg_integer(), leader => leader(), drop => drop(),
                  format => caller | device}.
-type problem() :: {unknown_option, Name :: term()} |
                   {bad_option, Name :: atom(), Value :: term()} |
                   {dead_leader, leader()}.

%% What is held is counted in one word, beside each other (batch_io_buffer).
-define(MOST_SLOTS, 2_000_000).
-define(MOST_BYTES, 34_359_738_368).
-define(MOST_MS, 86_400_000).

%% @doc All options: those given, and the others as they are by default.
-spec complete(#{term() => term()}) -> {ok, options()} | {error, problem()}.
complete(Given) ->
    change(#{slots => 40_000, bytes => 16 * 1024 * 1024, page_size => 4096, flush_ms => 10,
             leader => user, drop => newest, format => caller},
           Given).

%% @doc Those options, with the ones given in their place.
-spec change(options(), #{term() => term()}) -> {ok, options()} | {error, problem()}.
change(Options, Given) ->
    case lists:append([problems(Name, Value) || {Name, Value} <- maps:to_list(Given)]) of
        [] -> {ok, maps:merge(Options, Given)};
        [Problem | _] -> {error, Problem}
    end.

problems(slots, Value) -> unless(in(Value, 1, ?MOST_SLOTS), {bad_option, slots, Value});
problems(bytes, Value) -> unless(in(Value, 1, ?MOST_BYTES), {bad_option, bytes, Value});
problems(page_size, Value) -> unless(in(Value, 1, ?MOST_BYTES), {bad_option, page_size, Value});
problems(flush_ms, Value) -> unless(in(Value, 0, ?MOST_MS), {bad_option, flush_ms, Value});
problems(drop, {block, Ms} = Value) -> unless(in(Ms, 0, ?MOST_MS), {bad_option, drop, Value});
problems(drop, Value) -> unless(lists:member(Value, [newest, oldest]), {bad_option, drop, Value});
problems(format, Value) -> unless(lists:member(Value, [caller, device]), {bad_option, format, Value});
problems(leader, Value) -> leader_problems(Value);
problems(Name, _) -> [{unknown_option, Name}].

unless(true, _Problem) -> [];
unless(false, Problem) -> [Problem].

in(Value, Least, Most) -> is_integer(Value) andalso Value >= Least andalso Value =< Most.

%% A device that is this library itself would get its own pages back.
leader_problems(batch_io) -> [{bad_option, leader, batch_io}];
leader_problems(Name) when is_atom(Name) ->
    case whereis(Name) of
        Pid when is_pid(Pid) -> leader_problems(Pid);
        _ -> [{dead_leader, Name}]
    end;
leader_problems(Pid) when is_pid(Pid), node(Pid) =:= node() ->
    unless(Pid =/= whereis(batch_io), {bad_option, leader, Pid})
        ++ unless(is_process_alive(Pid), {dead_leader, Pid});
leader_problems(Pid) when is_pid(Pid) -> [];
leader_problems(Other) -> [{bad_option, leader, Other}].

%% @doc One sentence for a problem.
-spec format_error(problem()) -> string().
format_error({unknown_option, Name}) ->
    text("there is no option ~tp; choose from: bytes drop flush_ms format leader page_size slots", [Name]);
format_error({dead_leader, Leader}) -> text("the leader ~tp is not alive; name a device that is", [Leader]);
format_error({bad_option, Name, Value}) -> text("~ts is ~tp; ~ts is wanted", [Name, Value, wanted(Name)]).

wanted(slots) -> text("a whole number from 1 to ~b", [?MOST_SLOTS]);
wanted(flush_ms) -> text("a whole number of milliseconds from 0 to ~b", [?MOST_MS]);
wanted(drop) -> "newest, oldest or {block, Milliseconds}";
wanted(format) -> "caller or device";
wanted(leader) -> "the pid or the registered name of another device";
wanted(_Bytes) -> text("a whole number from 1 to ~b", [?MOST_BYTES]).

text(Format, Arguments) -> lists:flatten(io_lib:format(Format, Arguments)).
