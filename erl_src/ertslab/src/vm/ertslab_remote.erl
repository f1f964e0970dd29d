%% @doc The VMs that are built on another machine. That machine has a checkout that was built with its own
%% `./build.sh'; nothing is copied to it.
-module(ertslab_remote).

-export([vms/1, format_error/1]).
-export_type([reason/0]).

%% The complaint is what ssh wrote, and may be empty.
-type reason() :: {silent, Address :: string(), Complaint :: binary()} | {slow, Address :: string(), Complaint :: binary()}
                | {not_built, Address :: string(), Dir :: file:filename(), Complaint :: binary()}
                | {older, Address :: string()} | {no_list, Address :: string()}.

-define(LIST_TIMEOUT_MS, 60_000).

%% @doc The VMs that are built there, each with its host.
-spec vms(ertslab_ssh:host()) -> [ertslab_inventory:vm()].
vms(#{address := Address, dir := Dir} = Host) ->
    Log = complaints(),
    Listed = ertslab_os_command:run(ertslab_ssh:program(Address) ++ [ertslab_ssh:quote(filename:join(Dir, "ertslab")), "list", "--json"],
                              Log, #{timeout_ms => ?LIST_TIMEOUT_MS}),
    Complaint = complaint(Log),
    case Listed of
        {ok, Text} -> listed(Host, Text);
        {error, {status, 255, _}} -> ertslab_error:failure(?MODULE, {silent, Address, Complaint});
        {error, timeout} -> ertslab_error:failure(?MODULE, {slow, Address, Complaint});
        {error, {status, _, _}} -> ertslab_error:failure(?MODULE, {not_built, Address, Dir, Complaint})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({silent, Address, Complaint}) -> said(Address, "does not answer", Complaint);
format_error({slow, Address, Complaint}) -> said(Address, "does not answer in time", Complaint);
format_error({not_built, Address, Dir, Complaint}) -> said(Address, ["has no ertslab that is built in ", Dir], Complaint);
format_error({older, Address}) -> [Address, " has an older ertslab."];
format_error({no_list, Address}) -> [Address, " answers what is not ertslab's list."].

said(Address, What, Complaint) -> [Address, " ", What, because(string:trim(Complaint)), "."].

because(<<>>) -> "";
because(Complaint) -> [" (", lists:last(string:lexemes(Complaint, "\n")), ")"].

listed(#{address := Address} = Host, Text) ->
    case decoded(Text) of
        #{<<"vms">> := VMs, <<"libraries">> := Libraries} when is_list(VMs), is_list(Libraries) ->
            There = Host#{libraries => [unicode:characters_to_list(Dir) || Dir <- Libraries, is_binary(Dir)]},
            [vm(There, VM) || VM <- VMs];
        #{} -> ertslab_error:failure(?MODULE, {older, Address});
        _ -> no_list(Host)
    end.

decoded(Text) ->
    try ertslab_json_reader:decode(Text)
    catch error:{not_json, _} -> none
    end.

vm(Host, #{<<"name">> := Name, <<"release">> := Release, <<"version">> := Version, <<"build_id">> := BuildId,
           <<"sha256">> := Sha, <<"root">> := Root, <<"executable">> := Executable,
           <<"description">> := Description} = Facts) when is_binary(Root), is_binary(Executable) ->
    VM = #{name => Name, release => Release, version => Version, build_id => BuildId, sha256 => Sha,
           root => unicode:characters_to_list(Root), executable => unicode:characters_to_list(Executable),
           interpreter => none, description => Description, host => Host},
    ertslab_inventory:with_modules(VM, Facts);
vm(Host, _) -> no_list(Host).

-spec no_list(ertslab_ssh:host()) -> no_return().
no_list(#{address := Address}) -> ertslab_error:failure(?MODULE, {no_list, Address}).

%% Keeps ssh's standard error beside the other logs.
complaints() ->
    Log = ertslab_paths:log("ssh-" ++ os:getpid() ++ ".log"),
    _ = file:delete(Log),
    Log.

complaint(Log) ->
    case file:read_file(Log) of
        {ok, Text} -> _ = file:delete(Log), ertslab_text:foreign(Text);
        {error, _} -> <<>>
    end.
