%% @doc What an experiment of this project calls. The single-file program, and a checkout in which no OTP is built, have
%% neither native code nor all libraries.
-module(ertslab_experiment_parts).

-export([are_here/1, calls_are_here/1]).

%% @doc Whether each module is here that the experiment calls, directly or not, or wants to be loaded.
-spec are_here(module()) -> boolean().
are_here(Module) -> calls_are_here(Module) andalso all_load(maps:get(loads, ertslab_parameters:info(Module), [])).

%% @doc Whether each module is here that this one calls, directly or not.
-spec calls_are_here(module()) -> boolean().
calls_are_here(Module) -> calls_present([Module], []).

%% `Seen': the modules whose calls were looked at already.
calls_present([], _) -> true;
calls_present([Module | Others], Seen) ->
    case lists:member(Module, Seen) orelse code:which(Module) of
        true -> calls_present(Others, Seen);
        non_existing -> false;
        File -> calls_present(called(Module, File) ++ Others, [Module | Seen])
    end.

%% Modules of OTP call only others of OTP.
called(Module, File) when is_list(File) ->
    case not lists:prefix(code:lib_dir(), File) andalso code:get_object_code(Module) of
        {Module, Beam, _} ->
            {ok, {Module, [{imports, Imports}]}} = beam_lib:chunks(Beam, [imports]),
            lists:usort([Called || {Called, _, _} <- Imports]);
        _ -> []
    end;
called(_, _Preloaded) -> [].

%% Native code is asked for where it is measured; without a checkout there is none.
all_load(Modules) -> ertslab_paths:is_checkout() orelse Modules =:= [].
