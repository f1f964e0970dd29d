%% @doc `ertslab list': the experiments, and the VMs to measure them on.
-module(ertslab_list).

-export([run/1]).

-spec run(map()) -> ok.
run(#{json := true}) ->
    io:put_chars(json:format(#{experiments => [described(N) || N <- ertslab_parameters:names()],
                               vms => [vm_as_json(VM) || VM <- ertslab_inventory:installed()],
                               libraries => [ertslab_text:binary(Dir) || Dir <- ertslab_vm:libraries()]}));
run(#{}) ->
    io:put_chars(["Experiments\n", [experiment(Name) || Name <- ertslab_parameters:names()],
                  "\nVMs\n", [vm(VM) || VM <- ertslab_inventory:installed()], revisions(ertslab_inventory:of_revisions())]).

%% Listed by commit, as `git:PATH@REVISION' finds them.
revisions([]) -> "";
revisions(VMs) -> ["\nRevisions of git repositories (git:PATH@REVISION)\n", [revision(VM) || VM <- VMs]].

described(Name) ->
    #{title := Title, shows := Shows, origin := Origin} = Info = info(Name),
    #{name => ertslab_text:binary(Name), title => ertslab_text:binary(Title),
      shows => ertslab_text:binary(Shows), origin => ertslab_text:binary(Origin),
      parameters => [#{name => P, doc => ertslab_text:binary(Doc), quick => Quick, full => Full}
                     || {P, Doc, Quick, Full} <- ertslab_parameters:sizes(Info)]}.

info(Name) -> ertslab_parameters:info(ertslab_parameters:module(Name)).

experiment(Name) ->
    #{title := Title, shows := Shows, origin := Origin} = Info = info(Name),
    [io_lib:format("  ~ts~n    ~ts~n    Shows ~ts (~ts).~n", [Name, Title, Shows, Origin]),
     [io_lib:format("    --param ~ts=~ts  ~ts~n", [P, values(Full), Doc])
      || {P, Doc, _Quick, Full} <- ertslab_parameters:sizes(Info)]].

values(Values) -> lists:join(",", [io_lib:format("~p", [Value]) || Value <- Values]).

vm_as_json(#{root := Root, executable := Executable} = VM) ->
    Facts = maps:with([name, release, version, build_id, sha256, description, modules], VM),
    Facts#{root => ertslab_text:binary(Root), executable => ertslab_text:binary(Executable)}.

vm(#{name := Name, version := Version, description := Description}) ->
    io_lib:format("  OTP ~-10ts ~-13ts ~ts~n", [Version, Name, Description]).

revision(#{version := Version, description := Description}) -> io_lib:format("  OTP ~-10ts ~ts~n", [Version, Description]).
