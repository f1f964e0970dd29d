%% What the look at the machine makes of the facts.
-module(ertslab_preflight_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_good_machine_is_ok/1, what_cannot_be_read_is_a_warning/1, busy_is_refused/1,
         swapping_is_refused/1, an_emulated_processor_is_impossible/1, this_machine_can_be_looked_at/1]).

all() ->
    [a_good_machine_is_ok, what_cannot_be_read_is_a_warning, busy_is_refused, swapping_is_refused,
     an_emulated_processor_is_impossible, this_machine_can_be_looked_at].

a_good_machine_is_ok(_) ->
    ?assertEqual([ok], states(good())).

what_cannot_be_read_is_a_warning(_) ->
    Unknown = (maps:map(fun(_, _) -> null end, good()))#{emulated_by := none},
    ?assertEqual([warn], states(Unknown)),
    ?assertEqual([], ertslab_preflight:refusals(ertslab_preflight:judge(Unknown))).

busy_is_refused(_) ->
    ?assertEqual([], refusals((good())#{others := 40})),
    ?assertEqual([~"other programs use 80 % of a core; end them, or wait"],
                 refusals((good())#{others := 80})),
    ?assertMatch([<<"the hypervisor takes 50 %", _/binary>>], refusals((good())#{stolen := 50})).

swapping_is_refused(_) ->
    ?assertMatch([<<"swap 3 pages", _/binary>>], refusals((good())#{swapped_in := 3})),
    ?assertMatch([<<"memory 4 %", _/binary>>], refusals((good())#{available := 4})).

%% Whatever the user accepts.
an_emulated_processor_is_impossible(_) ->
    Findings = ertslab_preflight:judge((good())#{emulated_by := "/usr/bin/qemu-aarch64"}),
    ?assertMatch([<<"the processor is emulated by /usr/bin/qemu-aarch64, ", _/binary>>], ertslab_preflight:impossible(Findings)),
    ?assertEqual([], ertslab_preflight:refusals(Findings)),
    ?assertEqual([], ertslab_preflight:impossible(ertslab_preflight:judge(good()))).

this_machine_can_be_looked_at(_) ->
    Findings = ertslab_preflight:check(),
    ?assert(length(Findings) > 5),
    [?assert(is_binary(Says) andalso is_binary(What)) || #{what := What, says := Says} <- Findings].

refusals(Facts) -> ertslab_preflight:refusals(ertslab_preflight:judge(Facts)).

states(Facts) -> lists:usort([State || #{state := State} <- ertslab_preflight:judge(Facts)]).

good() ->
    #{cores => 4, governor => ~"performance", turbo => false, virtual => false, randomised => ~"2",
      others => 1, stolen => 0, pressure => 0.0, swapped_in => 0, available => 80, emulated_by => none}.
