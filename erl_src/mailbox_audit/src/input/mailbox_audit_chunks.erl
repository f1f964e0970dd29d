%% @doc The chunks of a compiled module. `beam_lib' reads those of its own release and older ones, and no newer ones: OTP 28 writes
%% atoms in another way. What the audit wants of a module all releases since OTP 20 write alike.
-module(mailbox_audit_chunks).

-export([read/1, unpacked/3, term/1, most_bytes/0, module/1, digest/1, compiler/1, options/1, has_options/1, source/1]).
-export_type([chunks/0]).

-type chunks() :: #{binary() => binary()}.
%% By their names of four characters.

%% What the code is, whatever is said about it: neither lines nor paths.
-define(CODE, [<<"Atom">>, <<"AtU8">>, <<"Code">>, <<"StrT">>, <<"ImpT">>, <<"ExpT">>, <<"FunT">>, <<"LitT">>]).

%% Bytes that a module, or one of its terms, has at most once it is unpacked.
-define(MOST_BYTES, 134_217_728).
%% The options that a compiler was given are some kilobytes, with the folders of hundreds of applications some ten.
-define(MOST_INFO_BYTES, 1_048_576).
-define(FEW_ATOMS, 1000).

%% @doc The chunks of the bytes of a `.beam' file, also of one that is compressed.
-spec read(binary()) -> {ok, chunks()} | error | too_long_unpacked.
read(<<31, 139, _/bits>> = Compressed) ->
    case unpacked(Compressed, 31, ?MOST_BYTES) of
        {ok, Beam} -> of_form(Beam);
        Why -> Why
    end;
read(Beam) -> of_form(Beam).

%% @doc The bytes that a module, or one of its terms, has at most once it is unpacked.
-spec most_bytes() -> pos_integer().
most_bytes() -> ?MOST_BYTES.

%% @doc As zlib:gunzip/1 (31), zlib:uncompress/1 (15) or zlib:unzip/1 (-15), but no more than that much.
-spec unpacked(binary(), WindowBits :: 31 | 15 | -15, Most :: non_neg_integer()) -> {ok, binary()} | error | too_long_unpacked.
unpacked(Compressed, WindowBits, Most) ->
    Stream = zlib:open(),
    try
        ok = zlib:inflateInit(Stream, WindowBits, reset),
        unpacked(Stream, zlib:safeInflate(Stream, Compressed), Most, [])
    catch error:_ -> error
    after zlib:close(Stream)
    end.

unpacked(Stream, {More, Part}, Most, Parts) ->
    case {Most - iolist_size(Part), More} of
        {Left, _} when Left < 0 -> too_long_unpacked;
        {_, finished} ->
            ok = zlib:inflateEnd(Stream),
            {ok, iolist_to_binary(lists:reverse(Parts, [Part]))};
        {Left, continue} -> unpacked(Stream, zlib:safeInflate(Stream, []), Left, [Part | Parts])
    end.

%% @doc A term of a chunk, unless it is too large, or has more new atoms than this node has room for.
-spec term(binary()) -> {ok, term()} | error | too_long_unpacked | too_many_atoms.
term(Chunk) -> term(Chunk, ?MOST_BYTES).

term(<<131, 80, Size:32, _/bits>>, Most) when Size > Most -> too_long_unpacked;
term(<<131, 80, _:32, Compressed/binary>>, Most) ->
    case unpacked(Compressed, 15, Most) of
        {ok, Term} -> decoded(Term, mailbox_audit_atoms:new(Term));
        Why -> Why
    end;
term(<<131, Term/binary>>, _Most) -> decoded(Term, mailbox_audit_atoms:new(Term));
term(_, _Most) -> error.

%% Several are judged at a time. So that they do not take the same room, those with many atoms are decoded one by one.
decoded(Term, {ok, New}) when New =< ?FEW_ATOMS -> if_room(Term, New);
decoded(Term, {ok, New}) -> global:trans({?MODULE, self()}, fun() -> if_room(Term, New) end, [node()]);
decoded(_, Why) -> Why.

if_room(Term, New) ->
    case mailbox_audit_atoms:have_room(New) of
        true ->
            try {ok, binary_to_term(<<131, Term/binary>>)}
            catch error:_ -> error
            end;
        false -> too_many_atoms
    end.

