%% @doc Waiting messages, in order, up to a limit in messages and in bytes, and the policy that
%% decides which message is dropped when a limit is reached.
%%
%% Bytes are measured only if a limit in bytes is set, and only for waiting messages.
-module(dam_lane).

-export([new/1, configure/2, in/4, out/1, out/2, length/1, bytes/1, since/1, is_full/1, is_relieved/1]).
-export_type([lane/0, limits/0, entry/0, in_result/0]).

-type limits() :: #{limit := pos_integer() | infinity, limit_bytes := pos_integer() | infinity,
                    measure := dam_types:measure(), policy := dam_types:policy(), _ => _}.
%% Since: when the message arrived, in microseconds of any clock.
-type entry() :: {Message :: term(), Bytes :: non_neg_integer(), Since :: integer(), tag()}.
-type tag() :: none | {Key :: term(), Number :: non_neg_integer()}.
-type in_result() :: {accepted, Dropped :: [dam_types:reason()], lane()} | {refused, dam_types:reason()}.

%% keys: the newest waiting message of each key. replaced: the numbers of messages that were
%% replaced by newer ones; these entries are skipped when their turn comes.
-record(lane, {limits :: limits(), entries = queue:new() :: queue:queue(entry()),
               length = 0 :: non_neg_integer(), bytes = 0 :: non_neg_integer(),
               keys = #{} :: #{Key :: term() => {Number :: non_neg_integer(), Bytes :: non_neg_integer()}},
               replaced = #{} :: #{Number :: non_neg_integer() => []},
               next = 0 :: non_neg_integer()}).
-opaque lane() :: #lane{}.

-spec new(limits()) -> lane().
new(Limits) -> #lane{limits = Limits}.

%% @doc Sets other limits for future messages. Waiting messages are kept, with the bytes that they
%% were measured with.
-spec configure(limits(), lane()) -> lane().
configure(Limits, Lane) ->
    {Entries, _} = out(?MODULE:length(Lane), Lane),
    lists:foldl(fun({Message, Bytes, Since, _}, To) -> push(Message, Bytes, Since, To) end,
                new(Limits), Entries).

%% @doc Adds a message, if the limits and the policy allow it or `force' is given.
-spec in(term(), Since :: integer(), force | limited, lane()) -> in_result().
in(Message, Since, Mode, #lane{limits = Limits} = Lane) ->
    Bytes = measure(Message, Limits),
    case fits(Bytes, Lane) of
        true -> {accepted, [], push(Message, Bytes, Since, Lane)};
        never -> {refused, too_large};
        false when Mode =:= force -> {accepted, [], push(Message, Bytes, Since, Lane)};
        false -> make_room(maps:get(policy, Limits), Message, Bytes, Since, Lane)
    end.

fits(Bytes, #lane{limits = #{limit := Limit, limit_bytes := LimitBytes}, length = Length, bytes = Sum}) ->
    %% Every number is less than an atom, and so less than `infinity'.
    if Bytes > LimitBytes -> never;
       true -> Length < Limit andalso Bytes + Sum =< LimitBytes
    end.

