%% @doc The stubs of nif/cons_spacing_nif.c. Use the module cons_spacing instead.
-module(cons_spacing_nif).

-export([walk/2, addresses/1]).
-export_type([walked/0, distances/0]).
-on_load(load/0).
-nifs([walk/2, addresses/1]).

%% Cells, lists, words, cache lines, pages, distances, how the last list ends, and its last cell.
-type walked() :: {Cells :: non_neg_integer(), Lists :: non_neg_integer(),
                   Words :: non_neg_integer(), CacheLines :: non_neg_integer(),
                   Pages :: non_neg_integer(), distances(), proper | improper,
                   LastCell :: maybe_improper_list()}.
-type distances() :: {Links :: non_neg_integer(), Mean :: float(), Deviation :: float(),
                      Min :: integer(), Max :: integer(), Forward :: non_neg_integer(),
                      Backward :: non_neg_integer(), Adjacent :: non_neg_integer(),
                      Histogram :: [{pos_integer(), pos_integer()}]}.

load() ->
    case erlang:load_nif(filename:join(priv_dir(), "cons_spacing_nif"), 0) of
        ok -> ok;
        {error, {load, Text}} -> {error, {load, Text ++ " " ++ reason(Text)}};
        {error, _} = Error -> Error
    end.

%% If the application is only on the code path, the code server may not know its name.
priv_dir() ->
    case code:priv_dir(cons_spacing) of
        {error, bad_name} ->
            filename:join(filename:dirname(filename:dirname(code:which(?MODULE))), "priv");
        Dir -> Dir
    end.

%% The NIF's load callback can only return a number, which is the last word of the text.
reason(Text) ->
    Known = #{"1" => "list cells", "2" => "the empty list", "3" => "tuples",
              "4" => "small maps", "5" => "large maps"},
    Number = string:trim(lists:last(string:lexemes(Text, " ")), both, "().:-"),
    case Known of
        #{Number := What} ->
            "The layout of " ++ What ++ " in this VM differs from the layout that the NIF knows.";
        _ -> ""
    end.

-spec walk(term(), Deep :: boolean()) -> walked().
walk(_Term, _Deep) -> erlang:nif_error(not_loaded).

%% The address of each cell of a list, the last one first. A collection during the walk moves the
%% cells seen before it.
-spec addresses(maybe_improper_list()) -> [non_neg_integer()].
addresses(_List) -> erlang:nif_error(not_loaded).
