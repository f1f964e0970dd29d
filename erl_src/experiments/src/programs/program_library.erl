%% @doc Calls of libraries that are there only when an experiment runs, so that neither xref nor dialyzer can look at them.
-module(program_library).

-export([call/3]).

%% @doc What the library's function returns.
-spec call(module(), atom(), [term()]) -> term().
call(Module, Function, Args) -> apply(Module, Function, Args).
