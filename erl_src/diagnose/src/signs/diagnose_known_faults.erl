%% @doc Faults of OTP that fit what was seen: by the version, and by a sign. The list is priv/known_faults.eterm.
-module(diagnose_known_faults).

-export([faults/0, fitting/4, met_by_looking/2, covers/2]).
-export_type([fault/0, sign/0]).

-type sign() :: hibernates_with_a_large_heap | starts_processes_behind_a_mailbox.
-type fault() :: #{issue := string(), versions := [{string(), string() | none}], sign := sign(), what := string(),
                   advice := string()}.

%% From so many bytes on a collection may run on a dirty scheduler (128 Ki words of 8 bytes).
-define(LARGE_HEAP, 1_048_576).

%% @doc The list; `unknown' where its file is not there, as where only the modules were brought along. Read once: a watch lasts for days,
%% and the file may be gone by then.
-spec faults() -> [fault()] | unknown.
faults() ->
    case persistent_term:get(?MODULE, unknown) of
        unknown -> kept(read());
        Faults -> Faults
    end.

kept(unknown) -> unknown;
kept(Faults) ->
    ok = persistent_term:put(?MODULE, Faults),
    Faults.

read() ->
    %% As the loader reads it, so that it may lie in an archive, too.
    case erl_prim_loader:get_file(filename:join(priv_dir(), "known_faults.eterm")) of
        {ok, Text, _} -> terms(erl_scan:tokens([], unicode:characters_to_list(Text), 1));
        error -> unknown
    end.

terms({done, {ok, Tokens, Line}, Rest}) ->
    {ok, Term} = erl_parse:parse_term(Tokens),
    [Term | terms(erl_scan:tokens([], Rest, Line))];
terms({done, {eof, _}, _}) -> [];
terms({more, Continuation}) -> terms(erl_scan:tokens(Continuation, eof, 1)).

%% An application that is used by path alone may be unknown to the code server.
priv_dir() ->
    case code:priv_dir(diagnose) of
        {error, bad_name} -> filename:join(filename:dirname(filename:dirname(code:which(?MODULE))), "priv");
        Dir -> Dir
    end.

%% @doc Those of the list that this version has and that fit a process, with the receive that it goes through, if any.
-spec fitting([fault()] | unknown, binary() | unknown, diagnose_types:suspect(), [diagnose_types:scan()]) -> [fault()].
fitting(_Faults, unknown, _Suspect, _Scans) -> [];
fitting(unknown, _Version, _Suspect, _Scans) -> [];
fitting(Faults, Version, Suspect, Scans) ->
    [Fault || #{sign := Sign, versions := Ranges} = Fault <- Faults, covers(Version, Ranges), shows(Sign, Suspect, Scans)].

%% @doc Those that a look itself can bring about, since it sends signals to processes that hibernate. Where the exact
%% version is unknown, the release's first one counts; where the list is, there are none.
-spec met_by_looking(binary() | unknown, Release :: pos_integer()) -> [fault()].
met_by_looking(unknown, Release) -> met_by_looking(iolist_to_binary(io_lib:format("~b.0", [Release])), Release);
met_by_looking(Version, _Release) ->
    Faults = faults(),
    [Fault || is_list(Faults), #{sign := hibernates_with_a_large_heap, versions := Ranges} = Fault <- Faults, covers(Version, Ranges)].

shows(hibernates_with_a_large_heap, #{hibernates := Hibernates, used_bytes := Used}, _) ->
    Hibernates andalso is_integer(Used) andalso Used >= ?LARGE_HEAP;
%% sync_start or, in older releases, sync_start_link and the like.
shows(starts_processes_behind_a_mailbox, _, Scans) ->
    lists:any(fun(#{function := {Module, Name, _}}) -> Module =:= proc_lib andalso lists:prefix("sync_", atom_to_list(Name)) end,
              Scans).

%% @doc Whether a version lies in one of the ranges. What is no row of numbers, such as a release candidate, lies in none.
-spec covers(binary(), [{string(), string() | none}]) -> boolean().
covers(Version, Ranges) ->
    case numbers(Version) of
        unknown -> false;
        Numbers -> lists:any(fun({First, Last}) -> numbers(First) =< Numbers andalso is_before(Numbers, Last) end, Ranges)
    end.

is_before(_, none) -> true;
is_before(Numbers, Last) -> Numbers =< numbers(Last).

numbers(Version) ->
    try [binary_to_integer(Number) || Number <- binary:split(iolist_to_binary(Version), <<".">>, [global])]
    catch error:badarg -> unknown
    end.