of_form(<<"FOR1", Size:32, Form:Size/binary, _/bits>>) -> of_beam(Form);
of_form(_) -> error.

of_beam(<<"BEAM", Chunks/binary>>) -> chunks(Chunks, #{});
of_beam(_) -> error.

chunks(<<Name:4/binary, Size:32, Chunk:Size/binary, Rest/binary>>, Found) ->
    chunks(binary:part(Rest, min(padding(Size), byte_size(Rest)), max(0, byte_size(Rest) - padding(Size))), Found#{Name => Chunk});
chunks(<<>>, Found) when map_size(Found) > 0 -> {ok, Found};
chunks(_, _) -> error.

padding(Size) -> (4 - Size rem 4) rem 4.

%% @doc The module's name, which is its first atom. It may be a new one, for which this node has no room.
-spec module(chunks()) -> {ok, module()} | error | too_many_atoms.
module(#{<<"AtU8">> := Atoms}) -> first_atom(Atoms, utf8);
module(#{<<"Atom">> := Atoms}) -> first_atom(Atoms, latin1);
module(#{}) -> error.

first_atom(Atoms, Encoding) ->
    try first(Atoms) of
        Name -> existing_or_new(Name, Encoding)
    catch error:_ -> error
    end.

existing_or_new(Name, Encoding) ->
    try {ok, binary_to_existing_atom(Name, Encoding)}
    catch error:_ -> new(mailbox_audit_atoms:have_room(1), Name, Encoding)
    end.

new(true, Name, Encoding) ->
    try {ok, binary_to_atom(Name, Encoding)}
    catch error:_ -> error % these bytes name none
    end;
new(false, _, _) -> too_many_atoms.

%% From OTP 28 on their number is negative, and their lengths are those of the compact terms of code.
first(<<Count:32/signed, Length:8, Name:Length/binary, _/bits>>) when Count > 0 -> Name;
first(<<Count:32/signed, Length:4, 0:4, Name:Length/binary, _/bits>>) when Count < 0 -> Name;
first(<<Count:32/signed, High:3, 1:2, 0:3, Low:8, Rest/binary>>) when Count < 0 -> binary:part(Rest, 0, High * 256 + Low).

%% @doc The same for the same code.
-spec digest(chunks()) -> binary().
digest(Chunks) -> erlang:md5([[Name, Chunk] || Name <- ?CODE, #{Name := Chunk} <- [Chunks]]).

%% @doc The version of the application `compiler' that made it.
-spec compiler(chunks()) -> string() | unknown.
compiler(Chunks) ->
    Version = property(version, Chunks, unknown),
    case io_lib:latin1_char_list(Version) andalso re:run(Version, "^[0-9]+(\\.[0-9]+)*$", [{capture, none}]) of
        match -> Version;
        _ -> unknown
    end.

%% @doc The options that it was compiled with; none where it does not say.
-spec options(chunks()) -> {ok, [compile:option()]} | error.
options(Chunks) ->
    Options = property(options, Chunks, []),
    try length(Options) of
        _ -> {ok, Options}
    catch error:badarg -> error
    end.

%% @doc Whether it says what options it was compiled with; with `deterministic' it does not.
-spec has_options(chunks()) -> boolean().
has_options(Chunks) -> property(options, Chunks, none) =/= none.

%% @doc The whole path of the source that it was compiled from; with `deterministic' it does not say.
-spec source(chunks()) -> {ok, file:filename()} | unknown.
source(Chunks) ->
    Source = property(source, Chunks, unknown),
    case io_lib:printable_unicode_list(Source) andalso filename:pathtype(Source) of
        absolute -> {ok, Source};
        _ -> unknown
    end.

%% A byte of a term may take sixteen times as much once it is decoded.
property(Key, #{<<"CInf">> := Info}, Default) ->
    try
        true = byte_size(Info) =< ?MOST_INFO_BYTES,
        {ok, Properties} = term(Info, ?MOST_INFO_BYTES),
        proplists:get_value(Key, Properties, Default)
    catch error:_ -> damaged
    end;
property(_Key, #{}, Default) -> Default.
