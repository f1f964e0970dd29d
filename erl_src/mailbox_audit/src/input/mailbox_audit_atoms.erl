%% @doc The atoms that a term in the external format would make. Nothing ever frees an atom, and a node without room for another one
%% ends.
-module(mailbox_audit_atoms).

-export([new/1, have_room/1]).

%% This share of all atoms that a node can have stays free, however many modules are judged: half of what is left, module after module,
%% would come near to all of it.
-define(RESERVE, 16).

%% @doc How many atoms that do not exist yet are in a term: the bytes of the external format behind the first one, not compressed. The
%% count ends once there is no room for them.
-spec new(binary()) -> {ok, non_neg_integer()} | error | too_many_atoms.
new(Term) -> walked(Term, 1, {#{}, room()}).

%% @doc Whether so many more leave half of what room this node has to others.
-spec have_room(non_neg_integer()) -> boolean().
have_room(0) -> true;
have_room(New) -> New =< room().

room() ->
    Limit = erlang:system_info(atom_limit),
    max(0, Limit - Limit div ?RESERVE - erlang:system_info(atom_count)) div 2.

%% Left: the terms that are still to come. New: the names of the atoms, and how many there may be.
walked(_, _, full) -> too_many_atoms;
walked(_, 0, {New, _}) -> {ok, map_size(New)};
walked(<<119, Size, Name:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, with(Name, utf8, New));
walked(<<97, _, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<98, _:32, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<104, Size, Rest/binary>>, Left, New) -> walked(Rest, Left - 1 + Size, New);
walked(<<106, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<107, Size:16, _:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<108, Size:32, Rest/binary>>, Left, New) -> walked(Rest, Left + Size, New);
walked(<<109, Size:32, _:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<116, Size:32, Rest/binary>>, Left, New) -> walked(Rest, Left - 1 + 2 * Size, New);
walked(<<105, Size:32, Rest/binary>>, Left, New) -> walked(Rest, Left - 1 + Size, New);
walked(<<110, Size, _, _:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<111, Size:32, _, _:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<70, _:8/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<99, _:31/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<77, Size:32, _, _:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, New);
walked(<<113, Rest/binary>>, Left, New) -> walked(Rest, Left + 2, New);
walked(<<118, Size:16, Name:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, with(Name, utf8, New));
walked(<<115, Size, Name:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, with(Name, latin1, New));
walked(<<100, Size:16, Name:Size/binary, Rest/binary>>, Left, New) -> walked(Rest, Left - 1, with(Name, latin1, New));
%% No compiler puts pids, ports, references or local funs there.
walked(_, _, _) -> error.

%% The same bytes are two atoms in two encodings, so the key is the name in one of them.
with(Name, latin1, New) -> with(unicode:characters_to_binary(Name, latin1), utf8, New);
with(Name, utf8, {New, _} = Counted) when is_map_key(Name, New) -> Counted;
with(Name, utf8, {New, Room} = Counted) ->
    try binary_to_existing_atom(Name, utf8) of
        _ -> Counted
    catch
        error:_ when map_size(New) < Room -> {New#{Name => []}, Room};
        error:_ -> full
    end.
