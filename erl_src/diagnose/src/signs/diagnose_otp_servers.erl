%% @doc Servers of OTP that many can wait for: what they do for one caller cannot be made less there, but it can be asked for otherwise.
%% Pure.
-module(diagnose_otp_servers).

-export([advice/1]).

%% @doc What to do where such a server does not keep up; `none' of any other process.
-spec advice(#{name := atom(), label := mfa() | unknown, _ => _}) -> string() | none.
advice(#{name := file_server_2}) ->
    "Each call of the module file with a name (read_file_info/1, also by filelib; open/2, list_dir/1) is a request to this server, and it"
    " serves one at a time. The option raw (file:read_file_info/2, file:open/2) does the same in the caller; or keep the answers for a"
    " while.";
advice(#{name := timer_server}) ->
    "It sets, cancels and sends the timers of the module timer, one after the other. erlang:send_after/3, erlang:start_timer/3 and the"
    " time-outs of behaviours need no process; one timer for many processes (a tick) needs less of either.";
advice(#{name := code_server}) ->
    "It loads code and answers for it, one request after the other: code:is_loaded/1 (until OTP 26), code:which/1, and each load."
    " erlang:module_loaded/1 and erlang:function_exported/3 ask nobody. Load all modules at the start (embedded mode), and keep answers.";
advice(#{name := rex}) ->
    "Each rpc:call/4, cast/4 and multicall/4 of another node is a message to this process. erpc does without it, and so do messages to a"
    " process of one's own.";
advice(#{name := application_controller}) ->
    "application:which_applications/0, set_env/3, start and stop are requests to it; application:get_env/2 is none. Keep data that change"
    " in ETS or in persistent_term, and answers for a while.";
advice(#{label := {dets, _, _}}) ->
    "A dets table has one process, and a search without the key (match_object, select, foldl) reads all of its file. Look up by the key;"
    " keep what is searched for in ETS, and the file only for what must outlive the node.";
advice(#{}) -> none.
