%% @doc What the reader of a finding can run: a command that looks again, or one that measures. A proof is data. text/2 writes it for
%% the place where the finding is reported: a checkout, the single file, or a shell of Erlang, which calls this application. Pure.
-module(diagnose_proof).

-export([look/0, look/1, collect/1, setting/2, sweep/2, compare/2, title/2, words/2, text/2, data/2, shell_word/1]).
-export_type([proof/0, place/0]).

%% words: a command of ertslab and its arguments, without those that name the node. lab: it starts variants, which have to be built.
-type proof() :: #{kind := look_again | measure, words := [binary(), ...], lab := boolean()}.
%% own: it is the node that the calls are made on. program: the words that start the program there. lab: variants are built there.
%% cookie: the node has another one than that of the user.
-type place() :: #{in := library, node := own | node()}
               | #{in := checkout | file, node := node(), program := [unicode:chardata(), ...], cookie := boolean(), lab := boolean()}.

-define(TRY_PAIRS, 12).
-define(TRY_MS, 60_000).
%% Stands for the node's cookie, which is nobody's to read. A shell replaces it.
-define(COOKIE, <<"$COOKIE">>).

%% @equiv look([])
-spec look() -> proof().
look() -> look([]).

%% @doc Inspects the node again, with measured layouts or for so many seconds.
-spec look([nif | {budget_s, pos_integer()}]) -> proof().
look(Options) -> again([<<"diagnose">> | lists:append([option(Option) || Option <- Options])]).

option(nif) -> [<<"--nif">>];
option({budget_s, Seconds}) -> [<<"--budget">>, <<(integer_to_binary(Seconds))/binary, "s">>].

