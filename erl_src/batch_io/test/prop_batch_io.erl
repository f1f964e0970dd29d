%% @doc Properties that hold whatever the device does and whichever process dies. Text is as io makes it. The
%% messages of a client arrive whole, in order, and at most once. Each written message is sent, dropped or held,
%% and the held ones fit into the buffer.
-module(prop_batch_io).

-include_lib("proper/include/proper.hrl").

-export([prop_text_is_that_of_io/0, prop_sure_means_that_io_takes_it/0, prop_laws/0, prop_laws_with_restarts/0]).
-export([client/3]).

prop_text_is_that_of_io() ->
    ?FORALL({Format, Arguments}, call(), equals(by_io(Format, Arguments), by_library(Format, Arguments))).

by_io(Format, Arguments) ->
    try unicode:characters_to_binary(io_lib:format(Format, Arguments)) of
        Text when is_binary(Text) -> Text;
        _ -> badarg
    catch error:_ -> badarg
    end.

by_library(Format, Arguments) ->
    try batch_io_format:text(Format, Arguments)
    catch error:badarg -> badarg
    end.

prop_sure_means_that_io_takes_it() ->
    ?FORALL({Format, Arguments}, call(),
            batch_io_format:check(Format, Arguments) =:= unsure orelse is_binary(by_io(Format, Arguments))).

%% Control sequences, mostly with valid arguments.
call() ->
    ?LET({Parts, Spoilt}, {list(part()), frequency([{9, false}, {1, true}])},
         {lists:append([Format || {Format, _} <- Parts]),
          spoil(Spoilt, lists:append([Arguments || {_, Arguments} <- Parts]))}).

spoil(true, [_ | Arguments]) -> Arguments;
spoil(_, Arguments) -> Arguments.

part() ->
    frequency([{4, {text(), []}},
               {2, {oneof(["~n", "~~"]), []}},
               {6, {oneof(["~s", "~ts"]), [frequency([{9, chars()}, {1, small_term()}])]}},
               {3, {"~b", [frequency([{9, integer()}, {1, small_term()}])]}},
               {4, {oneof(["~p", "~w", "~tp", "~tw"]), [oneof([integer(), small_term(), text()])]}},
               {2, {oneof(["~5.10.0b", "~-9w", "~8s", "~.3s", "~c", "~x"]), [oneof([integer(), chars()])]}}]).

