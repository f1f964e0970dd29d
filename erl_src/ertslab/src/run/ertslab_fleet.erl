%% @doc The same comparison on several machines, one after the other: a file
%% names them, one a line, each with the folder of its checkout where that is
%% not the same as here. What fails on one does not stop the others.
-module(ertslab_fleet).

-export([each/3, machines/1]).

%% @doc Calls the function for each machine of the file, with options that name
%% it and a folder of its own below `Dir'; a page there sets them side by side.
%% Fails at the end where one failed.
-spec each(file:filename(), map(), fun((map()) -> ok)) -> ok.
each(File, #{out := Dir} = Options, Fun) ->
    Tried = [{went_well(Address, Fun, on_machine(Address, Folder, Options)), Address}
             || {Address, Folder} <- machines(File)],
    side_by_side(Dir, [filename:join(Dir, folder(Address)) || {true, Address} <- Tried]),
    case [Address || {false, Address} <- Tried] of
        [] -> ok;
        Failed ->
            ertslab_error:failure("~b of the machines failed (~ts); the others' results are in ~ts.",
                                  [length(Failed), lists:join(", ", Failed), Dir])
    end;
each(_File, #{}, _Fun) -> ertslab_error:usage("--fleet wants --out, for a folder with one for each machine", []).

on_machine(Address, Folder, #{out := Dir} = Options) ->
    (maps:remove(fleet, Options))#{host => Address, host_dir => Folder,
                                   out => filename:join(Dir, folder(Address))}.

side_by_side(_Dir, []) -> ok;
side_by_side(Dir, Folders) ->
    ertslab_report:run(#{dirs => Folders, out => filename:join(Dir, "report.html")}).

went_well(Address, Fun, Options) ->
    io:format(standard_error, "== ~ts~n", [Address]),
    try Fun(Options) of
        ok -> true
    catch
        throw:{Kind, Sentence} when Kind =:= failure; Kind =:= usage; Kind =:= beyond ->
            io:format(standard_error, "ertslab: ~ts~n", [Sentence]),
            false
    end.

%% @doc The machines of a file and their folders ("" means: the same as here).
%% Empty lines, and what follows a #, are left out.
-spec machines(file:filename()) -> [{Address :: string(), Dir :: string()}, ...].
machines(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            Lines = string:split(unicode:characters_to_list(Text), "\n", all),
            case lists:flatmap(fun machine/1, Lines) of
                [] -> ertslab_error:usage("~ts names no machine", [File]);
                Machines -> Machines
            end;
        {error, Reason} -> ertslab_error:usage("cannot read ~ts: ~ts", [File, file:format_error(Reason)])
    end.

machine(Line) ->
    [Named | _] = string:split(Line, "#"),
    case string:split(string:trim(Named), " ") of
        [""] -> [];
        [Address] -> [{Address, ""}];
        [Address, Dir] -> [{Address, string:trim(Dir)}]
    end.

%% An address as the name of a folder.
folder(Address) ->
    [case is_plain(Char) of true -> Char; false -> $_ end || Char <- Address].

is_plain(Char) ->
    (Char >= $a andalso Char =< $z) orelse (Char >= $A andalso Char =< $Z)
        orelse (Char >= $0 andalso Char =< $9) orelse lists:member(Char, "-.@").