%% @doc Collects its garbage, and says how much that was.
-spec collect(#{pid := binary(), _ => _}) -> proof().
collect(#{pid := Pid}) -> measure([<<"diagnose">>, <<"--collect">>, Pid], false).

%% @doc Has the process work with the setting and without it, in turns. Only a process of a behaviour can be asked for that: one that
%% is none by the function that it began with is looked at again.
-spec setting(#{pid := binary(), label := mfa() | unknown, _ => _}, {Flag :: atom(), term()}) -> proof().
setting(#{label := Label, pid := Pid}, {Flag, Value}) ->
    case may_be_asked(Label) of
        true -> measure([<<"try">>, Pid, unicode:characters_to_binary(io_lib:format("~ts=~w", [Flag, Value]))], false);
        false -> look()
    end.

may_be_asked(unknown) -> true;
may_be_asked({supervisor, _, 1}) -> true;
may_be_asked({gen_event, init_it, _}) -> true;
may_be_asked({_, init, 1}) -> true;
may_be_asked(_) -> false.

%% @doc Measures an experiment on stock and on `tuned', with these parameters.
-spec compare(binary(), [{atom(), term()}]) -> proof().
compare(Experiment, Parameters) -> measure([<<"compare">>, Experiment, <<"--vm">>, <<"stock,tuned">> | parameters(Parameters)], true).

%% @doc Measures an experiment with the values of one parameter on stock.
-spec sweep(binary(), [{atom(), term()}, ...]) -> proof().
sweep(Experiment, [Over | Parameters]) ->
    measure([<<"sweep">>, Experiment, <<"--vm">>, <<"stock">>, <<"--over">>, assigned(Over) | parameters(Parameters)], true).

parameters(Parameters) -> lists:append([[<<"--param">>, assigned(One)] || One <- Parameters]).

assigned({Name, Values}) when is_list(Values) ->
    unicode:characters_to_binary([atom_to_list(Name), $=, lists:join(",", [io_lib:format("~w", [Value]) || Value <- Values])]);
assigned({Name, Value}) -> assigned({Name, [Value]}).

again(Words) -> #{kind => look_again, words => Words, lab => false}.

measure(Words, Lab) -> #{kind => measure, words => Words, lab => Lab}.

%% @doc What the command is. Where it starts variants that are not there, also where it can be run.
-spec title(proof(), place()) -> iodata().
title(#{kind := look_again}, _) -> "Look again";
title(#{kind := measure} = Proof, Place) ->
    case {is_runnable(Proof, Place), Place} of
        {true, _} -> "Proof";
        {false, #{in := checkout}} -> "Proof, once './build.sh otp' has built the VMs";
        {false, #{}} -> "Proof, in a clone of ertslab in which './build.sh demo' has run"
    end.

is_runnable(#{lab := false}, _) -> true;
is_runnable(#{lab := true}, #{lab := Lab}) -> Lab;
is_runnable(#{lab := true}, #{in := library}) -> false.

%% @doc The words of the command, with those that name the node.
-spec words(proof(), place()) -> [binary(), ...].
words(#{words := Words, lab := true}, _) -> Words;
words(#{words := Words}, #{node := own}) -> Words;
words(#{words := [Command | Words]}, #{node := Node} = Place) ->
    [Command, <<"--node">>, atom_to_binary(Node)] ++ lists:append([[<<"--cookie">>, ?COOKIE] || maps:get(cookie, Place, false)]) ++ Words.

%% @doc The command as one line: for a shell of the system, or as a call in Erlang.
-spec text(proof(), place()) -> unicode:chardata().
text(#{words := Words, lab := false}, #{in := library, node := Node}) -> call(Words, Node);
text(#{} = Proof, Place) ->
    lists:join($\s, [quoted(Word) || Word <- program(Proof, Place) ++ words(Proof, Place)]).

program(#{lab := true} = Proof, Place) ->
    case {is_runnable(Proof, Place), Place} of
        {true, #{program := Program}} -> Program;
        {false, _} -> ["./ertslab"]
    end;
program(#{}, #{program := Program}) -> Program.

quoted(?COOKIE) -> [$", ?COOKIE, $"];
quoted(Word) -> shell_word(Word).

%% @doc A word for a POSIX shell, quoted where it has to be.
-spec shell_word(unicode:chardata()) -> unicode:chardata().
shell_word(Word) ->
    case re:run(Word, "^[A-Za-z0-9_./=,:@%+-]+$", [dollar_endonly, unicode]) of
        {match, _} -> Word;
        nomatch -> [$', string:replace(Word, "'", "'\\''", all), $']
    end.

call([<<"diagnose">>], own) -> "diagnose:node().";
call([<<"diagnose">>], Node) -> written("diagnose:node(~0tp).", [at(Node, #{})]);
call([<<"diagnose">>, <<"--nif">>], Node) -> written("diagnose:node(~0tp).", [at(Node, #{nif => true})]);
call([<<"diagnose">>, <<"--budget">>, Budget], Node) ->
    {Seconds, "s"} = string:to_integer(binary_to_list(Budget)),
    written("diagnose:node(~0tp).", [at(Node, #{budget => 1000 * Seconds})]);
call([<<"diagnose">>, <<"--collect">>, Pid], Node) -> written("diagnose:collect(~ts, ~0tp).", [name(Node), binary_to_list(Pid)]);
call([<<"try">>, Pid, Setting], Node) ->
    [Flag, Value] = string:lexemes(binary_to_list(Setting), "="),
    written("diagnose_try:run(#{node => ~ts, process => ~0tp, flag => ~ts, value => ~ts, pairs => ~b, for => ~b}, fun(_) -> ok end).",
            [name(Node), binary_to_list(Pid), Flag, Value, ?TRY_PAIRS, ?TRY_MS]).

name(own) -> "node()";
name(Node) -> written("~0tp", [Node]).

at(own, Options) -> Options;
at(Node, Options) -> Options#{node => Node}.

written(Format, Args) -> io_lib:format(Format, Args).

%% @doc The same for machines.
-spec data(proof(), place()) -> #{kind | words | lab | command := term()}.
data(Proof, Place) -> Proof#{words := words(Proof, Place), command => unicode:characters_to_binary(text(Proof, Place))}.
