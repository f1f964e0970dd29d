%% @doc An experiment that is a source file anywhere. It is compiled for this call alone, into a folder in which the VMs
%% find it like those of this checkout.
-module(ertslab_experiment_source).

-export([named/1, folder/0, compile/1, digest/1, is_elsewhere/1]).

-define(OPTIONS, [return, debug_info]).

%% @doc The options with the name of the experiment. If they hold a source file, it is compiled first, and kept as `source':
%% the same words must name the file again ({@link ertslab_call:words/1}).
-spec named(#{experiment := string(), _ => _}) -> #{experiment := string(), source => file:filename(), _ => _}.
named(#{experiment := Text} = Options) ->
    case filename:extension(Text) of
        Source when Source =:= ".erl" orelse Source =:= ".exs", is_map_key(host, Options) orelse is_map_key(fleet, Options) ->
            ertslab_error:usage("~ts: another machine measures only the experiments of its own ertslab", [Text]);
        Source when Source =:= ".erl"; Source =:= ".exs" -> Options#{experiment := compiled(Text, Source), source => Text};
        _ -> Options
    end.

compiled(File, Source) ->
    Name = case filename:basename(File, Source) of
               "exp_" ++ Rest -> Rest;
               _ -> ertslab_error:usage("~ts: an experiment's file is called exp_NAME~ts", [File, Source])
           end,
    filelib:is_regular(File) orelse ertslab_error:usage("~ts: there is no such file", [File]),
    lists:member(Name, ertslab_parameters:names()) andalso
        ertslab_error:usage("~ts: ertslab has an experiment of that name already; choose another", [File]),
    case compile(File, Source) of
        {ok, Module} -> ok = complete(File, Module), Name;
        {error, Place, Why} -> ertslab_error:failure("~ts does not compile: ~ts~ts.", [File, Place, Why])
    end.

%% @doc Makes the folder for this call from which its VMs load modules.
-spec folder() -> file:filename().
folder() ->
    Folder = place(),
    ok = ertslab_results:make(filename:join(Folder, "oldest")),
    Folder.

place() -> filename:join(os:getenv("TMPDIR", "/tmp"), "experiment").

%% @doc A digest of the experiment and of the code that measures it, since an experiment may change while its name stays.
%% An Elixir file may have several modules.
-spec digest(module()) -> binary().
digest(Module) ->
    Beside = [Digest || is_elsewhere(Module), Beam <- ertslab_paths:matching(place(), "*.beam"),
                        {ok, {_, Digest}} <- [beam_lib:md5(Beam)]],
    string:lowercase(binary:encode_hex(erlang:md5([ertslab_fingerprint:of_code(Module) | Beside]))).

%% @doc Whether the experiment is no one of this project, but was compiled for this call.
-spec is_elsewhere(module()) -> boolean().
is_elsewhere(Module) -> filename:dirname(code:which(Module)) =:= place().

%% @doc Compiles a file into that folder. If that fails, returns the first error: its place and the compiler's message.
-spec compile(file:filename()) -> {ok, module()} | {error, Place :: iodata(), Why :: iodata()}.
compile(File) ->
    code:which(compile) =:= non_existing andalso
        ertslab_error:failure("this Erlang has no compiler, which is needed to compile what is measured; use a complete"
                              " installation of OTP.", []),
    Folder = folder(),
    case [compile:file(File, [{outdir, Folder} | ?OPTIONS]),
          compile:file(File, [{outdir, filename:join(Folder, "oldest")} | oldest(?OPTIONS)])] of
        [{ok, Module, _}, {ok, Module, _}] ->
            true = code:add_patha(Folder),
            {ok, Module};
        Compiled -> hd([first(Errors) || {error, Errors, _} <- Compiled])
    end.

compile(File, ".erl") -> compile(File);
compile(File, ".exs") ->
    Folder = folder(),
    Module = list_to_atom(filename:basename(File, ".exs")),
    Beam = filename:join(Folder, atom_to_list(Module) ++ ".beam"),
    case {ertslab_elixir:compile(File, Folder), filelib:is_regular(Beam)} of
        {ok, true} ->
            ok = for_older_releases(Folder),
            true = code:add_patha(Folder),
            {ok, Module};
        {ok, false} -> {error, "", io_lib:format("it has no 'defmodule :~ts'", [Module])};
        {{error, Why}, _} -> {error, "", Why}
    end.

%% Modules that Elixir compiled run on older releases as they are.
for_older_releases(Folder) ->
    lists:foreach(fun(File) -> {ok, _} = file:copy(filename:join(Folder, File), filename:join([Folder, "oldest", File])) end,
                  filelib:wildcard("*.beam", Folder)).

%% The compiler options for VMs that are older than the compiler. The type of options lacks the last one.
-spec oldest([compile:option()]) -> [compile:option()].
oldest(Options) ->
    {Target, _} = ertslab_installation:oldest_target(),
    [Target, {feature, maybe_expr, disable} | Options].

first([{_, [{Place, Module, Error} | _]} | _]) -> {error, place(Place), Module:format_error(Error)};
first([_ | Rest]) -> first(Rest);
first([]) -> {error, "", "the compiler does not say why"}.

place({Line, _}) -> io_lib:format("line ~b, ", [Line]);
place(Line) when is_integer(Line) -> io_lib:format("line ~b, ", [Line]);
place(none) -> "".

complete(File, Module) ->
    {module, Module} = code:ensure_loaded(Module),
    Optional = ertslab_experiment:behaviour_info(optional_callbacks),
    case [Callback || {Function, Arity} = Callback <- ertslab_experiment:behaviour_info(callbacks) -- Optional,
                      not erlang:function_exported(Module, Function, Arity)] of
        [] -> ok = described(File, Module);
        [{Function, Arity} | _] ->
            ertslab_error:failure("~ts: the function ~ts/~b is missing, which every experiment needs.", [File, Function, Arity])
    end.

described(File, Module) ->
    try ertslab_experiment_info:problem(Module:info()) of
        none -> ok;
        Problem -> ertslab_error:failure("~ts: info/0 ~ts.", [File, Problem])
    catch
        error:Reason -> ertslab_error:failure("~ts: info/0 fails: ~ts.", [File, ertslab_error:reason_text(Reason)])
    end.
