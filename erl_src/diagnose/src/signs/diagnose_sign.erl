%% @doc A sign, as all rules make it. Pure.
-module(diagnose_sign).

-export([sign/4, text/2, rounded/1, process/1, in/1, process_in/1, counted/1, fullest/1]).

%% @doc A sign: what was seen, what to do, and what to run then.
-spec sign(diagnose_types:kind(), #{atom() => term()}, Advice :: iodata(), diagnose_proof:proof()) -> diagnose_types:sign().
sign(Kind, Evidence, Advice, Proof) ->
    Sign = #{kind => Kind, evidence => Evidence, advice => unicode:characters_to_binary(Advice), proof => Proof},
    case diagnose_figures:gain(Kind, Evidence) of
        none -> Sign;
        Gain -> Sign#{gain => Gain}
    end.

%% @doc Words that are part of what was seen.
-spec text(io:format(), [term()]) -> binary().
text(Format, Args) -> unicode:characters_to_binary(io_lib:format(Format, Args)).

%% @doc A process, as reports name it.
-spec process(#{pid := binary(), name := atom(), _ => _}) -> binary().
process(Process) -> text("~ts", [diagnose_wording:subject(#{process => maps:with([pid, name], Process)})]).

%% @doc What a process is in, where that is known.
-spec in(mfa() | none) -> binary() | unknown.
in(none) -> unknown;
in(Function) -> diagnose_wording:label(Function).

%% @doc A process and where it was seen, as reports name them.
-spec process_in(#{pid := binary(), name := atom(), in := mfa() | none, _ => _}) -> #{process := binary(), in := binary() | unknown}.
process_in(#{in := In} = Seen) -> #{process => process(Seen), in => in(In)}.

%% @doc How often each function, as reports name it.
-spec counted([{mfa(), pos_integer()}]) -> [#{label := binary(), count := pos_integer()}].
counted(Counts) -> [#{label => diagnose_wording:label(Label), count => Count} || {Label, Count} <- Counts].

%% @doc A number that is part of what was seen, where it is known.
-spec rounded(number() | unknown) -> integer() | unknown.
rounded(unknown) -> unknown;
rounded(Number) -> round(Number).

%% @doc Of ports that hold bytes, the three with most; of equal ones the first, whose peers were asked for.
-spec fullest([diagnose_types:waiting_port()]) -> [diagnose_types:waiting_port()].
fullest(Ports) -> lists:sublist(lists:sort(fun(#{bytes := A}, #{bytes := B}) -> A >= B end, Ports), 3).
