%% @doc A client of XMPP that can do what a session needs to send and receive messages (RFC 6120 and 6121).
%%
%% It signs in anonymously. Instead of parsing, it searches for the text that it waits for: the server under test is known,
%% and on a small machine a client with a full parser would dominate the measurement.
-module(xmpp_session).

-export([connect/1, send/3, messages/1]).
-export_type([session/0]).

-opaque session() :: #{socket := gen_tcp:socket(), jid := binary()}.

-define(TIMEOUT_MS, 30_000).
-define(HEADER, "<?xml version='1.0'?><stream:stream to='localhost' xmlns='jabber:client' "
                "xmlns:stream='http://etherx.jabber.org/streams' version='1.0'>").
-define(ANONYMOUS, "<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='ANONYMOUS'/>").
-define(BIND, "<iq type='set' id='bind'><bind xmlns='urn:ietf:params:xml:ns:xmpp-bind'/></iq>").

%% @doc A session that is signed in and present. Its socket then sends the incoming data to the calling process.
-spec connect(inet:port_number()) -> {session(), Jid :: binary()}.
connect(Port) ->
    {ok, Socket} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}, {nodelay, true}]),
    _ = asked(Socket, ?HEADER, <<"</stream:features>">>),
    _ = asked(Socket, ?ANONYMOUS, <<"<success">>),
    _ = asked(Socket, ?HEADER, <<"</stream:features>">>),
    Bound = asked(Socket, ?BIND, <<"</jid>">>),
    {match, [Jid]} = re:run(Bound, <<"<jid>([^<]+)</jid>">>, [{capture, all_but_first, binary}]),
    _ = asked(Socket, "<presence/>", <<"<presence">>),
    ok = inet:setopts(Socket, [{active, true}]),
    {#{socket => Socket, jid => Jid}, Jid}.

asked(Socket, Question, Until) ->
    ok = gen_tcp:send(Socket, Question),
    answered(Socket, <<>>, Until).

answered(Socket, Before, Until) ->
    {ok, More} = gen_tcp:recv(Socket, 0, ?TIMEOUT_MS),
    All = <<Before/binary, More/binary>>,
    case binary:match(All, Until) of
        nomatch -> answered(Socket, All, Until);
        _ -> All
    end.

%% @doc Sends a message with a number and the time. The receiver's `messages/1' finds both.
-spec send(session(), To :: binary(), Number :: non_neg_integer()) -> ok.
send(#{socket := Socket}, To, Number) ->
    Body = [integer_to_binary(Number), $ , integer_to_binary(erlang:monotonic_time())],
    gen_tcp:send(Socket, ["<message type='chat' to='", To, "'><body>", Body, "</body></message>"]).

%% @doc The numbers and the sending times of the messages in the data, and the rest, which is part of an incomplete message.
-spec messages(binary()) -> {[{Number :: non_neg_integer(), SentAt :: integer()}], Rest :: binary()}.
messages(Came) ->
    case binary:matches(Came, <<"</message>">>) of
        [] -> {[], Came};
        Ends ->
            {At, Size} = lists:last(Ends),
            <<Whole:(At + Size)/binary, Rest/binary>> = Came,
            {match, Found} = re:run(Whole, <<"<body>(\\d+) (-?\\d+)</body>">>, [global, {capture, all_but_first, binary}]),
            {[{binary_to_integer(Number), binary_to_integer(SentAt)} || [Number, SentAt] <- Found], Rest}
    end.
