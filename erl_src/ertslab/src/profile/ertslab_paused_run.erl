%% @doc A run of an experiment that pauses between its setup and its first metric, inside the profiled VM. So a
%% profiler can attach before the metrics begin, and sees nothing else.
-module(ertslab_paused_run).

-export([start/3, finish/0]).

%% @doc Sets the experiment up, and returns when that is done. The result is the process of the operating system that does the
%% work: this VM, or a program that the experiment started.
-spec start(module(), ertslab_experiment:params(), ertslab_rounds:counts()) -> {ok, OsPid :: pos_integer()}.
start(Module, Params, Counts) ->
    Caller = self(),
    {Held, Monitor} = spawn_monitor(fun() -> held(Caller, Module, Params, Counts) end),
    true = register(?MODULE, Held),
    receive
        {Held, {prepared, OsPid}} ->
            demonitor(Monitor, [flush]),
            {ok, OsPid};
        {'DOWN', Monitor, process, Held, Reason} -> error(Reason)
    end.

held(Caller, Module, Params, Counts) ->
    ertslab_worker:run(Module, Params, Counts,
                        fun(State) ->
                                Caller ! {self(), {prepared, works(Module, State)}},
                                receive go -> ok end
                        end).

works(Module, State) ->
    case erlang:function_exported(Module, program, 1) of
        true -> Module:program(State);
        false -> list_to_integer(os:getpid())
    end.

%% @doc Runs the metrics, and returns when they have ended.
-spec finish() -> ok.
finish() ->
    Monitor = monitor(process, ?MODULE),
    ?MODULE ! go,
    receive
        {'DOWN', Monitor, process, _, normal} -> ok;
        {'DOWN', Monitor, process, _, Reason} -> error(Reason)
    end.
