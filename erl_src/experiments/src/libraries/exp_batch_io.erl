%% @doc The cost of a message that is written by io:format and by batch_io, end to
%% end: until the device has confirmed the last one.
%%
%% The device either only replies (`noop'), or passes each request to a file, which
%% replies (`passthrough'). In the timings nothing is dropped: a writer waits when the buffer is full. The share of dropped
%% messages without waiting is a metric of its own.
-module(exp_batch_io).
-behaviour(ertslab_experiment).

-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-export([device/1, spin/0]).

%% A message that goes to the device on its own costs the same in any number,
%% so no more than these are measured.
-define(MOST_ALONE, 20_000).
-define(DEADLINE_MS, 300_000).
%% The first number. All numbers have equally many digits.
-define(FIRST, 1_000_000).

-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "a message by io:format and by batch_io",
      shows => "the gain of batching end to end, and when the device should format the text",
      origin => "ferd's and paulperegud's batchio; io:format goes to the device and back for each message",
      vms => [<<"stock">>, <<"stock_copy">>],
      parameters =>
          [#{name => device, 'of' => [noop, passthrough], quick => [noop, passthrough], full => [noop, passthrough],
             doc => "one that answers only, or one that gives all to a file"},
           #{name => messages, min => 1, max => 10_000_000, quick => [10_000], full => [10_000],
             doc => "messages of all writers"},
           #{name => message, 'of' => [text, term], quick => [text], full => [text],
             doc => "by ~b ~ts~n, or by ~w~n of a tuple"},
           #{name => bytes, min => 20, max => 1000, quick => [25], full => [25, 100], doc => "bytes of a message"},
           #{name => page, min => 1, max => 10_000_000, quick => [4096], full => [4096], doc => "bytes of a page"},
           #{name => buffer, min => 1, max => 2_000_000, quick => [5000], full => [5000],
             doc => "messages that the buffer holds"},
           #{name => writers, min => 1, max => 10_000, quick => [1, 64], full => [1, 8, 64],
             doc => "processes that write at once"},
           #{name => node, 'of' => [idle, busy], quick => [idle], full => [idle],
             doc => "busy: two processes for each scheduler compute meanwhile"}],
      metrics =>
          [#{name => io_format, doc => "a message by io:format"},
           #{name => batch, doc => "a message by batch_io, which makes its text in the caller"},
           #{name => batch_unformatted, doc => "a message by batch_io whose text the device formats"},
           #{name => shed, unit => percent, doc => "messages that are dropped where nobody waits for room, the oldest first"}],
      contrasts =>
          [#{name => faster, over => io_format, under => batch, says => "io:format to batch_io"},
           #{name => faster_unformatted, over => io_format, under => batch_unformatted,
             says => "io:format to batch_io with the device making the text"}],
      estimator => typical,
      rounds => none,
      warm_up => 1,
      iterations => 3,
      timeout_ms => 600_000}.

-spec setup(ertslab_experiment:params()) -> map().
setup(#{device := Device, node := Node} = Params) ->
    ok = logger:set_primary_config(level, warning),
    {module, _} = code:ensure_loaded(ertslab_experiment),
    File = open(Device),
    Params#{file => File, leader => spawn_link(?MODULE, device, [File]),
            spinning => [spawn_link(?MODULE, spin, []) || _ <- lists:seq(1, spinners(Node))]}.

open(noop) -> none;
open(passthrough) ->
    {ok, File} = file:open(file_name(), [write]),
    File.

file_name() -> ertslab_experiment:scratch_file("batch_io").

spinners(idle) -> 0;
spinners(busy) -> 2 * erlang:system_info(schedulers_online).

%% @doc A process that computes for ever.
-spec spin() -> no_return().
spin() -> spin().

-spec prepare(atom(), map()) -> map().
prepare(io_format, State) -> State;
prepare(Metric, #{page := Page, buffer := Slots, leader := Leader} = State) ->
    _ = application:stop(batch_io),
    ok = batch_io:start(#{leader => Leader, page_size => Page, slots => Slots, format => format(Metric),
                          drop => drop(Metric)}),
    State.

format(batch_unformatted) -> device;
format(_) -> caller.

drop(shed) -> oldest;
drop(_) -> {block, ?DEADLINE_MS}.

