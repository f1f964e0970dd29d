%% @doc The options: their valid values and their defaults.
-module(batch_io_options).

-export([complete/1, change/2, format_error/1]).
-export_type([options/0, some/0, drop/0, leader/0, problem/0]).

-type leader() :: pid() | atom().
%% What happens to a message that finds the buffer full. newest: it is dropped. oldest: the oldest
%% messages are dropped instead. block: it waits until the deadline and is then dropped.
-type drop() :: newest | oldest | {block, DeadlineMs :: non_neg_integer()}.
%% slots, bytes: the most that is held, in messages and in bytes of text.
%% page_size: bytes given to the device at once. A larger message goes alone.
%% flush_ms: the longest that a message waits for others to fill its page.
%% leader: the device, as a pid or a registered name.
%% format: who formats the text, the caller or the device.
%% Set only by the library itself: writer, the name of a writer other than batch_io_writer, and
%% tell, the function that makes the line about dropped messages.
-type options() :: #{slots := pos_integer(), bytes := pos_integer(), page_size := pos_integer(),
                     flush_ms := non_neg_integer(), leader := leader(), drop := drop(),
                     format := caller | device, writer => atom(), tell => {module(), atom(), [term()]}}.
-type some() :: #{slots => pos_integer(), bytes => pos_integer(), page_size => pos_integer(),
                  flush_ms => non_neg_integer(), leader => leader(), drop => drop(),
                  format => caller | device}.
-type problem() :: {unknown_option, Name :: term()} |
                   {bad_option, Name :: atom(), Value :: term()} |
                   {dead_leader, leader()} | {not_a_map, term()}.

%% Limits of the atomic word that counts both held messages and bytes (batch_io_buffer).
-define(MOST_SLOTS, 2_000_000).
-define(MOST_BYTES, 34_359_738_368).
-define(MOST_MS, 86_400_000).
-define(OWN, [batch_io, batch_io_writer, batch_io_sup]).

%% @doc All options: those given, and defaults for the others.
-spec complete(term()) -> {ok, options()} | {error, problem()}.
complete(Given) ->
    change(#{slots => 40_000, bytes => 16 * 1024 * 1024, page_size => 4096, flush_ms => 10,
             leader => user, drop => newest, format => caller},
           Given).

%% @doc The options, with the given ones changed.
-spec change(options(), term()) -> {ok, options()} | {error, problem()}.
change(_, Given) when not is_map(Given) -> {error, {not_a_map, Given}};
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

%% The library's own processes are refused as leader: they would get their own pages back, or not
%% answer.
leader_problems(Name) when is_atom(Name) ->
    case {lists:member(Name, ?OWN), whereis(Name)} of
        {true, _} -> [{bad_option, leader, Name}];
        {false, Pid} when is_pid(Pid) -> leader_problems(Pid);
        _ -> [{dead_leader, Name}]
    end;
leader_problems(Pid) when is_pid(Pid), node(Pid) =:= node() ->
    unless(not lists:member(Pid, [whereis(Name) || Name <- ?OWN]), {bad_option, leader, Pid})
        ++ unless(is_process_alive(Pid), {dead_leader, Pid});
leader_problems(Pid) when is_pid(Pid) -> [];
leader_problems(Other) -> [{bad_option, leader, Other}].

%% @doc Describes a problem in one sentence.
-spec format_error(problem()) -> string().
format_error({unknown_option, Name}) ->
    text("there is no option ~tp; choose from: bytes drop flush_ms format leader page_size slots", [Name]);
format_error({not_a_map, Given}) -> text("the options must be a map, not ~tp", [Given]);
format_error({dead_leader, Leader}) -> text("the leader ~tp is not alive; name a device that is", [Leader]);
format_error({bad_option, Name, Value}) -> text("~ts must be ~ts, not ~tp", [Name, wanted(Name), Value]).

wanted(slots) -> text("a whole number from 1 to ~b", [?MOST_SLOTS]);
wanted(flush_ms) -> text("a whole number of milliseconds from 0 to ~b", [?MOST_MS]);
wanted(drop) -> "newest, oldest or {block, Milliseconds}";
wanted(format) -> "caller or device";
wanted(leader) -> "the pid or the registered name of another device";
wanted(_Bytes) -> text("a whole number from 1 to ~b", [?MOST_BYTES]).

text(Format, Arguments) -> lists:flatten(io_lib:format(Format, Arguments)).
