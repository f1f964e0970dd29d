%% Each small program does what its result says, and leaves nothing behind.
-module(exp_estone_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, every_program_gives_its_result/1, nothing_is_left_behind/1, every_theme_is_measured/1,
         wrong_result_is_noticed/1, rounds_are_the_percentage/1]).

all() ->
    [every_program_gives_its_result, nothing_is_left_behind, every_theme_is_measured, wrong_result_is_noticed,
     rounds_are_the_percentage].

every_program_gives_its_result(_) ->
    [?assertEqual({Theme, 3 * small_programs:result(Theme)}, {Theme, worked(Theme, 3)})
     || Theme <- small_programs:themes()].

worked(Theme, Rounds) ->
    Resource = small_programs:open(Theme),
    Result = small_programs:work(Theme, Resource, Rounds),
    ok = small_programs:close(Theme, Resource),
    Result.

%% No message, table, port or process, and no flag that another program would notice.
nothing_is_left_behind(_) ->
    Tables = length(ets:all()),
    [begin
         _ = worked(Theme, 2),
         ?assertEqual({Theme, [{messages, []}, {trap_exit, false}]}, {Theme, process_info(self(), [messages, trap_exit])})
     end || Theme <- small_programs:themes()],
    ?assertEqual(Tables, length(ets:all())),
    ?assertEqual([], [Port || Port <- erlang:ports(), erlang:port_info(Port, connected) =:= {connected, self()}]).

every_theme_is_measured(_) ->
    [?assertMatch(#{samples := [{work, [_ | _]}]},
                  ertslab_worker:run(exp_estone, #{theme => Theme, percent => 1}))
     || Theme <- small_programs:themes()].

wrong_result_is_noticed(_) ->
    State = exp_estone:setup(#{theme => traverse, percent => 100}),
    Right = 62 * 4096,
    ?assertEqual(ok, exp_estone:verify(work, [Right, Right, Right, Right], State)),
    ?assertMatch({wrong, #{expected := [Right]}}, exp_estone:verify(work, [Right, Right, Right - 1, Right], State)).

rounds_are_the_percentage(_) ->
    [?assertMatch({Percent, #{rounds := Rounds}}, {Percent, exp_estone:setup(#{theme => lists, percent => Percent})})
     || {Percent, Rounds} <- [{1, 1}, {50, 25}, {1000, 500}]].
