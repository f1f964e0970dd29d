%% @doc The file samples.jsonl: one JSON object a line, appended run by run.
%%
%% A run is its samples, one line of type `run', and one line of type `end' that
%% holds the CRC-32 of the lines before it. What a killed program left without
%% that line is no run; what was edited or damaged afterwards is found.
-module(ertslab_samples).

-export([text/1, read/1, complete/1]).
-export_type([sample/0, run_line/0, samples/0]).

-type sample() :: #{binary() => term()}.
-type run_line() :: #{binary() => term()}.
-type samples() :: #{samples := [sample()], runs := [run_line()]}.

%% @doc The lines of one run, its `run' line among them.
-spec text([map(), ...]) -> iodata().
text(Lines) ->
    Text = [[json:encode(Line), $\n] || Line <- Lines],
    [Run] = [Number || #{type := run, run := Number} <- Lines],
    [Text, json:encode(#{type => 'end', run => Run, crc32 => erlang:crc32(Text)}), $\n].

%% @doc The complete runs of a file and their samples; a file that is not there
%% has none. A damaged line is a failure that names it.
-spec read(file:filename()) -> samples().
read(File) ->
    Groups = groups(File),
    ok = once_each(File, Groups),
    Lines = lists:append([Objects || {_Run, Objects, _Text} <- Groups]),
    {Runs, Samples} = lists:partition(fun(#{~"type" := Type}) -> Type =:= ~"run" end, Lines),
    #{runs => Runs, samples => Samples}.

%% @doc The text of the complete runs, without what was cut off after them.
-spec complete(file:filename()) -> iodata().
complete(File) -> [Text || {_Run, _Objects, Text} <- groups(File)].

groups(File) ->
    Lines = numbered_lines(File),
    {_Unfinished, Groups} = lists:foldl(fun(Line, Acc) -> line(File, Line, Acc) end, {[], []}, Lines),
    lists:reverse(Groups).

line(File, {Number, Text}, {Pending, Groups}) ->
    case decoded(File, Number, Text) of
        #{~"type" := ~"end"} = End ->
            {[], [group(File, End, lists:reverse(Pending), Number, Text) | Groups]};
        Object -> {[{Number, Text, Object} | Pending], Groups}
    end.

group(File, #{~"run" := Run} = End, Lines, Number, EndText) ->
    Text = [[Line, $\n] || {_, Line, _} <- Lines],
    Same = End =:= End#{~"crc32" => erlang:crc32(Text)},
    Same orelse damaged(File, Run, Lines, Number),
    {Run, [Object || {_, _, Object} <- Lines], [Text, EndText, $\n]}.

-spec damaged(file:filename(), term(), list(), pos_integer()) -> no_return().
damaged(File, Run, Lines, Last) ->
    [First | _] = [Number || {Number, _, _} <- Lines] ++ [Last],
    ertslab_error:failure("~ts, lines ~b to ~b (run ~p) are not as they were written; remove them,"
                          " and that run is measured again.", [File, First, Last, Run]).

once_each(File, Groups) ->
    Numbers = [Run || {Run, _, _} <- Groups],
    case Numbers -- lists:usort(Numbers) of
        [] -> ok;
        [Twice | _] -> ertslab_error:failure("~ts holds run ~p more than once.", [File, Twice])
    end.

decoded(File, Number, Text) ->
    try json:decode(Text) of
        #{~"type" := _, ~"run" := _} = Object -> Object;
        _ -> no_sample(File, Number)
    catch error:_ -> no_sample(File, Number)
    end.

-spec no_sample(file:filename(), pos_integer()) -> no_return().
no_sample(File, Number) ->
    ertslab_error:failure("~ts, line ~b is no sample; mend or remove that line.", [File, Number]).

%% What follows the last line end is a line that was cut off in writing.
numbered_lines(File) ->
    case file:read_file(File) of
        {ok, Text} -> lists:enumerate(lists:droplast(binary:split(Text, ~"\n", [global])));
        {error, enoent} -> [];
        {error, Reason} ->
            ertslab_error:failure("cannot read ~ts: ~ts.", [File, file:format_error(Reason)])
    end.