text() ->
    list(frequency([{9, range($a, $z)}, {2, range(128, 255)}, {1, range(256, 260)}, {1, range(256, 16#D7FF)},
                    {1, 16#1F600}])).

chars() ->
    oneof([text(), list(range($a, $z)), binary(), ?LET(Text, text(), unicode:characters_to_binary(Text)), atom(),
           ?LET({A, B}, {text(), binary()}, [A, [B] | B]), [16#D800], list(integer())]).

small_term() -> ?SIZED(Size, resize(Size div 4, term())).

prop_laws() -> laws(event()).

prop_laws_with_restarts() -> laws(frequency([{4, event()}, {1, kill_writer}, {1, replace_device}])).

laws(Event) ->
    ?FORALL({Options, Clients, Events}, {options(), resize(5, list(resize(100, list(text())))), list(Event)},
            begin
                Seen = run(Options, Clients, Events),
                ?WHENFAIL(io:format("~p~n", [Seen]), lists:all(fun(Holds) -> Holds end, maps:values(Seen)))
            end).

options() ->
    ?LET({Slots, Bytes, Page, Drop, Format},
         {oneof([range(1, 20), 1000]), oneof([range(1, 1000), 1_000_000]), oneof([range(1, 50), 4096]),
          oneof([newest, oldest, {block, range(0, 20)}]), oneof([caller, device])},
         #{slots => Slots, bytes => Bytes, page_size => Page, drop => Drop, format => Format, flush_ms => 1}).

event() ->
    oneof([hold, release, flush, pause,
           {options, ?LET(Options, options(), maps:with([page_size, drop, format], Options))}]).

%% The properties, by name.
run(#{slots := Slots, bytes := Bytes} = Options, Clients, Events) ->
    First = recorder:start(),
    ok = batch_io:start(Options#{leader => First}),
    Running = [spawn_monitor(?MODULE, client, [Nth, 1, Texts]) || {Nth, Texts} <- lists:enumerate(Clients)],
    {Devices, Infos} = lists:foldl(fun happens/2, {[First], []}, Events),
    lists:foreach(fun recorder:release/1, Devices),
    [receive {'DOWN', Monitor, process, Pid, Reason} -> normal = Reason end || {Pid, Monitor} <- Running],
    Settled = settled(500),
    {ok, Info} = batch_io:stop(),
    Written = [lines(recorder:text(Device)) || Device <- lists:reverse(Devices)],
    lists:foreach(fun recorder:stop/1, Devices),
    Restarted = lists:any(fun(Event) -> lists:member(Event, Events) end, [kill_writer, replace_device]),
    #{settled => Settled,
      bound => lists:all(fun(#{held := H, bytes := B}) -> H =< Slots andalso B =< Bytes end, Infos),
      total => maps:get(total, Info) =:= lists:sum([length(Texts) || Texts <- Clients]),
      all_is_somewhere => maps:with([held, bytes, in_flight], Info) =:= #{held => 0, bytes => 0, in_flight => 0},
      sent => is_sent(Restarted, maps:get(sent, Info), length(lists:append(Written))),
      order => lists:all(fun is_ascending/1, [[N || {Client, N, _} <- Lines, Client =:= Nth]
                                              || Lines <- Written, Nth <- lists:seq(1, length(Clients))]),
      once => once(lists:append(Written)),
      whole => lists:all(fun({Client, N, Text}) -> is_text(Text, lists:nth(N, lists:nth(Client, Clients))) end,
                         lists:append(Written))}.

%% If a process died, messages that were in flight may have been written too.
is_sent(true, Sent, Written) -> Written >= Sent;
is_sent(false, Sent, Written) -> Written =:= Sent.

is_ascending(Numbers) -> Numbers =:= lists:usort(Numbers).

once(Lines) -> length(Lines) =:= length(lists:uniq(fun({Client, N, _}) -> {Client, N} end, Lines)).

is_text(Written, Text) -> Written =:= unicode:characters_to_binary(Text).

client(_Nth, _N, []) -> ok;
client(Nth, N, [Text | Texts]) ->
    ok = write(N rem 3, ["~b ~b ~ts~n", [Nth, N, Text]]),
    client(Nth, N + 1, Texts).

%% Through the library, through io to its server, and as text.
write(0, Arguments) -> apply(batch_io, format, Arguments);
write(1, Arguments) -> apply(io, format, [batch_io | Arguments]);
write(2, Arguments) -> batch_io:put_chars(apply(io_lib, format, Arguments)).

lines(Text) ->
    [line(binary:split(Line, ~" ", [global])) || Line <- binary:split(Text, ~"\n", [global, trim]),
                                                  binary:match(Line, ~"batch_io: ") =/= {0, 10}].

line([Client, N | Words]) ->
    {binary_to_integer(Client), binary_to_integer(N), iolist_to_binary(lists:join(" ", Words))}.

happens(Event, {[Device | _] = Devices, Infos}) ->
    Now = happens(Event, Device),
    {[Now | Devices -- [Now]], [batch_io:info() | Infos]};
happens(hold, Device) -> recorder:hold(Device), Device;
happens(release, Device) -> recorder:release(Device), Device;
happens(flush, Device) -> _ = batch_io:flush(5), Device;
happens(pause, Device) -> timer:sleep(2), Device;
happens({options, Options}, Device) -> _ = batch_io:set_options(Options), Device;
happens(kill_writer, Device) ->
    Writer = whereis(batch_io_writer),
    true = exit(Writer, kill),
    ok = restarted(Writer),
    Device;
happens(replace_device, _Device) ->
    Next = recorder:start(),
    ok = batch_io:set_options(#{leader => Next}),
    Next.

%% The next writer. The pause keeps restarts rarer than the supervisor tolerates.
restarted(Writer) ->
    case whereis(batch_io_writer) of
        Next when is_pid(Next), Next =/= Writer -> timer:sleep(5);
        _ -> timer:sleep(1), restarted(Writer)
    end.

settled(0) -> false;
settled(Tries) ->
    _ = batch_io:flush(),
    case batch_io:info() of
        #{held := 0} -> true;
        _ -> timer:sleep(10), settled(Tries - 1)
    end.
