%% @doc The atoms that a term in the external format would make. Nothing ever frees an atom, and a node without room for another one
%% ends.
-module(mailbox_audit_atoms).

-export([new/1, have_room/1]).

%% @doc How many atoms that do not exist yet are in a term: the bytes of the external format behind the first one, not compressed.
-spec new(binary()) -> {ok, non_neg_integer()} | error.
new(Term) -> walked(Term, 1, #{}).

%% @doc Whether so many more leave half of what room this node has to others.
-spec have_room(non_neg_integer()) -> boolean().
have_room(New) -> 2 * New =< erlang:system_info(atom_limit) - erlang:system_info(atom_count).

%% Left: the terms that are still to come.
walked(_, 0, New) -> {ok, map_size(New)};
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

with(Name, _, New) when is_map_key(Name, New) -> New;
with(Name, Encoding, New) ->
    try binary_to_existing_atom(Name, Encoding) of
        _ -> New
    catch error:_ -> New#{Name => []}
    end.
