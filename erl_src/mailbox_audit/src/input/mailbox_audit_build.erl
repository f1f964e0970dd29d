%% @doc What rebar3 and mix have built of a project, in `_build': a folder for each profile or environment, which repeats the others.
-module(mailbox_audit_build).

-export([ebins/1, ebin_of/1, ebins_around/1]).

%% rebar3's and mix's own first; MIX_ENV goes before them.
-define(PREFERRED, ["default", "dev", "prod", "test"]).
%% From a file up to the project that it belongs to: apps/NAME/src/deeper/still.
-define(PARENTS, 6).

%% @doc The folders of modules of a project, with those of what it depends on: of one profile. What cannot be looked into is among them.
-spec ebins(file:filename_all()) -> [mailbox_audit_files:found()].
ebins(Dir) ->
    Profiles = [{filename:basename(path(Profile)), Ebins} || Profile <- mailbox_audit_files:below(Dir, to_profiles(Dir)),
                                                             Ebins <- [ebins_of_profile(Profile)], Ebins =/= []],
    case [Ebins || Name <- [os:getenv("MIX_ENV", "") | ?PREFERRED], {Profile, Ebins} <- Profiles, Profile =:= Name]
        ++ [Ebins || {_, Ebins} <- Profiles] of
        [] -> [];
        [First | _] -> First
    end.

path({ok, Path}) -> Path;
path({unread, Path, _}) -> Path.

to_profiles(Dir) ->
    case filename:basename(mailbox_audit_files:absolute(Dir)) of
        "_build" -> [any];
        _ -> ["_build", any]
    end.

ebins_of_profile({ok, Profile}) ->
    [Ebin || Kind <- ["lib", "checkouts"], Ebin <- mailbox_audit_files:below(Profile, [Kind, any, "ebin"]), has_something(Ebin)];
ebins_of_profile(Unread) -> [Unread].

has_something({ok, Ebin}) -> mailbox_audit_files:below(Ebin, [{ending, ".beam"}]) =/= [];
has_something(_Unread) -> true.

%% @doc The modules of an application of an umbrella, which is built in the folder of that. Given is the application's own folder.
-spec ebin_of(file:filename_all()) -> [mailbox_audit_files:found()].
ebin_of(Dir) ->
    Name = filename:basename(mailbox_audit_files:absolute(Dir)),
    [Ebin || Ebin <- around(Dir), lists:member(Name, [filename:basename(Path) || Path <- [path(Ebin), filename:dirname(path(Ebin))]])].

%% @doc Those of the project around a file that can be looked into and be on a code path.
-spec ebins_around(file:filename_all()) -> [file:filename()].
ebins_around(File) -> [Ebin || {ok, Ebin} <- around(File), is_list(Ebin)].

around(File) -> above(filename:dirname(mailbox_audit_files:absolute(File)), ?PARENTS).

above(_Dir, 0) -> [];
above(Dir, Left) ->
    case ebins(Dir) of
        [] -> above(filename:dirname(Dir), Left - 1);
        Ebins -> Ebins
    end.
