%% @doc The arms of a comparison, from the words of the command line.
%%
%% An arm is an Erlang, its flags and a code path. Words that name an Erlang: a variant (`tuned'), a variant of a
%% release (`stock@27'), an installation by its folder or its `erl' (`/usr', `~/.kerl/28'), a revision of a git
%% repository of OTP (`git:~/otp@master', `git:~/otp@master+tuned').
-module(ertslab_arms).

-export([of_options/2, one/2, named/1, control_of/1, told_apart/1, manifest/1]).

-define(BASELINE, ~"stock").
-define(CONTROL, ~"stock_copy").
%% These name another emulator or other code than the one that is asked for, and some that the lab itself gives.
-define(NOT_FLAGS, ["-emu_type", "-emu_flavor", "-boot", "-pa", "-pz", "-eval", "-run", "-s", "-noshell", "-noinput",
                    "-name", "-sname", "-user", "-extra", "--"]).

%% @doc The arms that are asked for, those of the experiment where none are, and the label of the control among them.
-spec of_options(map(), ertslab_experiment:info()) -> {[ertslab_session:arm(), ...], Control :: binary() | null}.
of_options(Options, Info) ->
    VMs = vms(Options),
    Arms = [arm(Label, VM) || {Label, VM} <- wanted(Options, Info, VMs)],
    ok = differing_labels([Label || #{label := Label} <- Arms]),
    Without = maps:get(exact, Info, false) orelse maps:get(no_control, Options, false),
    with_control(Arms, control(Arms, VMs, Options), Without).

%% @doc The one Erlang that `--vm' names.
-spec one(map(), Option :: string()) -> ertslab_inventory:vm().
one(Options, Option) ->
    {_, VM} = single(Options, vms(Options), Option),
    VM.

%% @doc The Erlangs that `--vm' names, stock where it does not: their labels, and they themselves.
-spec named(map()) -> [{Label :: binary(), ertslab_inventory:vm()}, ...].
named(Options) ->
    VMs = vms(Options),
    [named(Word, Options, VMs) || Word <- lists:uniq(string:lexemes(maps:get(vm, Options, "stock"), ","))].

vms(#{host := Address} = Options) ->
    ertslab_remote:vms(ertslab_ssh:host(Address, maps:get(host_dir, Options, "")));
vms(#{}) -> ertslab_inventory:installed().

arm(Label, VM) -> #{label => Label, variant => maps:get(name, VM), params => #{}, vm => VM}.

%% Arms in full, or Erlangs, or one Erlang with several flags or codes.
wanted(#{arm := _} = Options, _, _) when is_map_key(vm, Options); is_map_key(flags, Options); is_map_key(code, Options) ->
    ertslab_error:usage("--arm says all of an arm; it does not go with --vm, --flags or --code", []);
wanted(#{arm := [_]}, _, _) -> ertslab_error:usage("--arm: a comparison wants at least two", []);
wanted(#{arm := Texts} = Options, _, VMs) -> [full(Text, Options, VMs) || Text <- Texts];
wanted(#{flags := _, code := _}, _, _) ->
    ertslab_error:usage("--flags and --code make arms that differ in one thing; give --arm for both", []);
wanted(#{flags := Flags} = Options, _, VMs) ->
    {Label, VM} = single(Options, VMs, "--flags"),
    [{Label, VM} | [{<<Label/binary, " ", (ertslab_error:text(Text))/binary>>, with_flags(VM, Text)} || Text <- Flags]];
wanted(#{code := Text} = Options, _, VMs) ->
    {_, VM} = single(Options, VMs, "--code"),
    [coded(Part, VM) || Part <- at_least_two("--code", Text)];
wanted(#{vm := Text} = Options, _, VMs) ->
    [named(Word, Options, VMs) || Word <- at_least_two("--vm", Text)];
wanted(Options, #{vms := Variants}, VMs) ->
    [named(binary_to_list(Variant), Options, VMs)
     || Variant <- Variants, Variant =/= ?CONTROL orelse not maps:get(no_control, Options, false)].

at_least_two(Option, Text) ->
    case lists:uniq(string:lexemes(Text, ",")) of
        [_, _ | _] = Words -> Words;
        _ -> ertslab_error:usage("~ts ~ts: a comparison wants at least two", [Option, Text])
    end.

single(Options, VMs, Option) ->
    case string:lexemes(maps:get(vm, Options, "stock"), ",") of
        [Word] -> named(Word, Options, VMs);
        _ -> ertslab_error:usage("~ts is for one Erlang; name one with --vm, or give --arm", [Option])
    end.

%% NAME=VM[,flags=WORDS][,code=DIR]; words may stand in quotes, which a shell takes away.
full(Text, Options, VMs) ->
    case re:run(Text, "^([^=,]+)=([^,]+)((?:,(?:flags|code)=(?:\"[^\"]*\"|[^,\"]+))*)$",
                [unicode, {capture, all_but_first, list}]) of
        {match, [Name, Word, More]} ->
            {_, VM} = named(Word, Options, VMs),
            {ertslab_error:text(Name), lists:foldl(fun with/2, VM, settings(More))};
        nomatch ->
            ertslab_error:usage("--arm ~ts: write NAME=VM[,flags=\"WORDS\"][,code=DIR]", [Text])
    end.

settings(More) ->
    {match, Found} = case re:run(More, ",(flags|code)=\"?([^,\"]*)\"?", [global, unicode, {capture, all_but_first, list}]) of
                         nomatch -> {match, []};
                         Match -> Match
                     end,
    [{Key, Value} || [Key, Value] <- Found].

with({"flags", Words}, VM) -> with_flags(VM, Words);
with({"code", Dir}, VM) -> VM#{code => ertslab_arm_code:folder(Dir)}.

with_flags(VM, Text) ->
    Words = string:lexemes(Text, " \t"),
    case [Word || Word <- Words, lists:member(Word, ?NOT_FLAGS)] of
        [] when Words =/= [] -> VM#{flags => Words};
        [] -> ertslab_error:usage("flags are wanted, as \"+hmqd off_heap\"", []);
        [Word | _] -> ertslab_error:usage("~ts is not for an arm: the lab itself starts the VMs and ends them", [Word])
    end.

coded(Text, VM) ->
    case string:split(Text, "=") of
        [Name, Dir] when Name =/= "", Dir =/= "" -> {ertslab_error:text(Name), with({"code", Dir}, VM)};
        _ -> ertslab_error:usage("--code ~ts: write OLD=DIR,NEW=DIR", [Text])
    end.

%% The label and the VM of a word.
named(Word, Options, VMs) ->
    case {kind(Word), string:split(Word, "@")} of
        {variant, [Name, Release]} -> {ertslab_error:text(Word), found(VMs, Name, release(Word, Release), Options)};
        {variant, [Name]} -> {ertslab_error:text(Name), found(VMs, Name, ertslab_inventory:release(Options, VMs), Options)};
        {_, _} when is_map_key(host, Options) ->
            ertslab_error:usage("~ts: on another machine only variants that its ertslab has built can be measured", [Word]);
        {_, _} when map_get(builds, Options) > 1 -> ertslab_error:usage("~ts: --builds is for variants", [Word]);
        {revision, _} -> ertslab_revision:find(Word);
        {installation, _} -> {ertslab_error:text(Word), ertslab_installation:find(Word)}
    end.

kind(Word) ->
    case {ertslab_revision:is_one(Word), ertslab_installation:is_path(Word)} of
        {true, _} -> revision;
        {false, true} -> installation;
        {false, false} -> variant
    end.

release(Word, Text) ->
    case string:to_integer(Text) of
        {Release, []} when is_integer(Release), Release > 0 -> Release;
        _ -> ertslab_error:usage("'~ts': after @ a release is wanted, as stock@27", [Word])
    end.

found(VMs, Name, Release, Options) ->
    ertslab_builds:chosen(ertslab_inventory:find(VMs, ertslab_error:text(Name), Release), maps:get(builds, Options, 1)).

-spec differing_labels([binary()]) -> ok.
differing_labels(Labels) ->
    case Labels -- lists:uniq(Labels) of
        [] -> ok;
        [Label | _] -> ertslab_error:usage("two arms are called '~ts'", [Label])
    end.

%% Of stock there is a copy under another name; of any other first arm the control is that arm once more. Without it
%% nobody knows what noise looks like here.
control([#{label := ?BASELINE, vm := VM} = First | Others], VMs, Options) ->
    case [Arm || #{label := ?CONTROL} = Arm <- Others] of
        [Arm] -> Arm;
        [] when is_map_key(flags, VM); is_map_key(code, VM) -> control_of(First);
        [] -> arm(?CONTROL, found(VMs, ?CONTROL, maps:get(release, VM), Options))
    end;
control([First | _], _, _) -> control_of(First).

%% @doc An arm once more, under another name.
-spec control_of(ertslab_session:arm()) -> ertslab_session:arm().
control_of(#{label := Label} = Arm) -> Arm#{label := <<Label/binary, " again">>}.

with_control([First | Others], #{label := Label} = Control, Without) ->
    case lists:partition(fun(#{label := Other}) -> Other =:= Label end, Others) of
        {[], _} when Without -> {[First | Others], null};
        {[_], _} when Without -> {[First | Others], Label};
        {_, Rest} -> {[First, Control | Rest], Label}
    end.

%% @doc The arms with what their emulators say of how they were made. Variants of one root are not asked: its manifest
%% says it.
-spec told_apart([ertslab_session:arm(), ...]) -> [ertslab_session:arm(), ...].
told_apart([#{vm := #{root := Root}} | _] = Arms) ->
    case [Arm || #{vm := VM} = Arm <- Arms, maps:get(root, VM) =/= Root orelse is_map_key(program, VM)] of
        [] -> Arms;
        [_ | _] -> [Arm#{made => ertslab_emulator_facts:of_vm(VM)} || #{vm := VM} = Arm <- Arms]
    end.

%% @doc What the arms were made from: JSON. Of one root it is what the build wrote.
-spec manifest([ertslab_session:arm(), ...]) -> iodata().
manifest([#{made := _} | _] = Arms) ->
    json:format(#{variants => #{Label => maps:merge(maps:with([description, version], VM), Made)
                                || #{label := Label, vm := VM, made := Made} <- Arms}});
manifest([#{vm := VM} | _]) -> ertslab_vm:on_its_machine(VM, ertslab_inventory, manifest, [maps:with([root], VM)]).
