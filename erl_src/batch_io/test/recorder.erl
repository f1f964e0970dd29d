%% An IO device that keeps what it is given, and does what a test wants of it:
%% answers, is silent until it is released, fails, or has other options.
-module(recorder).

-export([start/0, start/1, hold/1, release/1, release_one/1, fail/2, text/1, requests/1, answers/2, stop/1]).

start() -> start([{encoding, unicode}]).

start(Options) ->
    spawn(fun() -> loop(#{options => Options, held => no, error => none, requests => [], answers => #{}}) end).

%% What comes from now on is answered when it is released.
hold(Device) -> ask(Device, hold).
release(Device) -> ask(Device, release).
release_one(Device) -> ask(Device, release_one).
%% Each request that writes fails with this, or none does.
fail(Device, Reason) -> ask(Device, {fail, Reason}).
%% What a request like this is answered.
answers(Device, Answers) -> ask(Device, {answers, Answers}).
%% The requests that wrote, and what.
requests(Device) -> lists:reverse(ask(Device, requests)).
text(Device) -> unicode:characters_to_binary([written(Request) || Request <- requests(Device)]).

stop(Device) ->
    Monitor = monitor(process, Device),
    exit(Device, kill),
    receive {'DOWN', Monitor, process, Device, _} -> ok end.

ask(Device, What) ->
    Ref = make_ref(),
    Device ! {self(), Ref, What},
    receive {Ref, Answer} -> Answer after 5000 -> error(recorder_hangs) end.

loop(#{held := Held} = State) ->
    receive
        {io_request, _, _, _} = Request when Held =/= no -> loop(State#{held := [Request | Held]});
        {io_request, From, ReplyAs, Request} ->
            {Reply, After} = request(Request, State),
            From ! {io_reply, ReplyAs, Reply},
            loop(After);
        {Client, Ref, What} when is_reference(Ref) ->
            {Answer, After} = asked(What, State),
            Client ! {Ref, Answer},
            loop(After)
    end.

request(getopts, #{options := Options} = State) -> {Options, State};
request({setopts, Options}, State) -> {ok, State#{options := Options}};
request(Request, #{error := Error, requests := Requests, answers := Answers} = State) ->
    case {Answers, Error} of
        {#{Request := Answer}, _} -> {Answer, State#{requests := [{answered, Request} | Requests]}};
        {_, none} -> {ok, State#{requests := [Request | Requests]}};
        _ -> {{error, Error}, State}
    end.

asked(hold, #{held := no} = State) -> {ok, State#{held := []}};
asked(hold, State) -> {ok, State};
asked(release, #{held := no} = State) -> {ok, State};
asked(release, #{held := Held} = State) ->
    {ok, lists:foldr(fun({io_request, From, ReplyAs, Request}, Before) ->
                             {Reply, After} = request(Request, Before),
                             From ! {io_reply, ReplyAs, Reply},
                             After
                     end, State#{held := no}, Held)};
asked(release_one, #{held := Held} = State) ->
    {_, #{held := no} = Released} = asked(release, State#{held := [lists:last(Held)]}),
    {ok, Released#{held := lists:droplast(Held)}};
asked({fail, Error}, State) -> {ok, State#{error := Error}};
asked({answers, Answers}, State) -> {ok, State#{answers := Answers}};
asked(requests, #{requests := Requests} = State) -> {Requests, State}.

written({put_chars, Encoding, Chars}) -> unicode:characters_to_binary(Chars, Encoding);
written({put_chars, Encoding, Module, Function, Arguments}) ->
    unicode:characters_to_binary(apply(Module, Function, Arguments), Encoding);
written({requests, Requests}) -> [written(Request) || Request <- Requests];
written({answered, _}) -> [].
