%% @doc An experiment that lies anywhere, as a file of source: it is compiled for this call alone, and found by the
%% VMs as those of this checkout are.
-module(ertslab_experiment_source).
-feature(maybe_expr, enable).

-export([named/1, folder/0, compile/1]).

-define(OPTIONS, [return, debug_info]).

%% @doc The options with the name of the experiment in place of the file that it was compiled from.
-spec named(#{experiment := string(), _ => _}) -> #{experiment := string(), _ => _}.
named(#{experiment := Text} = Options) ->
    case filename:extension(Text) of
        Source when Source =:= ".erl" orelse Source =:= ".exs", is_map_key(host, Options) orelse is_map_key(fleet, Options) ->
            ertslab_error:usage("~ts: another machine measures only the experiments of its own ertslab", [Text]);
        Source when Source =:= ".erl"; Source =:= ".exs" -> Options#{experiment := compiled(Text, Source)};
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

%% @doc The folder that is made for this call, from which its VMs take modules.
-spec folder() -> file:filename().
folder() ->
    Folder = filename:join(os:getenv("TMPDIR", "/tmp"), "experiment"),
    ok = filelib:ensure_path(filename:join(Folder, "oldest")),
    Folder.

%% @doc Compiles a file and puts it where the VMs find it. Where that fails, the first error: its place and the compiler's words.
-spec compile(file:filename()) -> {ok, module()} | {error, Place :: iodata(), Why :: iodata()}.
compile(File) ->
    Folder = folder(),
    maybe
        {ok, Module, _} ?= compile:file(File, [{outdir, Folder} | ?OPTIONS]),
        {ok, Module, _} ?= compile:file(File, [{outdir, filename:join(Folder, "oldest")} | oldest(?OPTIONS)]),
        true = code:add_patha(Folder),
        {ok, Module}
    else
        {error, Errors, _} -> first(Errors)
    end.

compile(File, ".erl") -> compile(File);
compile(File, ".exs") ->
    Folder = folder(),
    Module = list_to_atom(filename:basename(File, ".exs")),
    Beam = filename:join(Folder, atom_to_list(Module) ++ ".beam"),
    maybe
        ok ?= ertslab_elixir:compile(File, Folder),
        true ?= filelib:is_regular(Beam),
        ok = for_older_releases(Folder),
        true = code:add_patha(Folder),
        {ok, Module}
    else
        false -> {error, "", io_lib:format("it has no 'defmodule :~ts'", [Module])};
        {error, Why} -> {error, "", Why}
    end.

%% What Elixir compiles runs there as it is.
for_older_releases(Folder) ->
    lists:foreach(fun(File) -> {ok, _} = file:copy(filename:join(Folder, File), filename:join([Folder, "oldest", File])) end,
                  filelib:wildcard("*.beam", Folder)).

%% As the project's own are, for VMs that are older than the compiler. The last one is missing in the type of options.
-spec oldest([compile:option()]) -> [compile:option()].
oldest(Options) -> [r25, {feature, maybe_expr, disable} | Options].

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
        [] -> ok;
        [{Function, Arity} | _] ->
            ertslab_error:failure("~ts: ~ts/~b is missing, which an experiment has.", [File, Function, Arity])
    end.
