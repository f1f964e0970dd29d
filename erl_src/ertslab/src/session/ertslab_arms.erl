%% @doc The arms of a comparison, from the options of the command line.
%%
%% An arm is an Erlang, its flags and a code path. An Erlang is named by a variant (`tuned'), a variant of a
%% release (`stock@27'), the folder of an installation or its `erl' (`/usr', `~/.kerl/28'), or a revision of a git
%% repository of OTP (`git:~/otp@master', `git:~/otp@master+tuned'). Where no VM is built, the Erlang that runs this takes the
%% place of stock.
-module(ertslab_arms).

-export([of_options/2, one/2, named/1, control_of/1, told_apart/1, manifest/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: arm_says_all | one_arm | one_difference | {one_erlang, Word :: string()} | {several_erlangs, Option :: string()}
                | {no_flag, Word :: string()} | {only_there, Word :: string()} | {no_builds, Word :: string()}
                | {no_release, Word :: string(), Own :: string()} | {same_label, binary()}
                | {named_as_control, binary()} | nothing_built | {not_built, Word :: string()}.

-define(BASELINE, <<"stock">>).
-define(CONTROL, <<"stock_copy">>).
%% Flags that select another emulator or other code than the requested one, and flags that ertslab itself sets.
-define(NOT_FLAGS, ["-emu_type", "-emu_flavor", "-boot", "-pa", "-pz", "-eval", "-run", "-s", "-noshell", "-noinput",
                    "-name", "-sname", "-user", "-extra", "--"]).

%% @doc The requested arms, by default those of the experiment, and the label of the control among them.
-spec of_options(map(), ertslab_experiment:info()) -> {[ertslab_session:arm(), ...], Control :: binary() | null}.
of_options(Options, Info) ->
    VMs = vms(Options),
    Arms = [arm(Label, VM) || {Label, VM} <- wanted(Options, Info, VMs)],
    ok = differing_labels([Label || #{label := Label} <- Arms]),
    Without = maps:get(exact, Info, false) orelse maps:get(no_control, Options, false),
    with_control(Arms, fun() -> control(hd(Arms), VMs, Options) end, Without).

%% @doc The one Erlang that `--vm' names.
-spec one(map(), Option :: string()) -> ertslab_inventory:vm().
one(Options, Option) ->
    {_, VM} = single(Options, vms(Options), Option),
    VM.

%% @doc The Erlangs that `--vm' names, stock by default, with their labels.
-spec named(map()) -> [{Label :: binary(), ertslab_inventory:vm()}, ...].
named(Options) ->
    VMs = vms(Options),
    [named(Word, Options, VMs) || Word <- maps:get(vm, Options, [default(VMs)])].

default([]) -> code:root_dir();
default([_ | _]) -> "stock".

vms(#{host := Address} = Options) ->
    ertslab_remote:vms(ertslab_ssh:host(Address, maps:get(host_dir, Options, "")));
vms(#{}) -> ertslab_inventory:installed().

arm(Label, VM) -> #{label => Label, variant => maps:get(name, VM), params => #{}, vm => VM}.

%% Full arms, or several Erlangs, or one Erlang with several flags or code paths.
wanted(#{arm := _} = Options, _, _) when is_map_key(vm, Options); is_map_key(flags, Options); is_map_key(code, Options) ->
    ertslab_error:usage(?MODULE, arm_says_all);
wanted(#{arm := [_]}, _, _) -> ertslab_error:usage(?MODULE, one_arm);
wanted(#{arm := Arms} = Options, _, VMs) -> [full(Arm, Options, VMs) || Arm <- Arms];
wanted(#{flags := _, code := _}, _, _) -> ertslab_error:usage(?MODULE, one_difference);
wanted(#{flags := Flags} = Options, _, VMs) ->
    {Label, VM} = single(Options, VMs, "--flags"),
    [{Label, VM} | [{ertslab_text:binary([Label, " ", lists:join(" ", Words)]), with_flags(Words, VM)} || Words <- Flags]];
wanted(#{code := Builds} = Options, _, VMs) ->
    {_, VM} = single(Options, VMs, "--code"),
    [{ertslab_text:binary(Name), with_code(Dir, VM)} || {Name, Dir} <- Builds];
wanted(#{vm := [Word]}, _, _) -> ertslab_error:usage(?MODULE, {one_erlang, Word});
wanted(#{vm := Words} = Options, _, VMs) -> [named(Word, Options, VMs) || Word <- Words];
wanted(_, _, []) -> ertslab_error:usage(?MODULE, nothing_built);
wanted(Options, #{vms := Variants}, VMs) ->
    [named(binary_to_list(Variant), Options, VMs)
     || Variant <- Variants, Variant =/= ?CONTROL orelse not maps:get(no_control, Options, false)].

single(Options, VMs, Option) ->
    case maps:get(vm, Options, [default(VMs)]) of
        [Word] -> named(Word, Options, VMs);
        _ -> ertslab_error:usage(?MODULE, {several_erlangs, Option})
    end.

full(#{name := Name, vm := Word} = Arm, Options, VMs) ->
    {_, VM} = named(Word, Options, VMs),
    {ertslab_text:binary(Name), coded(Arm, flagged(Arm, VM))}.

flagged(#{flags := Words}, VM) -> with_flags(Words, VM);
flagged(#{}, VM) -> VM.

coded(#{code := Dir}, VM) -> with_code(Dir, VM);
coded(#{}, VM) -> VM.

with_flags(Words, VM) ->
    case [Word || Word <- Words, lists:member(Word, ?NOT_FLAGS)] of
        [] -> VM#{flags => Words};
        [Word | _] -> ertslab_error:usage(?MODULE, {no_flag, Word})
    end.

with_code(Dir, VM) -> VM#{code => ertslab_arm_code:folder(Dir)}.

%% The label and the VM of an argument.
named(Word, Options, VMs) ->
    case {kind(Word), string:split(Word, "@")} of
        {variant, _} when VMs =:= [] -> not_built(Word);
        {variant, [Name, Release]} -> {ertslab_text:binary(Word), found(VMs, Name, release(Word, Release), Options)};
        {variant, [Name]} -> {ertslab_text:binary(Name), found(VMs, Name, ertslab_inventory:release(Options, VMs), Options)};
        {_, _} when is_map_key(host, Options) -> ertslab_error:usage(?MODULE, {only_there, Word});
        {_, _} when map_get(builds, Options) > 1 -> ertslab_error:usage(?MODULE, {no_builds, Word});
        {revision, _} ->
            ertslab_paths:is_checkout() orelse ertslab_paths:wants_the_lab(Word),
            ertslab_revision:find(Word);
        {installation, _} -> {ertslab_text:binary(Word), ertslab_installation:find(Word)}
    end.

-spec not_built(string()) -> no_return().
not_built(Word) ->
    ertslab_paths:is_checkout() orelse ertslab_paths:wants_the_lab(Word),
    ertslab_error:failure(?MODULE, {not_built, Word}).

kind(Word) ->
    case {ertslab_revision:is_one(Word), ertslab_installation:is_path(Word)} of
        {true, _} -> revision;
        {false, true} -> installation;
        {false, false} -> variant
    end.

release(Word, Text) ->
    case string:to_integer(Text) of
        {Release, []} when is_integer(Release), Release > 0 -> Release;
        _ -> ertslab_error:usage(?MODULE, {no_release, Word, erlang:system_info(otp_release)})
    end.

found(VMs, Name, Release, Options) ->
    ertslab_builds:chosen(ertslab_inventory:find(VMs, ertslab_text:binary(Name), Release), maps:get(builds, Options, 1)).

-spec differing_labels([binary()]) -> ok.
differing_labels(Labels) ->
    case Labels -- lists:uniq(Labels) of
        [] -> ok;
        [Label | _] -> ertslab_error:usage(?MODULE, {same_label, Label})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error(arm_says_all) -> "--arm describes an arm completely; do not combine it with --vm, --flags or --code";
format_error(one_arm) -> "--arm describes one side of the comparison: give it twice or more";
format_error(one_difference) -> "--flags and --code each make arms that differ in one thing; for both, give --arm";
format_error({one_erlang, Word}) -> ["--vm ", Word, " names one VM: name two, as in '--vm stock,tuned', or add --flags or --code"];
format_error({several_erlangs, Option}) -> [Option, " is for one Erlang; name one with --vm", or_arms(Option)];
format_error({no_flag, Word}) -> [Word, " cannot be a flag of an arm: ertslab itself starts and ends the VMs"];
format_error({only_there, Word}) -> [Word, ": on another machine only variants that its ertslab has built can be measured"];
format_error({no_builds, Word}) -> [Word, ": --builds is for variants"];
format_error({no_release, Word, Own}) -> ["'", Word, "': a release must follow @, as in stock@", Own];
format_error({named_as_control, Label}) -> ["'", Label, "' is the name of the control; choose another name for that arm"];
format_error(nothing_built) ->
    "nothing is built here that could be compared; name Erlangs with --vm, as /usr,~/.kerl/28, or give --flags or --code";
format_error({not_built, Word}) -> [Word, " is not built."];
format_error({same_label, Label}) -> ["two arms are called '", Label, "'"].

%% A sweep has no arms.
or_arms("--over") -> "";
or_arms(_) -> ", or give --arm".

%% The control of the variant stock is a copy of it under another name; that of any other first arm is the same arm once
%% more. The control shows how large the noise is. Labels do not decide: the user may give any Erlang the name stock.
control(#{label := ?BASELINE, vm := #{name := ?BASELINE} = VM}, VMs, Options) when not is_map_key(flags, VM), not is_map_key(code, VM) ->
    arm(?CONTROL, found(VMs, ?CONTROL, maps:get(release, VM), Options));
control(First, _, _) -> control_of(First).

%% @doc A control: an arm once more, under another name.
-spec control_of(ertslab_session:arm()) -> ertslab_session:arm().
control_of(#{label := Label} = Arm) -> Arm#{label := again(Label)}.

again(Label) -> <<Label/binary, " again">>.

%% The user may name the control as an arm, but may not give its name to another arm. Where no control is wanted, it need not
%% be built.
with_control([#{label := Label} | Others] = Arms, MakeControl, true) ->
    Named = lists:any(fun(#{label := Other}) -> Other =:= ?CONTROL orelse Other =:= again(Label) end, Others),
    {Arms, case Named andalso MakeControl() of
               #{label := Name} = Control -> case lists:member(Control, Others) of true -> Name; false -> null end;
               false -> null
           end};
with_control([First | Others], MakeControl, false) ->
    #{label := Label} = Control = MakeControl(),
    case lists:partition(fun(#{label := Other}) -> Other =:= Label end, Others) of
        {Named, Rest} when Named =:= []; Named =:= [Control] -> {[First, Control | Rest], Label};
        {[_], _} -> ertslab_error:usage(?MODULE, {named_as_control, Label})
    end.

%% @doc The arms with facts that their emulators report about how they were made. Variants of one root are not asked,
%% since its manifest has the facts.
-spec told_apart([ertslab_session:arm(), ...]) -> [ertslab_session:arm(), ...].
told_apart([#{vm := #{root := Root}} | _] = Arms) ->
    case [Arm || #{vm := VM} = Arm <- Arms, maps:get(root, VM) =/= Root orelse is_map_key(program, VM)] of
        [] -> Arms;
        [_ | _] -> [Arm#{made => ertslab_emulator_facts:of_vm(VM)} || #{vm := VM} = Arm <- Arms]
    end.

%% @doc What the arms were made from, as JSON. For arms of one root it is the manifest of the build.
-spec manifest([ertslab_session:arm(), ...]) -> iodata().
manifest([#{made := _} | _] = Arms) ->
    ertslab_json:format(#{variants => maps:from_list([{Label, maps:merge(maps:with([description, version], VM), Made)}
                                                      || #{label := Label, vm := VM, made := Made} <- Arms])});
manifest([#{vm := VM} | _]) -> ertslab_vm:on_its_machine(VM, ertslab_inventory, manifest, [maps:with([root], VM)]).
