%% The page of the calls that scan, from results that are made up.
-module(ertslab_audit_page_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, scanning_calls_have_their_slopes/1, calls_of_one_cause_stand_together/1,
         flat_calls_are_listed/1, what_could_not_be_told_is_listed/1]).

all() ->
    [scanning_calls_have_their_slopes, calls_of_one_cause_stand_together, flat_calls_are_listed,
     what_could_not_be_told_is_listed].

scanning_calls_have_their_slopes(_) ->
    has("minutes): 0.50. Measured on 2026-11-02. "),
    has("| call | 27.1, ns a message | with 0 | with 100,000 | 29.1, ns a message | with 0 | with 100,000 |"),
    has("| `a:one/1` | 7.0 (6.0 to 8.0) | 10.0 ns | 700.01 us | 0.0 (-0.5 to 0.5) flat | 10.0 ns | 10.0 ns |").

calls_of_one_cause_stand_together(_) ->
    has("\n| `a:one/1`, `a:two/2` | no reference |\n").

flat_calls_are_listed(_) -> has("\n\n`a:flat/0`.\n").

what_could_not_be_told_is_listed(_) ->
    has("\n## Undecided\n\n- `a:gone/0`: crashed on 27.1 (undef), flat on 29.1 (-0.5 to 0.5 ns a message).").

has(Words) -> ?assertMatch({Words, [_ | _]}, {Words, string:find(page(), Words)}).

page() ->
    Old = [scans("a:one/1"), scans("a:two/2"), flat("a:flat/0"), crashed("a:gone/0")],
    New = [flat("a:one/1"), scans("a:two/2"), flat("a:flat/0"), flat("a:gone/0")],
    Machine = #{cpu => ~"some cpu", cores => 2, kernel => ~"6.1"},
    unicode:characters_to_list(ertslab_audit_page:markdown([{~"27.1", Old}, {~"29.1", New}], Machine, ~"0.50", {2026, 11, 2})).

scans(Name) ->
    (flat(Name))#{verdict := scans, slope := #{estimate => 7.0, low => 6.0, high => 8.0},
                  times := [{0, 10}, {100_000, 700_010}]}.

flat(Name) ->
    #{name => Name, verdict => flat, cause => "no reference", reason => "",
      slope => #{estimate => 0.0, low => -0.5, high => 0.5}, times => [{0, 10}, {100_000, 10}]}.

crashed(Name) -> (flat(Name))#{verdict := crashed, slope := none, times := [], reason := "undef"}.
