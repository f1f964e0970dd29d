%% @doc The options of a caller, as far as several functions have the same.
%%
%% All functions are pure.
-module(mailbox_audit_options).

-export([problem/1]).
-export_type([problem/0]).

-type problem() :: {bad_options, term()} | {bad_option, Name :: atom(), Value :: term()}.

%% No receive waits longer.
-define(MOST_MS, 16#ffffffff).

%% @doc What is wrong with them: the first option by name that has a value of another kind. Options of another name are let pass.
-spec problem(term()) -> none | problem().
problem(Options) when is_map(Options) ->
    case [{bad_option, Name, Value} || {Name, Value} <- lists:sort(maps:to_list(Options)), not fits(Name, Value)] of
        [] -> none;
        [Problem | _] -> Problem
    end;
problem(Options) -> {bad_options, Options}.

fits(progress, Value) -> is_function(Value, 2);
fits(Switch, Value) when Switch =:= search; Switch =:= in_caller -> is_boolean(Value);
fits(Ms, Value) when Ms =:= limit_ms; Ms =:= timeout_ms -> is_integer(Value) andalso Value > 0 andalso Value =< ?MOST_MS;
fits(_, _) -> true.
