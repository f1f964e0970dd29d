%% @doc The VMs that are built on another machine. That machine has a checkout that was built with its own
%% `./build.sh'; nothing is copied to it.
-module(ertslab_remote).

-export([vms/1]).

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
        {error, {status, 255, _}} -> failed(Address, "does not answer", Complaint);
        {error, timeout} -> failed(Address, "does not answer in time", Complaint);
        {error, {status, _, _}} ->
            failed(Address, ["has no ertslab that is built in ", Dir], Complaint)
    end.

-spec failed(string(), iodata(), binary()) -> no_return().
failed(Address, What, Complaint) ->
    ertslab_error:failure("~ts ~ts~ts.", [Address, What, because(string:trim(Complaint))]).

because(<<>>) -> "";
because(Complaint) -> [" (", lists:last(string:lexemes(Complaint, "\n")), ")"].

listed(#{address := Address} = Host, Text) ->
    try json:decode(Text) of
        #{<<"vms">> := VMs, <<"libraries">> := Libraries} ->
            There = Host#{libraries => [unicode:characters_to_list(Dir) || Dir <- Libraries]},
            [vm(There, VM) || VM <- VMs];
        #{} -> failed(Address, "has an older ertslab", <<>>)
    catch error:_ -> failed(Address, "answers what is not ertslab's list", <<>>)
    end.

vm(Host, #{<<"name">> := Name, <<"release">> := Release, <<"version">> := Version, <<"build_id">> := BuildId,
           <<"sha256">> := Sha, <<"root">> := Root, <<"executable">> := Executable,
           <<"description">> := Description} = Facts) ->
    VM = #{name => Name, release => Release, version => Version, build_id => BuildId, sha256 => Sha,
           root => unicode:characters_to_list(Root), executable => unicode:characters_to_list(Executable),
           interpreter => none, description => Description, host => Host},
    ertslab_inventory:with_modules(VM, Facts).

%% Keeps ssh's standard error beside the other logs.
complaints() ->
    Log = ertslab_paths:log("ssh-" ++ os:getpid() ++ ".log"),
    _ = file:delete(Log),
    Log.

complaint(Log) ->
    case file:read_file(Log) of
        {ok, Text} -> _ = file:delete(Log), ertslab_error:foreign(Text);
        {error, _} -> <<>>
    end.
