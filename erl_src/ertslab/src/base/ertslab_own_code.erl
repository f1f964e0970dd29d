%% @doc The program's own code, for what runs for hours or days.
-module(ertslab_own_code).

-export([keep/0]).

-define(APPLICATIONS, [ertslab, diagnose, mailbox_audit]).

%% @doc Loads all of it. A module that is called for the first time hours later may be gone by then, or that of another version: a build
%% was cleaned or made anew, or the single file was removed or replaced. That file is not read again, because the loader waits for ever for
%% what is no archive any more.
-spec keep() -> ok.
keep() ->
    _ = [application:load(Application) || Application <- ?APPLICATIONS],
    Modules = lists:append([Of || Application <- ?APPLICATIONS, {ok, Of} <- [application:get_key(Application, modules)]]),
    %% The single file has not all of them: the commands that need a clone are left out.
    _ = code:ensure_modules_loaded(Modules),
    _ = [code:del_path(Folder) || not ertslab_paths:is_checkout(), Folder <- own_folders()],
    ok.

own_folders() ->
    File = filename:absname(escript:script_name()),
    [Folder || Folder <- code:get_path(), lists:prefix(File ++ "/", filename:absname(Folder) ++ "/")].
