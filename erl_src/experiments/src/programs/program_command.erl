%% @doc A program of the system that puts load on the measured program, and ends.
-module(program_command).

-export([output/3]).

%% @doc The output of the program, standard error included. It runs on the cores that are not measured. If it is missing,
%% fails, or does not end in time, the error is a sentence.
-spec output(program_place:place(), [string(), ...], Timeout :: pos_integer()) -> binary().
output(Place, [Name | Args], Timeout) ->
    [Program | Words] = program_cores:pinned(fixed, [found(Name) | Args]),
    Port = open_port({spawn_executable, Program}, [{args, Words}, binary, exit_status, stderr_to_stdout, hide]),
    ok = guard(Place, erlang:port_info(Port, os_pid)),
    case ended(Port, [], erlang:monotonic_time(millisecond) + Timeout) of
        {0, Output} -> Output;
        {Why, Output} -> error({cannot_run, io_lib:format("~ts ended badly (~0tp): ~ts", [Name, Why, last_line(Output)])})
    end.

found(Name) ->
    case os:find_executable(Name) of
        false -> error({cannot_run, [Name, " is missing; './build.sh deps' installs it"]});
        Program -> Program
    end.

%% A program that has already ended needs no guard.
guard(Place, {os_pid, OsPid}) -> program_place:guard(Place, OsPid);
guard(_, undefined) -> ok.

ended(Port, Printed, Until) ->
    receive
        {Port, {data, Data}} -> ended(Port, [Printed, Data], Until);
        {Port, {exit_status, Status}} -> {Status, iolist_to_binary(Printed)}
    after max(0, Until - erlang:monotonic_time(millisecond)) -> {timeout, iolist_to_binary(Printed)}
    end.

last_line(Output) ->
    case binary:split(Output, <<"\n">>, [global, trim_all]) of
        [] -> <<"it printed nothing">>;
        Lines -> lists:last(Lines)
    end.
