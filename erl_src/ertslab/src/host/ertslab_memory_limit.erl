%% @doc Refuses work that needs more memory than the machine has.
-module(ertslab_memory_limit).

-export([judge/2, to_read/3, available/0, format_error/1]).
-export_type([reason/0]).

-type reason() :: {too_large, What :: unicode:chardata(), Bytes :: number(), Available :: non_neg_integer()}
                | {too_large_to_read, file:filename(), Bytes :: number(), Available :: non_neg_integer()}.

%% @doc Fails if the named thing needs more bytes than are available. `null': the available bytes are unknown.
-spec judge({unicode:chardata(), non_neg_integer()}, non_neg_integer() | null) -> ok.
judge({What, Bytes}, Available) when is_integer(Available), Bytes > Available ->
    ertslab_error:usage(?MODULE, {too_large, What, Bytes, Available});
judge(_, _) -> ok.

%% @doc Fails if reading a file needs more bytes than are available.
-spec to_read(file:filename(), number(), non_neg_integer() | null) -> ok.
to_read(File, Bytes, Available) when is_integer(Available), Bytes > Available ->
    ertslab_error:failure(?MODULE, {too_large_to_read, File, Bytes, Available});
to_read(_, _, _) -> ok.

-spec format_error(reason()) -> unicode:chardata().
format_error({too_large, What, Bytes, Available}) ->
    io_lib:format("~ts: this needs about ~ts of memory, and ~ts are available; choose less",
                  [What, gibibytes(Bytes), gibibytes(Available)]);
format_error({too_large_to_read, File, Bytes, Available}) ->
    io_lib:format("~ts: reading it needs about ~ts of memory, and ~ts are available; end other programs,"
                  " or read it on a machine with more.", [File, gibibytes(Bytes), gibibytes(Available)]).

%% @doc The bytes that the kernel could give to a program now.
-spec available() -> non_neg_integer() | null.
available() ->
    case ertslab_readings:kib(ertslab_readings:field(<<"/proc/meminfo">>, <<"MemAvailable">>)) of
        null -> null;
        Kib -> Kib * 1024
    end.

gibibytes(Bytes) -> io_lib:format("~.1f GiB", [Bytes / (1 bsl 30)]).
