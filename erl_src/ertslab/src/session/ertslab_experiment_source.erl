%% @doc An experiment that is a source file anywhere. It is compiled for this call alone, into a folder in which the VMs
%% find it like those of this checkout.
-module(ertslab_experiment_source).

-export([named/1, folder/0, compile/1, digest/1, is_elsewhere/1, format_error/1, format_why/1]).
-export_type([reason/0, why/0]).

-type reason() :: {elsewhere, File :: string()} | {misnamed, File :: string(), Extension :: string()} | {no_file, File :: string()}
                | {name_is_taken, File :: string()} | {does_not_compile, File :: string(), why()}
                | {incomplete, File :: string(), atom(), arity()} | {odd_info, File :: string(), Problem :: unicode:chardata()}
                | {info_fails, File :: string(), Why :: term()} | {does_not_load, File :: string(), Why :: term()}
                | no_reason | {no_module, module()} | no_compiler.
%% As the compiler says it: where, and a reason of that module.
-type why() :: {erl_anno:location() | none, module(), Reason :: term()}.

-define(OPTIONS, [return, debug_info]).

%% @doc The options with the name of the experiment. If they hold a source file, it is compiled first, and kept as `source':
%% the same words must name the file again ({@link ertslab_call:words/1}).
-spec named(#{experiment := string(), _ => _}) -> #{experiment := string(), source => file:filename(), _ => _}.
named(#{experiment := Text} = Options) ->
    case filename:extension(Text) of
        Source when Source =:= ".erl" orelse Source =:= ".exs", is_map_key(host, Options) orelse is_map_key(fleet, Options) ->
            ertslab_error:usage(?MODULE, {elsewhere, Text});
        Source when Source =:= ".erl"; Source =:= ".exs" -> Options#{experiment := compiled(Text, Source), source => Text};
        _ -> Options
    end.

compiled(File, Source) ->
    Name = case filename:basename(File, Source) of
               "exp_" ++ Rest -> Rest;
               _ -> ertslab_error:usage(?MODULE, {misnamed, File, Source})
           end,
    filelib:is_regular(File) orelse ertslab_error:usage(?MODULE, {no_file, File}),
    lists:member(Name, ertslab_parameters:names()) andalso ertslab_error:usage(?MODULE, {name_is_taken, File}),
    case compile(File, Source) of
        {ok, Module} -> ok = complete(File, Module), Name;
        {error, Why} -> ertslab_error:failure(?MODULE, {does_not_compile, File, Why})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({elsewhere, File}) -> [File, ": another machine measures only the experiments of its own ertslab"];
format_error({misnamed, File, Extension}) -> [File, ": an experiment's file is called exp_NAME", Extension];
format_error({no_file, File}) -> [File, ": there is no such file"];
format_error({name_is_taken, File}) -> [File, ": ertslab has an experiment of that name already; choose another"];
format_error({does_not_compile, File, {Location, _, _} = Why}) -> [File, " does not compile: ", place(Location), format_why(Why), "."];
format_error({odd_info, File, Problem}) -> [File, ": info/0 ", Problem, "."];
format_error({info_fails, File, Why}) -> [File, ": info/0 fails: ", ertslab_crash:says(Why), "."];
format_error({does_not_load, File, Why}) -> io_lib:format("~ts compiles, but its module does not load: ~0tP.", [File, Why, 12]);
format_error({incomplete, File, Function, Arity}) ->
    io_lib:format("~ts: the function ~ts/~b is missing, which every experiment needs.", [File, Function, Arity]);
format_error(no_compiler) ->
    "this Erlang has no compiler, which is needed to compile what is measured; use a complete installation of OTP.";
format_error(no_reason) -> "the compiler does not say why";
format_error({no_module, Module}) -> io_lib:format("it has no 'defmodule :~ts'", [Module]).

%% @doc Why something does not compile, without the place.
-spec format_why(why()) -> unicode:chardata().
format_why({_, Module, Reason}) -> Module:format_error(Reason).

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

%% @doc Compiles a file into that folder. If that fails, returns the first error.
-spec compile(file:filename()) -> {ok, module()} | {error, why()}.
compile(File) ->
    code:which(compile) =:= non_existing andalso ertslab_error:failure(?MODULE, no_compiler),
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
        {ok, false} -> {error, {none, ?MODULE, {no_module, Module}}};
        {{error, Reason}, _} -> {error, {none, ertslab_elixir, Reason}}
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

first([{_, [Why | _]} | _]) -> {error, Why};
first([_ | Rest]) -> first(Rest);
first([]) -> {error, {none, ?MODULE, no_reason}}.

place({Line, _}) -> io_lib:format("line ~b, ", [Line]);
place(Line) when is_integer(Line) -> io_lib:format("line ~b, ", [Line]);
place(none) -> "".

complete(File, Module) ->
    ok = loaded(File, Module),
    Optional = ertslab_experiment:behaviour_info(optional_callbacks),
    case [Callback || {Function, Arity} = Callback <- ertslab_experiment:behaviour_info(callbacks) -- Optional,
                      not erlang:function_exported(Module, Function, Arity)] of
        [] -> ok = described(File, Module);
        [{Function, Arity} | _] -> ertslab_error:failure(?MODULE, {incomplete, File, Function, Arity})
    end.

%% It may have -on_load.
loaded(File, Module) ->
    case code:ensure_loaded(Module) of
        {module, Module} -> ok;
        {error, Why} -> ertslab_error:failure(?MODULE, {does_not_load, File, Why})
    end.

described(File, Module) ->
    try ertslab_experiment_info:problem(Module:info()) of
        none -> ok;
        Problem -> ertslab_error:failure(?MODULE, {odd_info, File, Problem})
    catch
        exit:Why -> ertslab_error:failure(?MODULE, {info_fails, File, {exited, Why}});
        _:Why -> ertslab_error:failure(?MODULE, {info_fails, File, Why})
    end.