%% The time of one message. The result has the number of confirmed and of
%% dropped messages, and the bytes in the file.
-spec run(atom(), map()) -> {float(), [integer()]}.
run(Metric, #{file := File} = State) ->
    Messages = messages(Metric, State),
    ok = truncate(File),
    Before = counted(Metric),
    {Nanoseconds, ok} = ertslab_experiment:timed(fun() -> write(Metric, Messages, State) end),
    [Sent, Dropped] = lists:zipwith(fun erlang:'-'/2, counted(Metric), Before),
    result(Metric, Nanoseconds / Messages, [Sent, Dropped, file_bytes(File)], State).

%% The number of dropped messages varies by chance and is not in the result. The result shows that all messages are counted, and
%% that no byte of the sent ones is missing. (A line in the file reports the dropped ones.)
result(shed, _, [Sent, Dropped, Written], #{device := Device, bytes := Bytes}) ->
    {100 * Dropped / (Sent + Dropped), [Sent + Dropped, max(0, written(Device, Sent * Bytes) - Written)]};
result(_, Nanoseconds, Counts, _) -> {Nanoseconds, Counts}.

truncate(none) -> ok;
truncate(File) ->
    {ok, 0} = file:position(File, bof),
    file:truncate(File).

file_bytes(none) -> 0;
file_bytes(_File) -> filelib:file_size(file_name()).

%% Each writer sends the same number.
messages(Metric, #{messages := Messages, writers := Writers}) when Metric =:= batch; Metric =:= shed -> each(Messages, Writers) * Writers;
messages(batch_unformatted, #{device := noop} = State) -> messages(batch, State);
messages(_, #{messages := Messages, writers := Writers}) -> each(min(Messages, ?MOST_ALONE), Writers) * Writers.

each(Messages, Writers) -> max(1, Messages div Writers).

%% io:format returns when the device has the message.
counted(io_format) -> [0, 0];
counted(_) ->
    #{sent := Sent, dropped := Dropped} = batch_io:info(),
    [Sent, Dropped].

write(Metric, Messages, #{writers := Writers} = State) ->
    Number = Messages div Writers,
    {Format, Filler} = message(State),
    Work = fun() -> write(Metric, Format, Filler, Number, State) end,
    Running = [spawn_monitor(Work) || _ <- lists:seq(1, Writers)],
    [receive {'DOWN', Monitor, process, Pid, normal} -> ok end || {Pid, Monitor} <- Running],
    confirmed(Metric).

confirmed(io_format) -> ok;
confirmed(_) -> batch_io:flush(?DEADLINE_MS).

write(io_format, Format, Filler, Number, #{leader := Leader, message := Message}) ->
    by_io(Number, Leader, Format, Message, Filler);
write(_, Format, Filler, Number, #{message := Message}) -> by_batch_io(Number, Format, Message, Filler).

by_io(0, _, _, _, _) -> ok;
by_io(Number, Leader, Format, Message, Filler) ->
    ok = io:format(Leader, Format, arguments(Message, ?FIRST + Number, Filler)),
    by_io(Number - 1, Leader, Format, Message, Filler).

by_batch_io(0, _, _, _) -> ok;
by_batch_io(Number, Format, Message, Filler) ->
    ok = batch_io:format(Format, arguments(Message, ?FIRST + Number, Filler)),
    by_batch_io(Number - 1, Format, Message, Filler).

%% A number of seven digits, and what makes up the bytes.
message(#{message := text, bytes := Bytes}) -> {"~b ~ts~n", binary:copy(<<"x">>, Bytes - 9)};
message(#{message := term, bytes := Bytes}) -> {"~w~n", list_to_atom(lists:duplicate(Bytes - 11, $x))}.

arguments(text, Number, Filler) -> [Number, Filler];
arguments(term, Number, Filler) -> [{Number, Filler}].

%% @doc The device. Without a file it says `ok' to everything.
-spec device(pid() | none) -> no_return().
device(none) ->
    receive {io_request, From, ReplyAs, _} -> From ! {io_reply, ReplyAs, ok} end,
    device(none);
device(File) ->
    receive Request -> File ! Request end,
    device(File).

-spec verify(atom(), [integer()], map()) -> ok | {wrong, term()}.
verify(shed, Result, State) -> ertslab_experiment:expect([messages(shed, State), 0], Result);
verify(Metric, Result, #{bytes := Bytes, device := Device} = State) ->
    Messages = messages(Metric, State),
    ertslab_experiment:expect([sent(Metric, Messages), 0, written(Device, Messages * Bytes)], Result).

sent(io_format, _) -> 0;
sent(_, Messages) -> Messages.

written(noop, _) -> 0;
written(passthrough, Bytes) -> Bytes.

-spec teardown(map()) -> ok.
teardown(#{leader := Leader, spinning := Spinning, file := File}) ->
    lists:foreach(fun term_owner:stop/1, Spinning),
    _ = application:stop(batch_io),
    ok = term_owner:stop(Leader),
    close(File).

close(none) -> ok;
close(File) ->
    ok = file:close(File),
    file:delete(file_name()).
