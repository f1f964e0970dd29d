%% @doc The writer's view of the device: which process it is, its encoding, and the requests that it
%% has not answered. No function here waits.
-module(batch_io_device).

-export([new/1, open/1, open_again/1, change/2, is_ready/1, is_open/1, is_writing/1, oldest/1, unanswered/1]).
-export([write/4, pass/2, reply/3, down/2, current/1, give_up/3, from_0_1/1, to_0_1/1]).
-export_type([device/0, done/0]).

%% While the device writes one page, the next is already sent.
-define(WINDOW, 2).

%% pages: the number of pages sent to the current device and not answered. encoding: `lost' from the end of a
%% device of another node until that answers; whether it is there is not known before.
-record(device, {leader :: batch_io_options:leader(), pid = none :: pid() | none,
                 monitor = none :: reference() | none, encoding = unknown :: unknown | lost | latin1 | unicode,
                 pages = 0 :: non_neg_integer(), sent = #{} :: #{reference() => sent()}}).
-opaque device() :: #device{}.
%% From: the number of the first message. Since: the earliest time at which its oldest message may
%% have come. Told: how many drops its line reports.
-type sent() :: {Monitor :: reference(), encoding | {page, page_note()} | {pass, reference(), Server :: pid()}}.
-type page_note() :: {From :: non_neg_integer(), Slots :: non_neg_integer(), Bytes :: non_neg_integer(),
                      Since :: integer(), Told :: non_neg_integer()}.
%% The outcome of a request: none that matters, a page that was written or failed, or a reply that
%% another process waits for.
-type done() :: none | {written | {failed, Reason :: term()}, page_note()} |
                {passed, reference(), Server :: pid(), Reply :: term()}.

-spec new(batch_io_options:leader()) -> device().
new(Leader) -> open(#device{leader = Leader}).

%% @doc Looks up the device if there is none, and asks for its encoding. Nothing is written before
%% the answer.
-spec open(device()) -> device().
open(#device{pid = none, leader = Leader} = Device) ->
    case pid(Leader) of
        undefined -> Device;
        Pid ->
            Monitor = monitor(process, Pid),
            ask_encoding(Device#device{pid = Pid, monitor = Monitor, pages = 0})
    end;
open(Device) -> Device.

pid(Name) when is_atom(Name) ->
    case whereis(Name) of
        Pid when is_pid(Pid) -> Pid;
        _ -> undefined % a port can have a registered name too
    end;
pid(Pid) when node(Pid) =/= node() -> Pid;
pid(Pid) ->
    case is_process_alive(Pid) of
        true -> Pid;
        false -> undefined
    end.

%% @doc Looks the device up at once, because its name may be that of a new process. One of another node is only
%% looked up from time to time: it would be reported as gone again and again.
-spec open_again(device()) -> device().
open_again(#device{encoding = lost} = Device) -> Device;
open_again(Device) -> open(Device).

ask_encoding(#device{encoding = lost} = Device) -> send(getopts, encoding, Device);
ask_encoding(Device) -> send(getopts, encoding, Device#device{encoding = unknown}).

%% @doc Changes to another leader. The answers of the previous leader are still awaited.
-spec change(batch_io_options:leader(), device()) -> device().
change(Leader, #device{leader = Leader} = Device) -> Device;
change(Leader, #device{pid = Pid, monitor = Monitor} = Device) ->
    case pid(Leader) of
        Pid -> Device#device{leader = Leader}; % by another name
        _ ->
            ok = forget(Monitor, Device),
            open(Device#device{leader = Leader, pid = none, monitor = none, encoding = unknown})
    end.

%% A device that still has requests is watched until it has answered them or ends.
forget(none, _) -> ok;
forget(Monitor, #device{sent = Sent}) ->
    _ = lists:keymember(Monitor, 1, maps:values(Sent)) orelse demonitor(Monitor, [flush]),
    ok.

%% @doc The monitor on the current device, and its process.
-spec current(device()) -> {reference(), pid()} | none.
current(#device{monitor = none}) -> none;
current(#device{monitor = Monitor, pid = Pid}) -> {Monitor, Pid}.

%% @doc Gives up the pages that a former device has not answered. The requests of other processes are
%% still awaited, because a reader may wait for long. The current device is never given up. If it is the
%% same process again, what it was sent before are pages like those that it was sent since.
-spec give_up(Former :: reference(), pid(), device()) -> {[done()], device()}.
give_up(Current, _, #device{monitor = Current} = Device) -> {[], Device};
give_up(Former, Pid, #device{pid = Pid, monitor = Current, sent = Sent, pages = Pages} = Device) ->
    Before = maps:map(fun(_, {_, What}) -> {Current, What} end, pages_of(Former, Sent)),
    Left = Device#device{sent = maps:merge(Sent, Before), pages = Pages + map_size(Before)},
    ok = forget(Former, Left),
    {[], Left};
give_up(Former, _, #device{sent = Sent} = Device) ->
    Pages = pages_of(Former, Sent),
    Left = Device#device{sent = maps:without(maps:keys(Pages), Sent)},
    ok = forget(Former, Left),
    {[{{failed, no_answer}, Note} || {_, {page, Note}} <- maps:values(Pages)], Left}.

pages_of(Former, Sent) -> maps:filter(fun(_, {Monitor, What}) -> Monitor =:= Former andalso is_page(What) end, Sent).

is_page({page, _}) -> true;
is_page(_) -> false.

-spec is_open(device()) -> boolean().
is_open(#device{pid = Pid, encoding = Encoding}) -> Pid =/= none andalso Encoding =/= lost.

%% @doc Whether the device can be given another page.
-spec is_ready(device()) -> boolean().
is_ready(#device{pid = Pid, encoding = Encoding, pages = Pages}) ->
    Pid =/= none andalso is_known(Encoding) andalso Pages < ?WINDOW.

is_known(Encoding) -> Encoding =:= latin1 orelse Encoding =:= unicode.

%% @doc Whether an answer of the device is awaited: its encoding, or that of a page.
-spec is_writing(device()) -> boolean().
is_writing(#device{pid = Pid, encoding = Encoding, pages = Pages}) ->
    Pid =/= none andalso (not is_known(Encoding) orelse Pages > 0).

%% @doc The number of the first message that is not answered, and the time since which the oldest
%% message may wait.
-spec oldest(device()) -> {From :: non_neg_integer(), Since :: integer()} | none.
oldest(Device) ->
    case unanswered(Device) of
        [] -> none;
        Pages ->
            {From, _, _, Since, _} = lists:min(Pages),
            {From, Since}
    end.

%% @doc The pages that the device has not answered.
-spec unanswered(device()) -> [page_note()].
unanswered(#device{sent = Sent}) -> [Note || {_, {page, Note}} <- maps:values(Sent)].

%% @doc Sends a page, preceded by Line, which may be empty.
-spec write(batch_io_page:page(), page_note(), Line :: binary(), device()) -> device().
write({_, _, Entries}, Note, Line, #device{encoding = Encoding, pages = Pages} = Device) ->
    Request = batch_io_page:request(Entries, Line, Encoding),
    send(Request, {page, Note}, Device#device{pages = Pages + 1}).

%% @doc Sends another process's request. Text in it is sent as the text of pages is, all else
%% unchanged. A request that sets options, alone or among others, may have changed the encoding, so
%% the encoding is asked again.
-spec pass({pass, reference(), pid(), term()}, device()) -> device().
pass({pass, Ref, Server, Request}, #device{encoding = Encoding} = Device) ->
    Passed = send(encoded(Request, Encoding), {pass, Ref, Server}, Device),
    case Request of
        {setopts, _} -> ask_encoding(Passed);
        {requests, _} -> ask_encoding(Passed);
        _ -> Passed
    end.

encoded({requests, Requests}, Encoding) ->
    {Encoded, _} = lists:mapfoldl(fun encoded_one/2, Encoding, Requests),
    {requests, Encoded};
encoded(Request, _) -> Request.

encoded_one({put_chars, unicode, Text}, Encoding) when is_binary(Text) -> {batch_io_page:request([], Text, Encoding), Encoding};
encoded_one({setopts, Options} = Request, Encoding) -> {Request, encoding_set(Options, Encoding)};
encoded_one(Request, Encoding) -> {Request, Encoding}.

%% The encoding after options are set: the first of them counts, as it does for OTP's devices.
encoding_set([latin1 | _], _) -> latin1;
encoding_set([{encoding, latin1} | _], _) -> latin1;
encoding_set([unicode | _], _) -> unicode;
encoding_set([{encoding, _} | _], _) -> unicode;
encoding_set([_ | Options], Before) -> encoding_set(Options, Before);
encoding_set(_, Before) -> Before.

send(Request, What, #device{pid = Pid, monitor = Monitor, sent = Sent} = Device) ->
    Ref = make_ref(),
    Pid ! {io_request, self(), Ref, Request},
    Device#device{sent = Sent#{Ref => {Monitor, What}}}.

%% @doc The device's answer to one request.
-spec reply(reference(), term(), device()) -> {done(), device()}.
reply(Ref, Reply, #device{monitor = Monitor, sent = Sent} = Device) ->
    case maps:take(Ref, Sent) of
        error -> {none, Device};
        {{Monitor, What}, Rest} -> done(What, Reply, Device#device{sent = Rest});
        {{_Former, What}, Rest} ->
            {Done, _} = done(What, Reply, Device),
            {Done, Device#device{sent = Rest}}
    end.

done(encoding, Options, Device) -> {none, Device#device{encoding = encoding(Options)}};
done({pass, Ref, Server}, Reply, Device) -> {{passed, Ref, Server, Reply}, Device};
done({page, Note}, {error, Reason}, #device{pages = Pages} = Device) ->
    {{{failed, Reason}, Note}, Device#device{pages = Pages - 1}};
done({page, Note}, _Reply, #device{pages = Pages} = Device) ->
    {{written, Note}, Device#device{pages = Pages - 1}}.

%% A device that does not report an encoding takes what io sends, which is Unicode. An answer may be
%% any term, even an improper list.
encoding([{encoding, latin1} | _]) -> latin1;
encoding([{encoding, _} | _]) -> unicode;
encoding([_ | Options]) -> encoding(Options);
encoding(_) -> unicode.

%% @doc Handles the end of a monitored device. The requests that it has not answered have failed.
-spec down(reference(), device()) -> {[done()], device()}.
down(Gone, #device{sent = Sent} = Device) ->
    IsLost = fun(_, {Monitor, _}) -> Monitor =:= Gone end,
    Lost = [element(1, done(What, {error, terminated}, Device)) || {_, What} <- maps:values(maps:filter(IsLost, Sent))],
    Left = maps:filter(fun(Ref, Request) -> not IsLost(Ref, Request) end, Sent),
    {Lost, closed(Gone, Device#device{sent = Left})}.

closed(Gone, #device{monitor = Gone, pid = Pid} = Device) -> Device#device{pid = none, monitor = none, encoding = after_end(node(Pid))};
closed(_Former, Device) -> Device.

after_end(Node) when Node =:= node() -> unknown;
after_end(_) -> lost.

%% @doc Converts the device of version 0.1.0, which did not record how many drops a page reports.
-spec from_0_1(device()) -> device().
from_0_1(Device) -> with_notes(fun({From, Slots, Bytes, Since}) -> {From, Slots, Bytes, Since, 0} end, Device).

%% @doc Converts the device for version 0.1.0.
-spec to_0_1(device()) -> device().
to_0_1(#device{encoding = lost} = Device) -> to_0_1(Device#device{encoding = unknown});
to_0_1(Device) -> with_notes(fun({From, Slots, Bytes, Since, _Told}) -> {From, Slots, Bytes, Since} end, Device).

with_notes(Changed, #device{sent = Sent} = Device) ->
    Device#device{sent = maps:map(fun(_, {Monitor, {page, Note}}) -> {Monitor, {page, Changed(Note)}};
                                     (_, Request) -> Request
                                  end, Sent)}.
