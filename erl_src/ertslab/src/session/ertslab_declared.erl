%% @doc What applications that depend on ertslab declare for its commands, in the environments (`env') of their .app files.
%% So ertslab names no module and no experiment of theirs. The keys:
%%
%%   judges            [{Experiment, Metrics, Parameters}]: what `judges' measures. The metrics decide. The parameters
%%                     are assignments as of `--param', if the experiment's own values do not fit
%%   flood             the module with the behaviour ertslab_flood
%%   selftest_machine  {Experiment, Parameters}: what `selftest --machine' compares
%%   selftest_record   the same for `selftest --record'
-module(ertslab_declared).

-export([all/1, one/1, format_error/1]).
-export_type([reason/0]).

-type reason() :: {none, Key :: atom()}.

%% @doc The values of a key in all applications on the code path, except OTP's own.
-spec all(atom()) -> [term()].
all(Key) ->
    [Value || Dir <- ertslab_vm:libraries(), File <- ertslab_paths:matching(Dir, "*.app"),
              {ok, [{application, _, Keys}]} <- [file:consult(File)],
              {Name, Value} <- proplists:get_value(env, Keys, []), Name =:= Key].

%% @doc The first of them.
-spec one(atom()) -> term().
one(Key) ->
    case all(Key) of
        [First | _] -> First;
        [] -> ertslab_error:failure(?MODULE, {none, Key})
    end.

-spec format_error(reason()) -> unicode:chardata().
format_error({none, Key}) -> io_lib:format("no application here declares '~ts'.", [Key]).
