%% @doc Another machine, reached over ssh, and the commands that run a program there.
%%
%% ssh passes its arguments to a shell on the other side, so each is quoted for that shell.
-module(ertslab_ssh).

-export([host/2, program/1, wrap/3, quote/1, answers/1, lost/1, format_error/1]).
-export_type([host/0, reason/0]).

%% `address' is what ssh understands; `libraries' are the folders there that
%% hold the compiled project.
-type host() :: #{address := string(), dir := file:filename(), libraries => [file:filename()]}.
-type reason() :: {no_address, string()} | {home_of_another, Dir :: string()} | {lost, Address :: string()}.

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
no_address(Address) -> ertslab_error:usage(?MODULE, {no_address, Address}).

%% The shell there leaves a quoted tilde as it is. ssh starts in the home folder.
checkout("") -> filename:absname(ertslab_paths:top());
checkout("~") -> ".";
checkout("~/" ++ Below) -> filename:join(".", string:trim(Below, leading, "/"));
checkout("~" ++ _ = Dir) -> ertslab_error:usage(?MODULE, {home_of_another, Dir});
checkout(Dir) -> Dir.

%% @doc The program ssh and its arguments for that machine.
-spec program(string()) -> [string(), ...].
program(Address) ->
    [ertslab_os_command:find("ssh", "openssh-client") | configured() ++ ?SSH_OPTIONS ++ ["--", Address]].

%% An ssh configuration for this project alone, with keys and ports that the user's own does not have.
configured() ->
    case os:getenv("ERTSLAB_SSH_CONFIG") of
        false -> [];
        File -> ["-F", File]
    end.

%% @doc The program and arguments that run `Words' on that machine in that
%% environment. All arguments are quoted, also those that peer adds.
-spec wrap(host(), [{string(), string()}], [string(), ...]) ->
          {[string(), ...], fun(([string()]) -> [string()])}.
wrap(#{address := Address}, Environment, Words) ->
    [Ssh | Local] = program(Address),
    Assignments = [[Name, $=, Value] || {Name, Value} <- Environment],
    There = ["env" | [lists:flatten(A) || A <- Assignments]] ++ Words,
    {[Ssh | Local ++ There],
     fun(All) ->
             {Own, Rest} = lists:split(length(Local), All),
             Own ++ [quote(Word) || Word <- Rest]
     end}.

%% @doc An argument, quoted so that a shell leaves it unchanged.
-spec quote(string()) -> string().
quote(Word) -> "'" ++ lists:flatten(string:replace(Word, "'", "'\\''", all)) ++ "'".

%% @doc Whether the machine answers.
-spec answers(host()) -> boolean().
answers(#{address := Address}) ->
    case ertslab_os_command:run(program(Address) ++ ["true"], "/dev/null", #{timeout_ms => ?ANSWER_TIMEOUT_MS}) of
        {ok, _} -> true;
        {error, _} -> false
    end.

%% @doc Ends a comparison whose machine is gone. The interrupted run
%% is not kept.
-spec lost(host()) -> no_return().
lost(#{address := Address}) -> ertslab_error:failure(?MODULE, {lost, Address}).

-spec format_error(reason()) -> unicode:chardata().
format_error({no_address, Text}) -> ["'", Text, "' is not an address; write USER@MACHINE or ssh://USER@MACHINE:PORT"];
format_error({home_of_another, Dir}) -> [Dir, " is not found there; write the path from / on, or ~/DIR for a folder of your own home"];
format_error({lost, Address}) ->
    [Address, " does not answer any more; what was measured is kept, and the same command with the same --out,"
     " without --force, continues."].
