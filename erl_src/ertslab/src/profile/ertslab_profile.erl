%% @doc Presents the samples of one VM or two as a table and as JSON.
-module(ertslab_profile).

-export([table/3, json/4, notes/1]).
-export_type([profile/0]).

-type profile() :: #{vm := ertslab_inventory:vm(), counters := ertslab_sampler:counters(),
                     event := string(), stacks := ertslab_stacks:stacks(), prefix := file:filename()}.
-type note() :: unicode:chardata().

-define(LINES_OF_TABLE, 20).
-define(LINES_OF_JSON, 100).
-define(FEW_SAMPLES, 500).
-define(MANY_UNKNOWN, 0.05).

%% @doc The caveats of these profiles.
-spec notes([profile(), ...]) -> [note()].
notes([#{counters := Counters, event := Event} | _] = Profiles) ->
    ["A profile is not a timing, because the names cost the VM time; 'ertslab compare' measures."]
        ++ missing([Name || {Name, null} <- Counters], Event)
        ++ [few(Name, Samples) || #{vm := #{name := Name}, stacks := Stacks} <- Profiles,
                                  Samples <- [ertslab_stacks:total(Stacks)], Samples < ?FEW_SAMPLES]
        ++ [unknown(Name, Share) || #{vm := #{name := Name}, stacks := Stacks} <- Profiles,
                                    Share <- [unknown_share(Stacks)], Share >= ?MANY_UNKNOWN].

missing([], _Event) -> [];
missing(Events, Event) ->
    [["This machine does not count ", lists:join(", ", Events), instead(Event), "."]].

instead("cpu-clock") -> "; sampled by the kernel's clock, which shows where time goes but not why";
instead(_) -> "".

few(Name, Samples) ->
    io_lib:format("Only ~b samples on ~ts, so shares are rough; --rounds gives more.", [Samples, Name]).

unknown(Name, Share) ->
    io_lib:format("On ~ts ~.1f % of the samples are in functions without a symbol; debug symbols"
                  " of the system's libraries (Debian's libc6-dbg) name more of them.",
                  [Name, 100 * Share]).

unknown_share(Stacks) ->
    Selves = [Self || #{function := <<"[unknown]">>, self := Self} <- ertslab_stacks:hottest(Stacks)],
    lists:sum(Selves) / ertslab_stacks:total(Stacks).

%% @doc The counters, the kinds of work, the hottest functions and the notes.
-spec table(ertslab_sampler:work(), [profile(), ...], [note()]) -> iolist().
table(#{experiment := Name, params := Params}, Profiles, Notes) ->
    [#{vm := #{version := Version}} | _] = Profiles,
    [io_lib:format("~ts on OTP ~ts: where the time of its metrics goes~n~ts~n~n",
                   [Name, Version, ertslab_text:params(Params)]),
     ertslab_text:columns([[<<"counter">> | names(Profiles)] | counters(Profiles)]), $\n,
     ertslab_text:columns([[<<"kind of work">> | names(Profiles)] | kinds(Profiles)]), $\n,
     ertslab_text:columns([headings(Profiles) | functions(Profiles)]), $\n,
     [["! ", Note, $\n] || Note <- Notes]].

names(Profiles) -> [Name || #{vm := #{name := Name}} <- Profiles].

counters([#{counters := Counters} | _] = Profiles) ->
    [[Event | [count(proplists:get_value(Event, Cs, null)) || #{counters := Cs} <- Profiles]]
     || {Event, _} <- Counters]
        ++ [[<<"samples">> | [integer_to_binary(ertslab_stacks:total(S)) || #{stacks := S} <- Profiles]]].

%% Only task-clock has a fraction: it is in milliseconds.
count(null) -> <<"not counted here">>;
count(Count) when is_integer(Count) -> integer_to_binary(Count);
count(Milliseconds) -> io_lib:format("~.1f ms", [Milliseconds]).

headings(Profiles) ->
    [<<"function">> | [[What, Name] || What <- ["self, ", "with callees, "], Name <- names(Profiles)]].

kinds(Profiles) -> ertslab_time_kinds:rows([ertslab_time_kinds:samples(Stacks) || #{stacks := Stacks} <- Profiles]).

%% The functions that are hottest on either VM, with their shares of that VM's samples.
functions(Profiles) ->
    Hot = [shares(Stacks) || #{stacks := Stacks} <- Profiles],
    Names = lists:uniq(lists:append([maps:keys(H) || H <- Hot])),
    Hottest = fun(Name) -> {-lists:max([element(1, share(Name, H)) || H <- Hot]), Name} end,
    [[Name | [ertslab_text:percent(element(What, share(Name, H))) || What <- [1, 2], H <- Hot]]
     || {_, Name} <- lists:sublist(lists:sort([Hottest(Name) || Name <- Names]), ?LINES_OF_TABLE)].

shares(Stacks) ->
    All = ertslab_stacks:total(Stacks),
    maps:from_list([{Name, {Self / All, Total / All}}
                    || #{function := Name, self := Self, total := Total} <- ertslab_stacks:hottest(Stacks)]).

share(Name, Shares) -> maps:get(Name, Shares, {0.0, 0.0}).

%% @doc The same as JSON, with numbers of samples instead of shares.
-spec json(ertslab_sampler:work(), [profile(), ...], [note()], [file:filename()]) -> map().
json(#{experiment := Name, params := Params, iterations := Iterations, dir := Dir},
     [#{vm := #{version := Version}} | _] = Profiles, Notes, Graphs) ->
    #{format => 1, experiment => ertslab_text:binary(Name), otp => Version, params => Params,
      iterations => Iterations, vms => [profile_json(P) || P <- Profiles],
      notes => [ertslab_text:binary(Note) || Note <- Notes],
      paths => #{folder => ertslab_text:binary(Dir),
                 flame_graphs => [ertslab_text:binary(Graph) || Graph <- Graphs]}}.

profile_json(#{vm := #{name := Name, build_id := BuildId}, counters := Counters, event := Event,
               stacks := Stacks}) ->
    #{name => Name, build_id => BuildId, event => list_to_binary(Event),
      counters => maps:from_list(Counters), samples => ertslab_stacks:total(Stacks), kinds => ertslab_time_kinds:samples(Stacks),
      hottest => lists:sublist(ertslab_stacks:hottest(Stacks), ?LINES_OF_JSON)}.
