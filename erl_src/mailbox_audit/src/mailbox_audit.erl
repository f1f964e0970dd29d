%% @doc Finds what looks through a whole mailbox: the receives of compiled
%% modules, by what the compiler says of them, and calls, by how long they take
%% with messages waiting.
%%
%% A receive that waits for a reply without a reference that was made just
%% before looks at every message that waits, each time. In a process with a
%% million of them that takes milliseconds in place of a microsecond.
-module(mailbox_audit).

-export([static/1, static/2, module/1, module/2, timed/2, format_error/1]).
-export([init/1]).
-export_type([finding/0, report/0, skipped/0, timed_reason/0]).

%% What each of them means is said in {@link mailbox_audit_static}.
-type finding() :: mailbox_audit_static:finding().
-type report() :: mailbox_audit_static:report().
-type skipped() :: mailbox_audit_static:skipped().
-type timed_reason() :: {bad_calls, term()} | {not_in_catalogue, [string()]} | mailbox_audit_timed:problem().

%% @equiv static(Targets, #{})
-spec static([mailbox_audit_target:target()]) -> {ok, report()} | {error, mailbox_audit_static:reason()}.
static(Targets) -> static(Targets, #{}).

%% @doc Every receive of the targets with its verdict, first those that scan,
%% and of these first what most exported functions reach. `progress' is told
%% how many modules are done, and of how many. Modules that cannot be judged
%% are in `skipped', also those that take longer than `limit_ms', a minute by
%% default, or 2 GiB of memory each. Sources that differ
%% from their modules are in `outdated', and in `perhaps_outdated' if
%% they cannot be compared with them.
-spec static([mailbox_audit_target:target()], mailbox_audit_static:options()) ->
          {ok, report()} | {error, mailbox_audit_static:reason()}.
static(Targets, Options) -> mailbox_audit_static:static(Targets, Options).

%% @equiv module(Beam, #{})
-spec module(Beam :: binary()) -> {ok, [mailbox_audit_static:of_module()]} | {error, mailbox_audit_beam:why()}.
module(Beam) -> module(Beam, #{}).

%% @doc Every receive of one module, given as the bytes of its `.beam' file: function, file, line, verdict, and whether
%% the function loops, so that it may find each message at once. For a caller that has a process's stack. With `search' false the code
%% path of this node stays as it is: what reads Elixir's debug_info is then looked for on it alone. The module is judged in a process of
%% its own with the limits of static/2. With `in_caller' true it is judged in the caller, without limits: for a process that is there for
%% this alone, and has a limit itself.
-spec module(Beam :: binary(), mailbox_audit_static:of_module_options()) ->
          {ok, [mailbox_audit_static:of_module()]} | {error, mailbox_audit_beam:why() | mailbox_audit_options:problem()}.
module(Beam, Options) -> mailbox_audit_static:module(Beam, Options).

%% @doc Times calls with 0, 10 thousand and 100 thousand messages waiting: those
%% given, or those of the catalogue whose names hold one of the texts (no text:
%% all of it). The option `depths' is a list of other numbers of messages, at
%% least two that differ.
-spec timed({calls, [mailbox_audit_call:call()]} | {catalogue, [string()]}, mailbox_audit_timed:options()) ->
          {ok, [mailbox_audit_timed:result()]} | {error, timed_reason()}.
timed(Asked, Options) ->
    case {mailbox_audit_timed:problem(Options), entries(Asked)} of
        {none, {ok, Entries}} -> {ok, mailbox_audit_timed:run(Entries, Options)};
        {none, Error} -> Error;
        {Problem, _} -> {error, Problem}
    end.

entries(Asked) ->
    case is_asked(Asked) of
        true -> entries_of(Asked);
        false -> {error, {bad_calls, Asked}}
    end.

is_asked({calls, Calls}) when length(Calls) >= 0 -> lists:all(fun mailbox_audit_call:is_call/1, Calls); % not an improper list
is_asked({catalogue, Texts}) when length(Texts) >= 0 -> lists:all(fun is_text/1, Texts);
is_asked(_) -> false.

is_text(Text) ->
    try is_list(unicode:characters_to_list(Text))
    catch error:badarg -> false
    end.

entries_of({calls, Calls}) -> {ok, [mailbox_audit_call:entry(Call) || Call <- Calls]};
entries_of({catalogue, Texts}) ->
    case [Entry || #{name := Name} = Entry <- mailbox_audit_catalogue:entries(), holds_one(Name, Texts)] of
        [] -> {error, {not_in_catalogue, Texts}};
        Entries -> {ok, Entries}
    end.

holds_one(_Name, []) -> true;
holds_one(Name, Texts) -> lists:any(fun(Text) -> string:find(Name, Text) =/= nomatch end, Texts).

%% @doc Where rebar3 begins with a plugin.
-spec init(State) -> {ok, State} when State :: term().
init(State) -> mailbox_audit_prv:init(State).

%% @doc An error as one sentence.
-spec format_error(mailbox_audit_static:reason() | mailbox_audit_beam:why() | timed_reason()) -> string().
format_error(Reason) -> mailbox_audit_text:error(Reason).