measure(_, #{limit_bytes := infinity}) -> 0;
measure(Message, #{measure := external}) -> erlang:external_size(Message);
measure(Message, #{measure := flat}) -> erts_debug:flat_size(Message) * erlang:system_info(wordsize);
measure(Message, #{measure := Fun}) ->
    try Fun(Message) of
        Bytes when is_integer(Bytes), Bytes >= 0 -> Bytes;
        _ -> 0
    catch _:_ -> 0
    end.

make_room(drop_oldest, Message, Bytes, Since, Lane) ->
    {Dropped, Roomy} = drop_until_fits(Bytes, Lane, []),
    {accepted, Dropped, push(Message, Bytes, Since, Roomy)};
make_room({drop_key, KeyFun}, Message, Bytes, Since, Lane) ->
    Roomy = without_key(key(KeyFun, Message), Lane),
    case Roomy =/= Lane andalso fits(Bytes, Roomy) of
        true -> {accepted, [replaced], push(Message, Bytes, Since, Roomy)};
        false -> {refused, full}
    end;
make_room(_, _, _, _, _) -> {refused, full}.

drop_until_fits(Bytes, Lane, Dropped) ->
    case fits(Bytes, Lane) of
        true -> {Dropped, Lane};
        false ->
            {_, Rest} = out(Lane),
            drop_until_fits(Bytes, Rest, [oldest | Dropped])
    end.

push(Message, Bytes, Since, #lane{entries = Entries, length = Length, bytes = Sum} = Lane) ->
    {Tag, Tagged} = tag(Message, Bytes, Lane),
    Tagged#lane{entries = queue:in({Message, Bytes, Since, Tag}, Entries),
                length = Length + 1, bytes = Sum + Bytes}.

tag(Message, Bytes, #lane{limits = #{policy := {drop_key, KeyFun}}, keys = Keys, next = Next} = Lane) ->
    case key(KeyFun, Message) of
        {key, Key} -> {{Key, Next}, Lane#lane{keys = Keys#{Key => {Next, Bytes}}, next = Next + 1}};
        none -> {none, Lane}
    end;
tag(_, _, Lane) -> {none, Lane}.

%% If the key function fails, the message replaces no other and is never replaced.
key(KeyFun, Message) ->
    try {key, KeyFun(Message)}
    catch _:_ -> none
    end.

%% The new message goes to the end. In the place of the old message it would overtake messages that
%% its sender has sent in between.
without_key({key, Key}, #lane{keys = Keys, replaced = Replaced, length = Length, bytes = Sum} = Lane) ->
    case Keys of
        #{Key := {Number, Bytes}} ->
            swept(Lane#lane{keys = maps:remove(Key, Keys), replaced = Replaced#{Number => []},
                            length = Length - 1, bytes = Sum - Bytes});
        #{} -> Lane
    end;
without_key(none, Lane) -> Lane.

%% Replaced entries keep their memory until they are swept. There are at most as many of them as
%% waiting messages.
swept(#lane{replaced = Replaced, length = Length} = Lane) when map_size(Replaced) =< Length + 1 -> Lane;
swept(#lane{entries = Entries, replaced = Replaced} = Lane) ->
    Lane#lane{entries = queue:filter(fun(Entry) -> not is_replaced(Entry, Replaced) end, Entries),
              replaced = #{}}.

is_replaced({_, _, _, {_, Number}}, Replaced) -> is_map_key(Number, Replaced);
is_replaced(_, _) -> false.

%% @doc Removes the next message.
-spec out(lane()) -> {entry(), lane()} | empty.
out(#lane{length = 0}) -> empty;
out(#lane{entries = Entries} = Lane) ->
    {{value, Entry}, Rest} = queue:out(Entries),
    taken(Entry, Lane#lane{entries = Rest}).

taken({_, Bytes, _, none} = Entry, #lane{length = Length, bytes = Sum} = Lane) ->
    {Entry, Lane#lane{length = Length - 1, bytes = Sum - Bytes}};
taken({_, _, _, {_, Number}}, #lane{replaced = Replaced} = Lane) when is_map_key(Number, Replaced) ->
    out(Lane#lane{replaced = maps:remove(Number, Replaced)});
taken({_, Bytes, _, {Key, Number}} = Entry, #lane{length = Length, bytes = Sum, keys = Keys} = Lane) ->
    Others = case Keys of
                 #{Key := {Number, _}} -> maps:remove(Key, Keys);
                 #{} -> Keys
             end,
    {Entry, Lane#lane{length = Length - 1, bytes = Sum - Bytes, keys = Others}}.

%% @doc Removes up to N messages, in order.
-spec out(non_neg_integer(), lane()) -> {[entry()], lane()}.
out(0, Lane) -> {[], Lane};
out(N, #lane{limits = #{policy := {drop_key, _}}} = Lane) -> each_out(N, Lane, []);
out(N, #lane{replaced = Replaced} = Lane) when map_size(Replaced) > 0 -> each_out(N, Lane, []);
out(N, #lane{length = Length} = Lane) when N >= Length -> all_out(Lane);
out(N, #lane{entries = Entries, length = Length, bytes = Sum} = Lane) ->
    {Out, Bytes, Rest} = first_out(N, Entries, [], 0),
    {Out, Lane#lane{entries = Rest, length = Length - N, bytes = Sum - Bytes}}.

%% queue:split/2 would count all waiting messages.
first_out(0, Entries, Out, Bytes) -> {lists:reverse(Out), Bytes, Entries};
first_out(N, Entries, Out, Bytes) ->
    {{value, {_, More, _, _} = Entry}, Rest} = queue:out(Entries),
    first_out(N - 1, Rest, [Entry | Out], Bytes + More).

all_out(#lane{entries = Entries} = Lane) ->
    {queue:to_list(Entries), Lane#lane{entries = queue:new(), length = 0, bytes = 0, keys = #{}}}.

each_out(0, Lane, Out) -> {lists:reverse(Out), Lane};
each_out(N, Lane, Out) ->
    case out(Lane) of
        {Entry, Rest} -> each_out(N - 1, Rest, [Entry | Out]);
        empty -> {lists:reverse(Out), Lane}
    end.

%% @doc The number of waiting messages.
-spec length(lane()) -> non_neg_integer().
length(#lane{length = Length}) -> Length.

%% @doc The measured bytes of the waiting messages.
-spec bytes(lane()) -> non_neg_integer().
bytes(#lane{bytes = Bytes}) -> Bytes.

%% @doc The arrival time of the message that has waited longest.
-spec since(lane()) -> integer() | undefined.
since(Lane) ->
    case out(Lane) of
        {{_, _, Since, _}, _} -> Since;
        empty -> undefined
    end.

%% @doc Whether a limit is reached.
-spec is_full(lane()) -> boolean().
is_full(#lane{limits = #{limit := Limit, limit_bytes := LimitBytes}, length = Length, bytes = Bytes}) ->
    Length >= Limit orelse Bytes >= LimitBytes.

%% @doc Whether the lane is at most half full, by each limit.
-spec is_relieved(lane()) -> boolean().
is_relieved(#lane{limits = #{limit := Limit, limit_bytes := LimitBytes}, length = Length, bytes = Bytes}) ->
    Length =< half(Limit) andalso Bytes =< half(LimitBytes).

half(infinity) -> infinity;
half(Limit) -> Limit div 2.
