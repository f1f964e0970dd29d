%% @doc The audit of a project that is built, as the commands of rebar3 and mix have it: a report, a baseline, SARIF.
-module(mailbox_audit_project).

-export([audit/3, built/1, format_error/1]).
-export_type([options/0, reason/0]).

-type options() :: #{baseline => file:name_all(), write_baseline => file:name_all(), sarif => file:name_all(), _ => _}.
-type reason() :: not_both | {baseline, mailbox_audit_baseline:reason()} |
                  {sarif, file:name_all(), file:posix() | badarg | terminated | system_limit} |
                  mailbox_audit_baseline:failure().

%% @doc Judges the receives of folders of modules, of which those without any have nothing to say, and has the report told. It is an
%% error where nothing was judged, and with a baseline where there are others than it knows, or only a part was judged, as where a
%% folder is missing. A baseline that cannot be used is an error too, after the whole report is told and its SARIF written. Of several
%% errors this is the first; the report has all. What is written is no baseline to be judged by: both together are refused.
-spec audit([file:name_all()], options(), fun((unicode:chardata()) -> _)) -> ok | {error, reason()}.
audit(_Dirs, #{baseline := _, write_baseline := _}, _Tell) -> {error, not_both};
audit(Dirs, Options, Tell) ->
    {ok, Report} = mailbox_audit_static:static(lists:append([mailbox_audit_target:in_folder(Dir) || Dir <- Dirs]), #{}),
    told(Report, Options, Tell).

%% @doc Of the folders `APPLICATION/ebin' of dependencies those where something is: of a dependency that is only fetched there is nothing.
-spec built([file:name_all()]) -> [file:name_all()].
built(Dirs) ->
    [Dir || Dir <- Dirs, [Ebin, Application | Above] <- [lists:reverse(filename:split(unicode:characters_to_list(Dir)))],
            mailbox_audit_files:below(filename:join(lists:reverse(Above)), [Application, Ebin]) =/= []].

told(Report, Options, Tell) ->
    {Unusable, Known, Shown} = known(mailbox_audit_baseline:check(Report, Options), Report),
    _ = Tell(mailbox_audit_text:report(Report, Shown)),
    ended(Unusable ++ written(Report, Known, Options) ++ mailbox_audit_baseline:failed(Known, Shown)).

known({ok, Known, Shown}, _Report) -> {[], Known, Shown};
known({error, Reason}, Report) -> {[{baseline, Reason}], none, Report}.

written(Report, Known, #{sarif := File}) ->
    case file:write_file(File, mailbox_audit_sarif:report(Report, Known, ".")) of
        ok -> [];
        {error, Reason} -> [{sarif, File, Reason}]
    end;
written(_Report, _Known, #{}) -> [].

ended([]) -> ok;
ended([Reason | _]) -> {error, Reason}.

%% @doc An error as one sentence.
-spec format_error(reason()) -> iolist().
format_error(not_both) -> "--baseline or --write-baseline, not both";
format_error({baseline, Reason}) -> mailbox_audit_baseline:format_error(Reason);
format_error({sarif, File, Reason}) -> io_lib:format("cannot write ~ts: ~ts", [File, file:format_error(Reason)]);
format_error(Failure) -> mailbox_audit_baseline:format_error(Failure).
