%% @doc How an emulator was made, as far as it reports that itself. This finds arms that differ in more than was
%% intended. An emulator does not reveal whether it was built with profile-guided optimisation.
-module(ertslab_emulator_facts).

-export([of_vm/1, differing/1, format_error/1]).
-export_type([facts/0, reason/0]).

%% `flags': of the C compiler. `flavour': jit, or emu for the interpreter.
-type facts() :: #{compiler := binary(), flags := binary(), flavour := binary(), erts := binary(), word_bits := pos_integer()}.
-type reason() :: {does_not_start, Name :: binary(), Flags :: [string()], Why :: term()}.

-define(TIMEOUT_MS, 30_000).

%% @doc Starts a VM and asks it. Fails if it does not start.
-spec of_vm(ertslab_inventory:vm()) -> facts().
of_vm(#{name := Name} = VM) ->
    case ertslab_vm:start(VM) of
        {ok, Running} ->
            try asked(Running)
            after ertslab_vm:stop(Running)
            end;
        {error, Why} -> ertslab_error:failure(?MODULE, {does_not_start, Name, maps:get(flags, VM, []), Why})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({does_not_start, Name, Flags, Why}) -> [Name, " does not start", with_flags(Flags), ": ", ertslab_crash:says(Why), "."].

with_flags([]) -> "";
with_flags(Flags) -> [" with ", lists:join(" ", Flags)].

asked(Running) ->
    Ask = fun(What) ->
                  case ertslab_vm:call(Running, erlang, system_info, [What], ?TIMEOUT_MS) of
                      {ok, Answer} -> Answer;
                      {error, _} -> unknown
                  end
          end,
    #{compiler => compiler(Ask(c_compiler_used)), flags => flags(Ask(compile_info)), flavour => text(Ask(emu_flavor)),
      erts => text(Ask(version)), word_bits => 8 * Ask(wordsize)}.

compiler({Name, Version}) when is_tuple(Version) ->
    ertslab_text:binary([text(Name), " ", lists:join(".", [text(Part) || Part <- tuple_to_list(Version)])]);
compiler({Name, Version}) -> ertslab_text:binary([text(Name), " ", text(Version)]);
compiler(_) -> <<"unknown">>.

flags(Info) when is_list(Info) -> text(string:trim(proplists:get_value(cflags, Info, "unknown")));
flags(_) -> <<"unknown">>.

text(Text) when is_list(Text); is_binary(Text) -> ertslab_text:binary(Text);
text(Term) -> ertslab_text:binary(io_lib:format("~tp", [Term])).

%% @doc A sentence for each unintended difference of the emulators. Flags that only give paths are
%% ignored.
-spec differing([{Label :: binary(), facts()}]) -> [binary()].
differing(Facts) ->
    [sentence(What, Values)
     || {What, Of} <- [{"the compiler", fun(#{compiler := C}) -> C end},
                       {"its flags", fun(#{flags := F}) -> telling(F) end},
                       {"JIT or interpreter", fun(#{flavour := F}) -> F end},
                       {"bits of a word", fun(#{word_bits := B}) -> integer_to_binary(B) end}],
        Values <- [[{Label, Of(F)} || {Label, F} <- Facts]],
        length(lists:usort([Value || {_, Value} <- Values])) > 1].

telling(Flags) ->
    Words = [Word || Word <- binary:split(Flags, <<" ">>, [global, trim_all]), is_telling(Word)],
    iolist_to_binary(lists:join(" ", lists:usort(Words))).

is_telling(<<"-ffile-prefix-map", _/bits>>) -> false;
is_telling(<<"-fdebug-prefix-map", _/bits>>) -> false;
is_telling(<<"-I", _/bits>>) -> false;
is_telling(_) -> true.

sentence(What, Values) ->
    ertslab_text:binary(["The arms also differ in ", What, ": ",
                        lists:join("; ", [[Label, " ", none(Value)] || {Label, Value} <- Values]), "."]).

none(<<>>) -> "(none)";
none(Value) -> Value.
