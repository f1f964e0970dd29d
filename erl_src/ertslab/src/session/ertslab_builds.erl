%% @doc Several builds of each variant, which differ only in the order in which
%% their object files were linked.
%%
%% That order moves code relative to cache sets and branch predictors, and can
%% change the speed by more than a patch does (Mytkowicz et al. 2009, Producing
%% wrong data without doing anything obviously wrong). A single build of a variant is one
%% draw of that luck. With several builds, the pairs take them in turn, and the ratios
%% by build show whether the luck matters.
-module(ertslab_builds).

-export([chosen/2, of_pair/2, number/2, ids/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {too_few, Name :: binary(), Release :: pos_integer(), Wanted :: pos_integer()}.

%% @doc The VM with the first `Number' of its builds. Fails if there are fewer.
%% With 1 it is the ordinary build, and the VM lists no others.
-spec chosen(ertslab_inventory:vm(), pos_integer()) -> ertslab_inventory:vm().
chosen(VM, 1) -> maps:remove(builds, VM);
chosen(#{name := Name, release := Release} = VM, Wanted) ->
    Chosen = lists:sublist(maps:get(builds, VM, []), Wanted),
    length([File || #{executable := File} <- Chosen, filelib:is_regular(File)]) =:= Wanted orelse
        ertslab_error:failure(?MODULE, {too_few, Name, Release, Wanted}),
    VM#{builds => Chosen}.

-spec format_error(reason()) -> unicode:chardata().
format_error({too_few, Name, Release, Wanted}) -> io_lib:format("~ts of OTP ~b is not built ~b times.", [Name, Release, Wanted]).

%% @doc The VM as a pair runs it: pair 1 on the first build, and so on in turn.
-spec of_pair(ertslab_inventory:vm(), pos_integer()) -> ertslab_inventory:vm().
of_pair(#{builds := Builds} = VM, Pair) ->
    maps:merge(VM, lists:nth(number(Pair, length(Builds)), Builds));
of_pair(VM, _Pair) -> VM.

%% @doc The number of the build that a pair runs, counted from 1.
-spec number(pos_integer(), pos_integer()) -> pos_integer().
number(Pair, Builds) -> (Pair - 1) rem Builds + 1.

%% @doc The build ids that runs of this VM may have.
-spec ids(#{build_id := binary(), builds => [ertslab_inventory:build()], _ => _}) -> [binary(), ...].
ids(#{builds := Builds}) -> [Id || #{build_id := Id} <- Builds];
ids(#{build_id := Id}) -> [Id].
