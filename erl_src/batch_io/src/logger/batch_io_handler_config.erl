%% @doc The `config' of a logger handler: its options, and the options of buffer and device derived
%% from them.
-module(batch_io_handler_config).

-export([writer/1, new/2, change/3, options/2, device/1, format_error/1]).
-export_type([config/0, type/0, problem/0]).

-type type() :: standard_io | standard_error | {file, file:filename_all()} | {device, batch_io_options:leader()}.
%% type: where lines go. The other options are those of batch_io_options.
-type config() :: #{type := type(), slots := pos_integer(), bytes := pos_integer(), page_size := pos_integer(),
                    flush_ms := non_neg_integer(), drop := batch_io_options:drop(), writer := atom()}.
-type problem() :: {bad_type, term()} | {file, file:filename_all(), batch_io_file:reason()} |
                   {fixed, type} | no_writer | late_writer | long_id |
                   {not_a_map, term()} | {unknown, Name :: term()} | batch_io_options:problem().

-define(OPTIONS, [slots, bytes, page_size, flush_ms, drop]).
%% Neither prefix is a prefix of the other, so no file process has the name of another handler's
%% writer, whatever their ids.
-define(WRITER, "batch_io_handler_").
-define(FILE_PROCESS, "batch_io_file_").

-define(MOST_OF_AN_ATOM, 255).

%% @doc The name of the writer process of the handler with that id, or `undefined' if the id is too
%% long for it.
-spec writer(logger:handler_id()) -> atom().
writer(Id) ->
    case ?WRITER ++ atom_to_list(Id) of
        Name when length(Name) =< ?MOST_OF_AN_ATOM -> list_to_atom(Name);
        _ -> undefined
    end.

file_process(Writer) ->
    ?WRITER ++ Id = atom_to_list(Writer),
    list_to_atom(?FILE_PROCESS ++ Id).

%% @doc The config of a new handler, with the name of its writer process.
-spec new(Writer :: atom(), term()) -> {ok, config()} | {error, problem()}.
new(undefined, _) -> {error, long_id};
new(Writer, Given) when is_map(Given) ->
    Type = absolute(maps:get(type, Given, standard_io)),
    case type_problem(Type) of
        none -> completed(Writer, Type, maps:remove(type, Given));
        Problem -> {error, Problem}
    end;
new(_, Given) -> {error, {not_a_map, Given}}.

completed(Writer, Type, Given) ->
    case {maps:keys(maps:without(?OPTIONS, Given)), batch_io_options:complete(maps:with(?OPTIONS, Given))} of
        {[], {ok, Options}} -> {ok, (maps:with(?OPTIONS, Options))#{type => Type, writer => Writer}};
        {[], {error, Problem}} -> {error, Problem};
        {[Name | _], _} -> {error, {unknown, Name}}
    end.

%% The node's working directory may have changed when the file is created again.
absolute({file, [_ | _] = File}) -> {file, absolute_name(io_lib:printable_unicode_list(File), File)};
absolute({file, <<_, _/binary>> = File}) -> {file, filename:absname(File)};
absolute(Type) -> Type.

absolute_name(true, File) -> filename:absname(File);
absolute_name(false, File) -> File.

%% A device may die and come back later, but it must exist at first.
type_problem(Type) when Type =:= standard_io; Type =:= standard_error -> none;
type_problem({device, Device}) ->
    case batch_io_options:complete(#{leader => Device}) of
        {ok, _} -> none;
        {error, Problem} -> Problem
    end;
type_problem({file, File} = Type) ->
    case io_lib:printable_unicode_list(File) orelse is_binary(File) of
        true -> file_problem(File, batch_io_file:try_open(File));
        false -> {bad_type, Type}
    end;
type_problem(Type) -> {bad_type, Type}.

file_problem(_, ok) -> none;
file_problem(File, {error, Reason}) -> {file, File, Reason}.

%% @doc The config of a running handler with other options. `set' replaces all options, with
%% defaults for those not given. `update' changes only the given options.
-spec change(set | update, config(), term()) -> {ok, config()} | {error, problem()}.
change(_, _, Given) when not is_map(Given) -> {error, {not_a_map, Given}};
change(How, #{type := Type, writer := Writer} = Old, Given) ->
    case absolute(maps:get(type, Given, Type)) of
        Type -> completed(Writer, Type, changed(How, Old, maps:without([type, writer], Given)));
        _ -> {error, {fixed, type}}
    end.

changed(set, _, Given) -> Given;
changed(update, Old, Given) -> maps:merge(maps:with(?OPTIONS, Old), Given).

%% @doc The options of the buffer. `Tell' is the function with which the handler reports dropped
%% lines.
-spec options(config(), {module(), atom(), [term()]}) -> batch_io_options:options().
options(#{type := Type, writer := Writer} = Config, Tell) ->
    {ok, Options} = batch_io_options:complete(maps:with(?OPTIONS, Config)),
    Options#{leader := leader(Type, Writer), writer => Writer, tell => Tell}.

leader(standard_io, _) -> user;
leader(standard_error, _) -> standard_error;
leader({device, Device}, _) -> Device;
leader({file, _}, Writer) -> file_process(Writer).

%% @doc The device process that belongs to the handler: its name and its file.
-spec device(config()) -> {Name :: atom(), file:filename_all()} | none.
device(#{type := {file, File}, writer := Writer}) -> {file_process(Writer), File};
device(_) -> none.

%% @doc Describes a problem in one sentence.
-spec format_error(problem()) -> string().
format_error({bad_type, Type}) ->
    text("type must be standard_io, standard_error, {file, Name} or {device, PidOrName}, not ~tp", [Type]);
format_error({file, File, is_pipe}) ->
    text("cannot write ~ts: it is a pipe or a socket, and may have no reader; use standard_io or {device, PidOrName}", [File]);
format_error({file, File, Reason}) -> text("cannot write ~ts: ~ts", [File, file:format_error(Reason)]);
format_error({fixed, Name}) -> text("~tp cannot be changed while the handler is there; remove it and add it anew", [Name]);
format_error(no_writer) -> "the handler's writer is not there; try again, or add the handler anew if its supervisor gave up";
format_error(late_writer) -> "the handler's writer did not answer in time, so nothing was changed; try again";
format_error(long_id) ->
    text("the id of the handler must have at most ~b characters, because its processes have names", [?MOST_OF_AN_ATOM - length(?WRITER)]);
format_error({unknown, Name}) ->
    text("there is no option ~tp; choose from: bytes drop flush_ms page_size slots type", [Name]);
format_error({not_a_map, Given}) -> text("config must be a map, not ~tp", [Given]);
format_error(Problem) -> batch_io_options:format_error(Problem).

text(Format, Arguments) -> lists:flatten(io_lib:format(Format, Arguments)).
