%% @doc The folder of a call that measures many commits. history.json records the question and the commits that do not
%% build; each reading has a folder of its own.
-module(ertslab_history_folder).

-export([checked/1, prepare/2, recorded/1, unbuildable/1, unbuildable/2, reading/3, readings/2, format_error/1]).
-export_type([reason/0]).

-type reason() :: {another_question, Dir :: file:filename()} | {damaged, file:filename()}.

-define(FILE_NAME, "history.json").
%% The options that determine what is measured.
-define(SHAPING, [experiment, metric, param, pairs, budget, quick, otp, every]).

%% @doc The options with the name of an experiment in place of its file. Wrong options are refused before anything is
%% built.
-spec checked(map()) -> map().
checked(Options) ->
    ok = ertslab_plan:check(Options),
    #{experiment := Name} = Named = ertslab_experiment_source:named(Options),
    #{metrics := Metrics} = Info = ertslab_parameters:info(ertslab_parameters:module(Name)),
    _ = ertslab_revision_reading:metric([atom_to_binary(Metric) || #{name := Metric} <- Metrics], maps:get(metric, Options, undefined)),
    Size = case Options of #{quick := true} -> quick; #{} -> full end,
    Cases = ertslab_parameters:cases(Info, Size, maps:get(param, Options, [])),
    _ = [ertslab_revision_reading:one_case(length(Cases)) || not maps:get(overall, Info, false)],
    ok = ertslab_revision_reading:check_pairs(Options, Info, Cases),
    Named.

%% @doc Creates the folder, or refuses it if it was begun for another question.
-spec prepare(file:filename(), #{atom() => term()}) -> ok.
prepare(Dir, Question) ->
    ok = ertslab_results:make(Dir),
    Wanted = json:decode(iolist_to_binary(json:encode(Question))),
    case {read(Dir), file:list_dir(Dir)} of
        {none, {ok, []}} -> write(Dir, #{<<"question">> => Wanted, <<"unbuildable">> => []});
        {#{<<"question">> := Wanted}, _} -> ok;
        {none, _} -> ertslab_results:other_files(Dir);
        {_, _} -> ertslab_error:failure(?MODULE, {another_question, Dir})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({another_question, Dir}) -> [Dir, " was begun with other arguments; choose another --out."];
format_error({damaged, File}) -> [File, " is damaged; choose another --out."].

%% @doc The part of the question that is in the options, encoded for JSON, and a digest of the experiment's code.
-spec recorded(map()) -> #{atom() => term()}.
recorded(#{experiment := Name} = Options) ->
    Words = maps:map(fun(_, Value) -> ertslab_text:binary(io_lib:format("~0tp", [Value])) end, maps:with(?SHAPING, Options)),
    Words#{code => ertslab_experiment_source:digest(ertslab_parameters:module(Name))}.

%% @doc The numbers of the commits that do not build.
-spec unbuildable(file:filename()) -> [pos_integer()].
unbuildable(Dir) ->
    #{<<"unbuildable">> := Numbers} = read(Dir),
    Numbers.

%% @doc Records that a commit does not build.
-spec unbuildable(file:filename(), pos_integer()) -> ok.
unbuildable(Dir, Number) ->
    #{<<"unbuildable">> := Numbers} = Kept = read(Dir),
    write(Dir, Kept#{<<"unbuildable">> := lists:usort([Number | Numbers])}).

%% @doc The folder for a commit's next reading, given the number of its readings before.
-spec reading(file:filename(), Id :: string(), non_neg_integer()) -> file:filename().
reading(Dir, Id, Before) -> filename:join(Dir, lists:concat([ertslab_history:short(Id), "-", Before + 1])).

%% @doc The folders of the finished readings of a commit.
-spec readings(file:filename(), Id :: string()) -> [file:filename()].
readings(Dir, Id) ->
    [filename:dirname(File) || File <- ertslab_paths:matching(Dir, filename:join(ertslab_history:short(Id) ++ "-*", "summary.json"))].

read(Dir) ->
    File = filename:join(Dir, ?FILE_NAME),
    case file:read_file(File) of
        {error, _} -> none;
        {ok, Text} ->
            try #{<<"question">> := _, <<"unbuildable">> := _} = json:decode(Text)
            catch error:_ -> ertslab_error:failure(?MODULE, {damaged, File})
            end
    end.

write(Dir, Kept) -> ertslab_results:write(filename:join(Dir, ?FILE_NAME), json:format(Kept)).
