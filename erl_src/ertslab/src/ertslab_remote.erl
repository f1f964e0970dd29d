%% @doc Another machine, over ssh: what is built there, and the words that start
%% a VM there. It has a checkout of its own that was built with its own
%% `./build.sh'; nothing is copied to it.
%%
%% ssh gives its words to a shell on the other side, so each is quoted for it.
-module(ertslab_remote).

-export([host/2, vms/1, wrap/3, quote/1, answers/1, lost/1]).
-export_type([host/0]).

%% `address' is what ssh understands; `libraries' are the folders there that
%% hold the compiled project.
-type host() :: #{address := string(), dir := file:filename(), libraries => [file:filename()]}.

-define(LIST_TIMEOUT_MS, 60_000).
-define(ANSWER_TIMEOUT_MS, 15_000).
%% A machine that dies is noticed within 15 seconds.
-define(SSH_OPTIONS, ["-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "LogLevel=ERROR",
                      "-o", "ServerAliveInterval=5", "-o", "ServerAliveCountMax=2"]).

%% @doc The machine at an address, with its checkout in a folder ("" means: in
%% the same as here).
-spec host(string(), file:filename()) -> host().
host([First | _] = Address, Dir) when First =/= $- ->
    case lists:any(fun(Char) -> Char =< $\s orelse Char =:= 127 end, Address) of
        false -> #{address => Address, dir => checkout(Dir)};
        true -> no_address(Address)
    end;
host(Address, _Dir) -> no_address(Address).

-spec no_address(string()) -> no_return().
no_address(Address) ->
    ertslab_error:usage("'~ts' is no address; write USER@MACHINE or ssh://USER@MACHINE:PORT", [Address]).

checkout("") -> filename:absname(os:getenv("ERTSLAB_TOP", "."));
checkout(Dir) -> Dir.

%% @doc The VMs that are built there, each with its host.
-spec vms(host()) -> [ertslab_vm:vm()].
vms(#{address := Address, dir := Dir} = Host) ->
    Log = complaints(),
    Listed = ertslab_tool:run(ssh(Address) ++ [quote(filename:join(Dir, "ertslab")), "list", "--json"],
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
        #{~"vms" := VMs, ~"libraries" := Libraries} ->
            There = Host#{libraries => [unicode:characters_to_list(Dir) || Dir <- Libraries]},
            [vm(There, VM) || VM <- VMs];
        #{} -> failed(Address, "has an older ertslab", <<>>)
    catch error:_ -> failed(Address, "answers what is not ertslab's list", <<>>)
    end.

vm(Host, #{~"name" := Name, ~"release" := Release, ~"version" := Version, ~"build_id" := BuildId,
           ~"sha256" := Sha, ~"root" := Root, ~"executable" := Executable,
           ~"description" := Description} = Facts) ->
    VM = #{name => Name, release => Release, version => Version, build_id => BuildId, sha256 => Sha,
           root => unicode:characters_to_list(Root), executable => unicode:characters_to_list(Executable),
           interpreter => none, description => Description, host => Host},
    ertslab_vm:with_modules(VM, Facts).

%% What ssh complains of, beside the other logs.
complaints() ->
    Log = filename:join([os:getenv("ERTSLAB_TOP", "."), "build", "log",
                         "ssh-" ++ os:getpid() ++ ".log"]),
    _ = file:delete(Log),
    Log.

complaint(Log) ->
    case file:read_file(Log) of
        {ok, Text} -> _ = file:delete(Log), Text;
        {error, _} -> <<>>
    end.

ssh(Address) ->
    [ertslab_tool:find("ssh", "openssh-client") | configured() ++ ?SSH_OPTIONS ++ ["--", Address]].

%% An ssh configuration of its own, for keys and ports that the user's does not have.
configured() ->
    case os:getenv("ERTSLAB_SSH_CONFIG") of
        false -> [];
        File -> ["-F", File]
    end.

%% @doc The program and words that make `Words' run on that machine in that
%% environment: all of them, as peer puts them together, are quoted.
-spec wrap(host(), [{string(), string()}], [string(), ...]) ->
          {[string(), ...], fun(([string()]) -> [string()])}.
wrap(#{address := Address}, Environment, Words) ->
    [Ssh | Local] = ssh(Address),
    Assignments = [[Name, $=, Value] || {Name, Value} <- Environment],
    There = ["env" | [lists:flatten(A) || A <- Assignments]] ++ Words,
    {[Ssh | Local ++ There],
     fun(All) ->
             {Own, Rest} = lists:split(length(Local), All),
             Own ++ [quote(Word) || Word <- Rest]
     end}.

%% @doc A word as a shell takes it unchanged.
-spec quote(string()) -> string().
quote(Word) -> "'" ++ lists:flatten(string:replace(Word, "'", "'\\''", all)) ++ "'".

%% @doc Whether the machine answers.
-spec answers(host()) -> boolean().
answers(#{address := Address}) ->
    case ertslab_tool:run(ssh(Address) ++ ["true"], "/dev/null", #{timeout_ms => ?ANSWER_TIMEOUT_MS}) of
        {ok, _} -> true;
        {error, _} -> false
    end.

%% @doc Ends a comparison whose machine is gone; the run in which that happened
%% is not kept.
-spec lost(host()) -> no_return().
lost(#{address := Address}) ->
    ertslab_error:failure("~ts does not answer any more; what was measured is kept, and the same"
                          " words with the same --out go on.", [Address]).
