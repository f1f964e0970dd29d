%% A server behind a dam for dam_chaos_SUITE: takes messages, notes each in the ledger at once, and
%% looks whether it came in order and whether no more wait than may.
-module(dam_chaos_server).
-behaviour(gen_server).

-export([start_link/4]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2]).

-define(SLOW_ONE_IN, 30).
-define(SLOW_MS, 3).

%% Which dams there were before it is looked up before it has its name, and so before any dam
%% sends it anything.
start_link(Name, Dam, Options, Ledger) ->
    Dams = ets:lookup_element(Ledger, {dams, Dam}, 2),
    _ = ets:update_counter(Ledger, {servers, Dam}, 1, {{servers, Dam}, 0}),
    gen_server:start_link({local, Name}, ?MODULE, {Dam, Dams, Options, Ledger}, []).

init(State) -> {ok, State}.

handle_call(Request, _From, State) -> {reply, Request, State}.

handle_cast(_, State) -> {noreply, State}.

handle_info({Sender, Lane, N}, {Dam, Dams, #{high := High} = Options, Ledger} = State) ->
    ok = take({taken, Dam, Sender, Lane}, N, Ledger),
    ok = within_bound(waiting(), High, Dam, Dams, Ledger),
    ok = acknowledge(Options, Dam),
    _ = [timer:sleep(rand:uniform(?SLOW_MS)) || endurance_chaos:chance(?SLOW_ONE_IN)],
    {noreply, State}.

%% What only ever grows has come in order, and each once.
take(Key, N, Ledger) ->
    {Last, Count} = case ets:lookup(Ledger, Key) of
                        [{_, Known, So}] -> {Known, So};
                        [] -> {0, 0}
                    end,
    N > Last orelse endurance_chaos:fault({order, Key, Last, N}, Ledger),
    true = ets:insert(Ledger, {Key, N, Count + 1}),
    ok.

waiting() ->
    {messages, Messages} = process_info(self(), messages),
    length([Message || {_, _, N} = Message <- Messages, is_integer(N)]).

%% Each dam that was killed may have left as many here.
within_bound(Waiting, High, Dam, Dams, Ledger) ->
    Since = ets:lookup_element(Ledger, {dams, Dam}, 2) - max(1, Dams) + 1,
    Waiting =< High * Since orelse endurance_chaos:fault({bound, Dam, Waiting, Since}, Ledger),
    ok.

acknowledge(#{credit := ack}, Dam) -> dam:ack(Dam);
acknowledge(_, _) -> ok.
