%% @doc Counts of the messages of a buffer.
-module(batch_io_info).

-export([of_buffer/1]).
-export_type([info/0]).

%% total: messages accepted or dropped, that is sent + dropped + held.
%% sent: messages that the device has confirmed.
%% dropped: messages dropped without room, by an error of the device, or with a killed process.
%% held: messages that wait or are in flight. in_flight: messages given to the device and not yet
%% confirmed. bytes: size of the held messages. oldest_ms: the longest that one of them has waited.
%% errors: errors of the device, each for one page.
%% The counts are exact while no message moves.
-type info() :: #{total := integer(), sent := integer(), dropped := integer(), held := integer(),
                  in_flight := integer(), bytes := integer(), oldest_ms := non_neg_integer(),
                  errors := non_neg_integer()}.

%% @doc The counts as they are now.
-spec of_buffer(batch_io_buffer:buffer()) -> info().
of_buffer(Buffer) ->
    {Held, Bytes} = batch_io_buffer:held(Buffer),
    Sent = batch_io_buffer:get(sent, Buffer),
    Dropped = batch_io_buffer:get(dropped, Buffer),
    #{total => Sent + Dropped + Held, sent => Sent, dropped => Dropped, held => Held, bytes => Bytes,
      in_flight => batch_io_buffer:get(in_flight, Buffer), errors => batch_io_buffer:get(errors, Buffer),
      oldest_ms => oldest_ms(Held, Buffer)}.

oldest_ms(0, _Buffer) -> 0;
oldest_ms(_, Buffer) ->
    Since = case batch_io_buffer:get(oldest, Buffer) of
                0 -> batch_io_buffer:get(since, Buffer);
                Taken -> Taken
            end,
    max(0, erlang:convert_time_unit(erlang:monotonic_time() - Since, native, millisecond)).
