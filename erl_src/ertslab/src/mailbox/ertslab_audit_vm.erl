%% @doc Chooses the VM that audits: its compiler must not be older than that of the audited code.
-module(ertslab_audit_vm).

-export([asked_for/1, that_reads/2]).
-export_type([judge/0]).

%% own: this VM itself, if none is built.
-type judge() :: ertslab_inventory:vm() | own.

%% @doc The VM for the options alone.
-spec asked_for(map()) -> judge().
asked_for(#{otp := Release} = Options) -> of_release(Release, Options);
asked_for(#{vm := _} = Options) -> of_release(ertslab_inventory:release(Options), Options);
asked_for(Options) ->
    case ertslab_inventory:releases() of
        [] -> own;
        [Oldest | _] -> of_release(Oldest, Options)
    end.

of_release(Release, Options) -> ertslab_inventory:find(ertslab_text:binary(maps:get(vm, Options, "stock")), Release).

%% @doc The VM for the options and the targets. If no release is named and a module was compiled by a newer one, it is
%% the first built VM that is new enough, or else that of another `erl' on the PATH. If there is none, it is the
%% newest built one; modules that it cannot read are not judged.
-spec that_reads([mailbox_audit_target:target()], map()) -> judge().
that_reads(_Targets, #{otp := _} = Options) -> asked_for(Options);
that_reads(Targets, Options) ->
    Newest = newest(Targets),
    case asked_for(Options) of
        #{release := Release} = VM when Release >= Newest -> VM;
        own when ?OTP_RELEASE >= Newest -> own;
        Oldest -> newer(Newest, [R || R <- ertslab_inventory:releases(), R >= Newest], Oldest, Options)
    end.

%% Source code is compiled here, so it is never too new. Errors in a target are reported when it is audited.
newest(Targets) ->
    case mailbox_audit_static:newest_compiler([Target || Target <- Targets, not is_source(Target)]) of
        {ok, Newest} -> Newest;
        {error, _} -> 0
    end.

is_source(Target) -> is_list(Target) andalso lists:member(filename:extension(Target), [".erl", ".ex"]).

newer(_Newest, [Release | _], _Oldest, Options) -> of_release(Release, Options);
newer(Newest, [], Oldest, Options) ->
    case [VM || not is_map_key(vm, Options), VM <- installed(), maps:get(release, VM) >= Newest] of
        [VM | _] -> VM;
        [] when Oldest =:= own -> own;
        [] -> of_release(lists:max(ertslab_inventory:releases()), Options)
    end.

%% Skips this VM's own folders, which it has put first in the PATH.
installed() ->
    %% Another VM cannot load the code in an archive, so only a checkout searches.
    Programs = [filename:join(Dir, "erl") || ertslab_paths:is_checkout(), Dir <- string:lexemes(os:getenv("PATH", ""), ":"),
                                             not lists:prefix(code:root_dir() ++ "/", Dir)],
    [VM || Program <- lists:uniq(Programs), filelib:is_regular(Program), VM <- working(Program)].

working(Program) ->
    try [ertslab_installation:find(Program)]
    catch throw:{failure, _} -> []
    end.
