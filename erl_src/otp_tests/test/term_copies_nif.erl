%% The stubs of nif/term_copies_nif.c.
-module(term_copies_nif).

-export([copy/1, copy_dirty/1, send/2, send_dirty/2, send_away/2, send_away_dirty/2]).
-on_load(load/0).
-nifs([copy/1, copy_dirty/1, send/2, send_dirty/2, send_away/2, send_away_dirty/2]).

load() -> erlang:load_nif(filename:join(code:priv_dir(otp_tests), ?MODULE), 0).

-spec copy(Term) -> Term when Term :: term().
copy(_Term) -> erlang:nif_error(not_loaded).

-spec copy_dirty(Term) -> Term when Term :: term().
copy_dirty(_Term) -> erlang:nif_error(not_loaded).

-spec send(pid(), term()) -> boolean().
send(_To, _Term) -> erlang:nif_error(not_loaded).

-spec send_dirty(pid(), term()) -> boolean().
send_dirty(_To, _Term) -> erlang:nif_error(not_loaded).

-spec send_away(pid(), term()) -> boolean().
send_away(_To, _Term) -> erlang:nif_error(not_loaded).

-spec send_away_dirty(pid(), term()) -> boolean().
send_away_dirty(_To, _Term) -> erlang:nif_error(not_loaded).
