%% @doc Presents a look at a node as one line, so that successive lines show the development: in a terminal, or in a log. Pure.
-module(ertslab_diagnose_watch).

-export([row/1, heading/0, line/3, record/2]).
-export_type([row/0]).

%% `process' and `messages' are of the deepest mailbox; `growth' is its growth in messages per second. `share' is that
%% of collections, 0 to 1.
-type row() :: #{process := iodata(), messages := non_neg_integer(), growth := integer(), share := float() | unknown,
                 findings := non_neg_integer()}.

-define(BAR, 20).
%% A name may be an atom of 255 characters.
-define(LONGEST_NAME, 80).

%% @doc The line's contents from a report.
-spec row(diagnose:report()) -> row().
row(#{look := #{suspects := Suspects, collections := Collections}, findings := Findings}) ->
    Depths = [{Depth, #{process => maps:with([pid, name], S)}, case Growth of unknown -> 0; _ -> round(Growth) end}
              || #{depth := Depth, growth := Growth} = S <- Suspects, is_integer(Depth)],
    {Messages, Process, Growth} = lists:max([{0, none, 0} | Depths]),
    #{process => case Process of none -> "-"; _ -> diagnose_wording:subject(Process) end, messages => Messages, growth => Growth,
      share => case Collections of #{share := Share} -> Share; unknown -> unknown end, findings => diagnose_findings:count(Findings)}.

%% @doc The record of a look for a log, made at that time in seconds.
-spec record(integer(), diagnose:report()) -> ertslab_watch_log:record().
record(At, #{look := #{processes := Processes, collections := Collections, memory := Memory, counts := Counts},
             findings := Findings} = Report) ->
    #{process := Process, messages := Deepest} = row(Report),
    #{at => At, deepest => Deepest, process => ertslab_text:binary(string:slice(Process, 0, ?LONGEST_NAME)),
      messages => known(messages, Processes), collections => known(share, Collections), busy => known(busy, Collections),
      memory => known(total, Memory), processes => counted(Counts),
      findings => lists:usort([atom_to_binary(Kind) || #{signs := Signs} <- Findings, #{kind := Kind} <- Signs])}.

known(Name, #{} = Values) -> maps:get(Name, Values, null);
known(_, unknown) -> null.

counted([]) -> null;
counted(Counts) ->
    case lists:last(Counts) of
        {_, #{processes := {Count, _}}} -> Count;
        _ -> null
    end.

%% @doc The names of the columns.
-spec heading() -> iodata().
heading() -> columns(["time", "messages", "", "a second", "collections", "", "findings", "deepest mailbox"]).

columns([Time, Messages, Depth, Growth, Share, Collections, Findings, Process]) ->
    [string:trim(io_lib:format("~-10ts~12ts ~-20ts~12ts~13ts ~-20ts~9ts  ~ts",
                               [Time, Messages, Depth, Growth, Share, Collections, Findings, Process]), trailing), $\n].

%% @doc The line as text. The bar of the depth is full at `Most' messages.
-spec line(calendar:datetime(), row(), Most :: pos_integer()) -> iodata().
line({_, {H, M, S}}, #{process := Process, messages := Messages, growth := Growth, share := Share, findings := Findings}, Most) ->
    columns([io_lib:format("~2..0b:~2..0b:~2..0b", [H, M, S]), diagnose_wording:count(Messages), bar(Messages / Most),
             [[$+ || Growth > 0], diagnose_wording:count(Growth)], share(Share), [bar(Share) || Share =/= unknown],
             integer_to_list(Findings), Process]).

share(unknown) -> "unknown";
share(Share) -> io_lib:format("~.1f %", [100 * Share]).

bar(Share) -> lists:duplicate(min(?BAR, ceil(?BAR * Share)), $#).
