%% @doc The behaviour of a place that measures: this machine, one that is reached over ssh, a node of Slurm.
%%
%% A call is the same at all places, and ends in the same ways at all places. {@link ertslab_places} chooses the places
%% of a call. `ertslab_places_SUITE' runs the same tests at each of them.
-module(ertslab_place).

-export_type([call/0, place/0, places/0]).

%% The options of a call without those of places. `words' are the arguments that make the same call elsewhere.
-type call() :: #{command := ertslab_call:command(), words := [string(), ...], atom() => term()}.
%% `options': what the call has in addition at that place. Its `out' is the folder for the results. It may be missing at a
%% place that stands alone, as `--out' may.
-type place() :: #{name := string(), options := #{out => file:filename(), atom() => term()}, atom() => term()}.
%% One place that measures into `--out' itself, or several with a folder each below it. They measure one after another, or
%% all at the same time.
-type places() :: place() | {one_by_one | together, [place(), ...]}.

%% The places that the options of a call name.
-callback places(Options :: map()) -> places().

%% Makes the call at the place. Then the folder holds a finished comparison, as ertslab_session describes it. Otherwise
%% the call fails as {@link ertslab_error} describes it: by `usage', `failure' or, if the folder holds results beyond
%% the bound of `--fail-if', by `beyond'.
-callback run(call(), place()) -> ok.
