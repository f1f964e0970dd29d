%% @doc Calls that are given as text. They are read, never evaluated: the
%% arguments are literals.
-module(mailbox_audit_call).

-export([parse/1, entry/1, is_call/1]).
-export_type([call/0]).

-type call() :: {module(), atom(), [term()]}.

%% @doc The call that a text such as `file:read_file_info("/tmp")' names; a dot may end it.
-spec parse(string()) -> {ok, call()} | {error, string()}.
parse(Text) ->
    case erl_scan:string(Text) of
        {ok, Tokens, _} -> call(Text, erl_parse:parse_exprs(ended(Tokens)));
        {error, _, _} -> refused(Text)
    end.

ended(Tokens) ->
    case Tokens =/= [] andalso lists:last(Tokens) of
        {dot, _} -> Tokens;
        _ -> Tokens ++ [{dot, 1}]
    end.

call(Text, {ok, [{call, _, {remote, _, {atom, _, Module}, {atom, _, Function}}, Args}]}) ->
    try {ok, {Module, Function, [erl_parse:normalise(Arg) || Arg <- Args]}}
    catch error:_ -> refused(Text)
    end;
call(Text, _) -> refused(Text).

refused(Text) ->
    {error, lists:flatten(io_lib:format("'~ts' is not a call with literal arguments, such as"
                                        " file:read_file_info(\"/tmp\")", [Text]))}.

%% @doc Whether a term is a call.
-spec is_call(term()) -> boolean().
is_call({Module, Function, Args}) when is_atom(Module), is_atom(Function), length(Args) >= 0 -> true; % false of an improper list
is_call(_) -> false.

%% @doc What is timed of it. What the call starts or opens stays until its
%% process ends.
-spec entry(call()) -> mailbox_audit_timed:entry().
entry({Module, Function, Args}) ->
    #{name => lists:flatten(io_lib:format("~ts:~ts(~ts)", [Module, Function, arguments(Args)])),
      call => fun(_) -> apply(Module, Function, Args) end}.

arguments(Args) -> lists:join(", ", [io_lib:format("~0tp", [Arg]) || Arg <- Args]).
