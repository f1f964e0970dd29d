%% @doc The audit of a project that is built, as the commands of rebar3 and mix have it: a report, a baseline, SARIF.
-module(mailbox_audit_project).

-export([audit/3, format_error/1]).
-export_type([options/0, reason/0]).

-type options() :: #{baseline => file:name_all(), write_baseline => file:name_all(), sarif => file:name_all(), _ => _}.
-type reason() :: {audit, mailbox_audit_target:reason()} | {baseline, mailbox_audit_baseline:reason()} |
                  {sarif, file:name_all(), file:posix() | badarg | terminated | system_limit} | {new, pos_integer()}.

%% @doc Judges the receives of folders of modules, of which those without any have nothing to say, and has the report told. With
%% a baseline it is an error that there are others (`new').
-spec audit([file:name_all()], options(), fun((unicode:chardata()) -> _)) -> ok | {error, reason()}.
audit(Dirs, Options, Tell) ->
    case mailbox_audit_static:static([Dir || Dir <- Dirs, filelib:wildcard(filename:join(Dir, "*.beam")) =/= []], #{}) of
        {ok, Report} -> told(Report, Options, Tell);
        {error, Reason} -> {error, {audit, Reason}}
    end.

told(Report, Options, Tell) ->
    case mailbox_audit_baseline:check(Report, Options) of
        {ok, Known, Shown} ->
            _ = Tell(mailbox_audit_text:report(Shown)),
            passed(written(Report, Known, Options), Known, Shown);
        {error, Reason} -> {error, {baseline, Reason}}
    end.

written(Report, Known, #{sarif := File}) ->
    case file:write_file(File, mailbox_audit_sarif:report(Report, Known, ".")) of
        ok -> ok;
        {error, Reason} -> {error, {sarif, File, Reason}}
    end;
written(_Report, _Known, #{}) -> ok.

passed({error, Reason}, _Known, _Shown) -> {error, Reason};
passed(ok, none, _Shown) -> ok;
passed(ok, _Known, #{findings := []}) -> ok;
passed(ok, _Known, #{findings := New}) -> {error, {new, length(New)}}.

%% @doc An error as one sentence.
-spec format_error(reason()) -> iolist().
format_error({audit, Reason}) -> mailbox_audit_text:error(Reason);
format_error({baseline, Reason}) -> mailbox_audit_baseline:format_error(Reason);
format_error({sarif, File, Reason}) -> io_lib:format("cannot write ~ts: ~ts", [File, file:format_error(Reason)]);
format_error({new, Count}) -> io_lib:format("~b receives scan that the baseline does not know", [Count]).
