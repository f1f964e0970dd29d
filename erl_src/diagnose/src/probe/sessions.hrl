%%% Who else traces. From OTP 27 on there may be sessions of the module `trace', beside the one of erlang:trace/3.

%% @doc The sessions that trace a process, new processes or a function, but for the one of erlang:trace/3. Whoever made one has loaded the
%% module `trace'. Two sessions that trace the collections of one process end the VM (OTP 27 and 29: SIGSEGV).
-spec other_sessions(pid() | new_processes | mfa()) -> [term()].
other_sessions(Which) ->
    case erlang:function_exported(trace, session_info, 1) andalso info_of_sessions(Which) of
        [_ | _] = Sessions -> Sessions -- [{legacy, default}];
        _ -> []
    end.

info_of_sessions(Which) -> try apply(trace, session_info, [Which]) catch error:badarg -> [] end.
