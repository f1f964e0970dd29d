%% @doc `ertslab diagnose --watch --log FILE': looks at a node for days, and keeps a small record of each look. A node that is gone is
%% waited for, and looked at again when it is back.
-module(ertslab_diagnose_log).

-export([watch/3, format_error/1]).
-export_type([reason/0]).

-type reason() :: {node, diagnose:reason()}.

-define(EVERY_MS, 60_000).
-define(DAY_MS, 86_400_000).
%% Between attempts to reach a node that is gone.
-define(AGAIN_MS, 5_000).

%% @doc Looks until it is interrupted, or has made that many looks. If already the first look fails, that is a failure.
-spec watch(file:filename(), diagnose:options(), #{every => pos_integer(), looks => pos_integer(), _ => _}) -> ok.
watch(File, #{node := Node} = Asked, Options) ->
    Watch = #{asked => Asked, every => maps:get(every, Options, ?EVERY_MS), most => maps:get(looks, Options, unbounded),
              made => counters:new(1, [])},
    Open = fun() -> ertslab_watch_log:open(File, #{node => atom_to_binary(Node)}) end,
    ertslab_folder_lock:on(File, fun() ->
                                         Log = Open(),
                                         io:format(standard_error, "The looks go to ~ts; this draws them: ~ts report ~ts~n",
                                                   [File, ertslab_paths:program(), ertslab_text:shell_word(File)]),
                                         looks(Watch, Open, Log, 0)
                                 end).

%% `Before': how many looks were made when the node was gone last.
looks(#{asked := Asked, made := Made} = Watch, Open, Log, Before) ->
    Each = fun(Report, State) -> looked(Watch, Report, State) end,
    case diagnose:watch(Asked, Each, {Log, erlang:monotonic_time(millisecond)}) of
        {ok, _} -> ok;
        {error, Reason} ->
            case counters:get(Made, 1) of
                0 -> ertslab_error:failure(?MODULE, {node, Reason});
                Before -> looks(Watch, Open, awaited(Watch, Open), Before);
                Now ->
                    Said = ertslab_text:binary(diagnose:format_error(Reason)),
                    _ = ertslab_watch_log:append(Open(), #{at => erlang:system_time(second), gone => Said}),
                    looks(Watch, Open, awaited(Watch, Open), Now)
            end
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({node, Why}) -> [diagnose:format_error(Why), "."].

%% Looks begin at even intervals, unless one takes longer.
looked(#{every := Every, most := Most, made := Made}, Report, {Log, Due}) ->
    Kept = ertslab_watch_log:append(Log, ertslab_diagnose_watch:record(erlang:system_time(second), Report)),
    ok = counters:add(Made, 1, 1),
    Now = erlang:monotonic_time(millisecond),
    Next = max(Due + Every, Now),
    case counters:get(Made, 1) of
        Most -> {done, {Kept, Next}};
        _ ->
            ok = slept(Next - Now),
            {again, {Kept, Next}}
    end.

%% A time-out cannot be as long as 50 days.
slept(Ms) when Ms > ?DAY_MS ->
    timer:sleep(?DAY_MS),
    slept(Ms - ?DAY_MS);
slept(Ms) -> timer:sleep(Ms).

awaited(#{asked := #{node := Node}} = Watch, Open) ->
    timer:sleep(?AGAIN_MS),
    case net_kernel:connect_node(Node) of
        true -> Open();
        false -> awaited(Watch, Open)
    end.
