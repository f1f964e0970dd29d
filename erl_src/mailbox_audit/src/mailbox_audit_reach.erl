%% @doc From which exported functions another function is reached, by the
%% static calls between modules. Calls of functions that are only known at run
%% time, and what runs in another process, are not followed.
%%
%% All functions are pure.
-module(mailbox_audit_reach).

-export([graph/1, exported_callers/2, calls_itself/2]).
-export_type([graph/0, reached/0]).

-opaque graph() :: #{callers := #{mfa() => [mfa()]}, exported := #{mfa() => true}}.
-type reached() :: {mfa(), Calls :: non_neg_integer()}.

%% @doc The graph of those modules, from their exported functions and calls.
-spec graph([{module(), Exports :: [mailbox_audit_receives:function_name()],
              [{mailbox_audit_receives:function_name(), mfa()}]}]) -> graph().
graph(Modules) ->
    Calls = [{Callee, {Module, Name, Arity}}
             || {Module, _, Calls} <- Modules, {{Name, Arity}, Callee} <- Calls],
    #{callers => maps:groups_from_list(fun({Callee, _}) -> Callee end, fun({_, Caller}) -> Caller end,
                                       Calls),
      exported => maps:from_list([{{Module, Name, Arity}, true}
                                  || {Module, Exports, _} <- Modules, {Name, Arity} <- Exports])}.

%% @doc The exported functions that reach a function, itself included where it
%% is one, and by how many calls: the nearest first.
-spec exported_callers(mfa(), graph()) -> [reached()].
exported_callers(Function, #{exported := Exported} = Graph) ->
    Distances = breadth_first([Function], 0, #{Function => 0}, Graph),
    lists:sort(fun nearer/2, maps:to_list(maps:with(maps:keys(Exported), Distances))).

%% @doc Whether a function is called again from what it calls, as the loop of a process is.
-spec calls_itself(mfa(), graph()) -> boolean().
calls_itself(Function, #{callers := Callers} = Graph) ->
    Direct = maps:get(Function, Callers, []),
    is_map_key(Function, breadth_first(Direct, 1, maps:from_keys(Direct, 1), Graph)).

nearer({One, Distance}, {Other, Further}) -> {Distance, One} =< {Further, Other}.

breadth_first([], _Distance, Seen, _Graph) -> Seen;
breadth_first(Functions, Distance, Seen, #{callers := Callers} = Graph) ->
    Next = [Caller || Function <- Functions, Caller <- maps:get(Function, Callers, []),
                      not is_map_key(Caller, Seen)],
    Fresh = lists:usort(Next),
    Found = maps:from_list([{Caller, Distance + 1} || Caller <- Fresh]),
    breadth_first(Fresh, Distance + 1, maps:merge(Seen, Found), Graph).
