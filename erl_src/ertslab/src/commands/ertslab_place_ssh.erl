%% @doc Machines that are reached over ssh, as places that measure: one, or each of a file. The VMs run there; the results
%% are collected here. A file names one machine a line, with the folder of its checkout if that differs from the one here.
-module(ertslab_place_ssh).
-behaviour(ertslab_place).

-export([places/1, run/2, machines/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {no_machine, file:filename()} | {no_text, file:filename()} | {same_folder, file:filename(), Folder :: string()}
                | {cannot_read, file:filename(), file:posix() | badarg | terminated | system_limit}.

%% @doc The machine of `--host', or those of `--fleet', which measure one after another.
-spec places(map()) -> ertslab_place:places().
places(#{fleet := File, out := Dir}) ->
    Machines = machines(File),
    Folders = [folder(Address) || {Address, _} <- Machines],
    _ = [ertslab_error:usage(?MODULE, {same_folder, File, Folder})
         || Folder <- Folders -- lists:uniq(Folders)],
    {one_by_one, [#{name => Address, options => maps:merge(#{host => Address, out => filename:join(Dir, folder(Address))}, Checkout)}
                  || {Address, Folder} <- Machines, Checkout <- [maps:from_list([{host_dir, Folder} || Folder =/= ""])]]};
places(#{host := Address} = Options) -> #{name => Address, options => maps:with([host, host_dir, out], Options)}.

%% @doc Makes the call from this machine, with VMs of the other one.
-spec run(ertslab_place:call(), ertslab_place:place()) -> ok.
run(Call, Place) -> ertslab_place_here:run(Call, Place).

%% @doc The machines of a file with their folders ("" for the same folder as here). Empty lines and everything after a
%% # are ignored.
-spec machines(file:filename()) -> [{Address :: string(), Dir :: string()}, ...].
machines(File) ->
    case file:read_file(File) of
        {ok, Text} ->
            case lists:flatmap(fun machine/1, lines(File, unicode:characters_to_list(Text))) of
                [] -> ertslab_error:usage(?MODULE, {no_machine, File});
                Machines -> Machines
            end;
        {error, Reason} -> ertslab_error:usage(?MODULE, {cannot_read, File, Reason})
    end.

lines(_, Text) when is_list(Text) -> string:split(Text, "\n", all);
lines(File, _) -> ertslab_error:usage(?MODULE, {no_text, File}).

-spec format_error(reason()) -> unicode:chardata().
format_error({no_machine, File}) -> [File, " names no machine"];
format_error({same_folder, File, Folder}) -> [File, ": two machines would have the folder ", Folder, "; each is named once"];
format_error({no_text, File}) -> [File, " is not a text in UTF-8"];
format_error({cannot_read, File, Reason}) -> ["cannot read ", File, ": ", file:format_error(Reason)].

machine(Line) ->
    [Named | _] = string:split(Line, "#"),
    {Address, Dir} = string:take(string:trim(Named), " \t", true),
    [{Address, string:trim(Dir)} || Address =/= ""].

%% Makes an address usable as the name of a folder.
folder(Address) ->
    [case is_plain(Char) of true -> Char; false -> $_ end || Char <- Address].

is_plain(Char) ->
    (Char >= $a andalso Char =< $z) orelse (Char >= $A andalso Char =< $Z)
        orelse (Char >= $0 andalso Char =< $9) orelse lists:member(Char, "-.@").
