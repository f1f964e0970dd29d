%% @doc Runs many cases of prop_term_graph in the VM that this is started in, and
%% ends it: status 0 where all hold. scripts/otp-test.sh starts it.
-module(term_graph_cases).

-export([main/0, again/1]).

%% The words after `-extra' are how many cases, and a file that always holds the
%% program that runs.
main() ->
    [Cases, File] = init:get_plain_arguments(),
    halt(case run(list_to_integer(Cases), File) of
             true -> 0;
             false -> 3
         end).

%% A program that ended the VM, from the file that holds it.
again(File) ->
    {ok, Text} = file:read_file(File),
    term_graph_owner:run(binary_to_term(Text)).

run(Cases, File) ->
    Progress = counters:new(1, []),
    Note = noted(Progress, Cases, erlang:monotonic_time(second), File),
    proper:quickcheck(prop_term_graph:prop_terms_survive_collections(Note),
                      [{numtests, Cases}, {max_size, 30}, quiet_unless_failing()]).

quiet_unless_failing() -> {on_output, fun(".", []) -> ok; (Format, Args) -> io:format(Format, Args) end}.

noted(Progress, Cases, Started, File) ->
    Every = max(1, Cases div 100),
    fun(Program) ->
            ok = counters:add(Progress, 1, 1),
            Done = counters:get(Progress, 1),
            Done rem Every =:= 0 andalso progress(Done, Cases, Started),
            ok = prim_file:write_file(File, term_to_binary(Program))
    end.

progress(Done, Cases, Started) ->
    Elapsed = erlang:monotonic_time(second) - Started,
    io:format("~b of ~b cases  ~ts of about ~ts~n",
              [Done, Cases, clock(Elapsed), clock(Elapsed * Cases div Done)]).

clock(Seconds) -> io_lib:format("~b:~2..0b", [Seconds div 60, Seconds rem 60]).
