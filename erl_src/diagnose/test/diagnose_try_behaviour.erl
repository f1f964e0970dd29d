%% @doc A behaviour that is not of OTP, and takes the messages of `sys'.
-module(diagnose_try_behaviour).

-export([start_link/1]).
-export([init/2, system_continue/3, system_terminate/4, system_code_change/4]).

-callback worked(Message :: term(), State) -> State when State :: [term()].

%% @doc Starts a process that has the module do all work.
-spec start_link(module()) -> {ok, pid()}.
start_link(Module) -> proc_lib:start_link(?MODULE, init, [Module, self()]).

%% @doc Its first function.
-spec init(module(), pid()) -> no_return().
init(Module, Parent) ->
    ok = proc_lib:init_ack({ok, self()}),
    loop(Parent, [], {Module, []}).

loop(Parent, Debug, {Module, State} = Both) ->
    receive
        {system, From, Request} -> sys:handle_system_msg(Request, From, Parent, ?MODULE, Debug, Both);
        Message ->
            loop(Parent, sys:handle_debug(Debug, fun(_, _, _) -> ok end, none, {in, Message}), {Module, Module:worked(Message, State)})
    end.

system_continue(Parent, Debug, Both) -> loop(Parent, Debug, Both).

system_terminate(Reason, _, _, _) -> exit(Reason).

system_code_change(Both, _, _, _) -> {ok, Both}.
