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

%% @doc Looks until it is interrupted, or has made that many looks. If already the first look fails, that is a failure. Nothing stays on
%% the node between two looks, so others can look at it.
-spec watch(file:filename(), diagnose:options(), #{every => pos_integer(), looks => pos_integer(), _ => _}) -> ok.
watch(File, Asked, Options) ->
    Watch = #{asked => Asked, file => File, every => maps:get(every, Options, ?EVERY_MS), most => maps:get(looks, Options, unbounded)},
    ertslab_folder_lock:on(File, fun() ->
                                         Log = opened(Watch),
                                         io:format(standard_error, "The looks go to ~ts; this draws them: ~ts report ~ts~n",
                                                   [File, ertslab_paths:program(), ertslab_text:shell_word(File)]),
                                         looks(Watch, Log, #{made => 0, gone => 0, due => erlang:monotonic_time(millisecond)})
                                 end).

opened(#{file := File, asked := #{node := Node}}) -> ertslab_watch_log:open(File, #{node => atom_to_binary(Node)}).

%% `gone': how many looks were made when the node was gone last.
looks(#{asked := Asked} = Watch, Log, #{made := Made, gone := Gone} = State) ->
    case diagnose:node(Asked) of
        {ok, Report} -> looked(Watch, Report, Log, State#{made := Made + 1});
        {error, Reason} when Made =:= 0 -> ertslab_error:failure(?MODULE, {node, Reason});
        {error, busy} ->
            timer:sleep(?AGAIN_MS),
            looks(Watch, Log, State);
        {error, _} when Gone =:= Made -> looks(Watch, awaited(Watch), State);
        {error, Reason} -> gone(Watch, Reason, State)
    end.

gone(Watch, Reason, #{made := Made} = State) ->
    Said = ertslab_text:binary(diagnose:format_error(Reason)),
    _ = ertslab_watch_log:append(opened(Watch), #{at => erlang:system_time(second), gone => Said}),
    looks(Watch, awaited(Watch), State#{gone := Made}).

-spec format_error(reason()) -> unicode:chardata().
format_error({node, Why}) -> [diagnose:format_error(Why), "."].

%% Looks begin at even intervals, unless one takes longer.
looked(#{asked := #{node := Node}, every := Every, most := Most} = Watch, Report, Log, #{made := Made, due := Due} = State) ->
    Kept = ertslab_watch_log:append(Log, ertslab_diagnose_watch:record(erlang:system_time(second), Report)),
    Now = erlang:monotonic_time(millisecond),
    Next = max(Due + Every, Now),
    case Made of
        Most -> ok;
        _ ->
            case is_up(Node, Next - Now) of
                true -> looks(Watch, Kept, State#{due := Next});
                false -> gone(Watch, nodedown, State#{due := Next})
            end
    end.

%% Whether the node stays up for so long. One that restarts meanwhile was gone, too. This node is always up.
is_up(Node, Ms) ->
    true = monitor_node(Node, true),
    Up = stays_up(Node, Ms),
    true = monitor_node(Node, false),
    receive {nodedown, Node} -> false after 0 -> Up end.

%% A time-out cannot be as long as 50 days.
stays_up(Node, Ms) ->
    receive {nodedown, Node} -> false
    after min(Ms, ?DAY_MS) -> Ms =< ?DAY_MS orelse stays_up(Node, Ms - ?DAY_MS)
    end.

awaited(#{asked := #{node := Node}} = Watch) ->
    timer:sleep(?AGAIN_MS),
    case net_kernel:connect_node(Node) of
        true -> opened(Watch);
        false -> awaited(Watch)
    end.
