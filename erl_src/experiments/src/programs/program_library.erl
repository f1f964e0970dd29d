%% @doc Calls of libraries that are present only while an experiment runs, so that xref and dialyzer cannot check them.
-module(program_library).

-export([call/3]).

%% @doc What the library's function returns.
-spec call(module(), atom(), [term()]) -> term().
call(Module, Function, Args) -> apply(Module, Function, Args).
