%% @doc Runs the same comparison on several machines, one after the other. A file names them, one per line, each with
%% the folder of its checkout if that differs from the one here. A failure on one machine does not stop the others.
-module(ertslab_fleet).

-export([each/3, machines/1]).

%% @doc Calls the function for each machine of the file, with options that name the machine and its folder below
%% `Dir', where a page then shows all results side by side. Fails at the end if a machine failed, and ends with the
%% status of `--fail-if' if results of one are beyond the bound.
-spec each(file:filename(), map(), fun((map()) -> ok)) -> ok.
each(File, #{out := Dir} = Options, Fun) ->
    Tried = [{ended(Address, Fun, on_machine(Address, Folder, Options)), Address}
             || {Address, Folder} <- machines(File)],
    side_by_side(Dir, [filename:join(Dir, folder(Address)) || {End, Address} <- Tried, End =/= failed]),
    Failed = [Address || {failed, Address} <- Tried],
    ertslab_fail_if:ended([Address || {beyond, Address} <- Tried],
                          [io_lib:format("~b of the machines failed (~ts); the others' results are in ~ts.",
                                         [length(Failed), lists:join(", ", Failed), Dir]) || Failed =/= []]);
each(_File, #{}, _Fun) -> ertslab_error:usage("--fleet wants --out, for a folder with one for each machine", []).

on_machine(Address, Folder, #{out := Dir} = Options) ->
    maps:merge((maps:remove(fleet, Options))#{host => Address, out => filename:join(Dir, folder(Address))},
               maps:from_list([{host_dir, Folder} || Folder =/= ""])).

side_by_side(_Dir, []) -> ok;
side_by_side(Dir, Folders) ->
    ertslab_report:run(#{dirs => Folders, out => filename:join(Dir, "report.html")}).

ended(Address, Fun, Options) ->
    io:format(standard_error, "== ~ts~n", [Address]),
    try ertslab_finished:or_else(maps:get(out, Options), Options, fun() -> ertslab_plan:of_call(Options) end, fun() -> Fun(Options) end) of
        Ended when Ended =:= ok; Ended =:= before -> measured
    catch
        throw:{Kind, Sentence} when Kind =:= failure; Kind =:= usage; Kind =:= beyond ->
            io:format(standard_error, "ertslab: ~ts~n", [Sentence]),
            case Kind of
                beyond -> beyond;
                _ -> failed
            end
    end.

%% @doc The machines of a file with their folders ("" for the same folder as here). Empty lines and everything after a
%% # are ignored.
-spec machines(file:filename()) -> [{Address :: string(), Dir :: string()}, ...].
machines(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            case lists:flatmap(fun machine/1, lines(File, unicode:characters_to_list(Text))) of
                [] -> ertslab_error:usage("~ts names no machine", [File]);
                Machines -> Machines
            end;
        {error, Reason} -> ertslab_error:usage("cannot read ~ts: ~ts", [File, file:format_error(Reason)])
    end.

lines(_, Text) when is_list(Text) -> string:split(Text, "\n", all);
lines(File, _) -> ertslab_error:usage("~ts is no text in UTF-8", [File]).

machine(Line) ->
    [Named | _] = string:split(Line, "#"),
    case string:split(string:trim(Named), " ") of
        [""] -> [];
        [Address] -> [{Address, ""}];
        [Address, Dir] -> [{Address, string:trim(Dir)}]
    end.

%% Makes an address usable as the name of a folder.
folder(Address) ->
    [case is_plain(Char) of true -> Char; false -> $_ end || Char <- Address].

is_plain(Char) ->
    (Char >= $a andalso Char =< $z) orelse (Char >= $A andalso Char =< $Z)
        orelse (Char >= $0 andalso Char =< $9) orelse lists:member(Char, "-.@").
