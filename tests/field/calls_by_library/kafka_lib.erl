%% The library: it does not use gen_server:call/2.
-module(kafka_lib).
-export([produce/2]).

produce(Producer, Event) ->
    Ref = monitor(process, Producer),
    Producer ! {produce, self(), Ref, Event},
    receive
        {Ref, Answer} -> Answer;
        {'DOWN', Ref, process, _, Reason} -> {error, Reason}
    end.
