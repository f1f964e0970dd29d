%% The arms that words of the command line ask for, of what is built here.
-module(ertslab_arms_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, a_sweep_has_no_arms/1, first_is_the_control_once_more/1, stock_has_a_copy/1, control_can_be_left_out/1,
         releases_are_mixed/1,
         an_arm_in_full/1, flags_make_arms/1, bad_words_are_refused/1, names_of_the_user_make_no_control/1,
         code_lies_in_a_folder_of_any_name/1]).

all() ->
    [a_sweep_has_no_arms, first_is_the_control_once_more, stock_has_a_copy, control_can_be_left_out, releases_are_mixed, an_arm_in_full,
     flags_make_arms, bad_words_are_refused, names_of_the_user_make_no_control, code_lies_in_a_folder_of_any_name].

first_is_the_control_once_more(_) ->
    {[First, Control | _] = Arms, ~"tuned again"} = arms(#{vm => ["tuned", "stock"]}),
    ?assertEqual([~"tuned", ~"tuned again", ~"stock"], labels(Arms)),
    ?assertEqual(First, Control#{label := ~"tuned"}).

%% Wherever it was named.
stock_has_a_copy(_) ->
    [begin
         {Arms, ~"stock_copy"} = arms(#{vm => string:lexemes(Words, ",")}),
         ?assertEqual([~"stock", ~"stock_copy", ~"tuned"], labels(Arms))
     end || Words <- ["stock,tuned", "stock,tuned,stock_copy", "stock,stock_copy,tuned"]].

%% So nobody is told to give some.
a_sweep_has_no_arms(_) ->
    Sentence = fun(Option) ->
                       try ertslab_arms:one(#{vm => ["stock", "tuned"]}, Option)
                       catch throw:{usage, Error} -> ertslab_error:sentence(Error)
                       end
               end,
    ?assertEqual(~"--over is for one Erlang; name one with --vm", Sentence("--over")),
    ?assertEqual(~"--flags is for one Erlang; name one with --vm, or give --arm", Sentence("--flags")).

control_can_be_left_out(_) ->
    {Arms, null} = arms(#{vm => ["stock", "tuned"], no_control => true}),
    ?assertEqual([~"stock", ~"tuned"], labels(Arms)),
    {Default, null} = arms(#{no_control => true}),
    ?assertEqual([~"stock", ~"tuned"], labels(Default)).

releases_are_mixed(_) ->
    {Oldest, Newest} = oldest_and_newest(),
    [Stock, Again, Tuned] = [ertslab_text:binary(io_lib:format(Format, [Release]))
                             || {Format, Release} <- [{"stock@~b", Oldest}, {"stock@~b again", Oldest}, {"tuned@~b", Newest}]],
    {Arms, Again} = arms(#{vm => [binary_to_list(Stock), binary_to_list(Tuned), "stock"]}),
    ?assertEqual([{Stock, Oldest}, {Again, Oldest}, {Tuned, Newest}, {~"stock", Oldest}],
                 [{Label, Release} || #{label := Label, vm := #{release := Release}} <- Arms]).

an_arm_in_full(_) ->
    {_, Newest} = oldest_and_newest(),
    Dir = filename:dirname(code:which(ertslab_arms)),
    {[#{vm := A}, _, #{vm := B}, #{vm := C}] = Arms, _} =
        arms(#{arm => [#{name => "a", vm => "stock@" ++ integer_to_list(Newest)},
                       #{name => "b", vm => "stock", flags => ["+hmqd", "off_heap", "+S", "2"], code => Dir},
                       #{name => "c", vm => "stock", code => Dir}]}),
    ?assertEqual([~"a", ~"a again", ~"b", ~"c"], labels(Arms)),
    ?assertMatch(#{release := Newest}, A),
    ?assertMatch(#{flags := ["+hmqd", "off_heap", "+S", "2"], code := #{folders := [Dir], digest := <<_:64/binary>>}}, B),
    ?assertEqual(false, is_map_key(flags, C)),
    ?assertEqual(maps:get(code, B), maps:get(code, C)).

flags_make_arms(_) ->
    {Arms, ~"stock_copy"} = arms(#{flags => [["+S", "1"], ["+S", "2"]]}),
    ?assertEqual([{~"stock", none}, {~"stock_copy", none}, {~"stock +S 1", ["+S", "1"]}, {~"stock +S 2", ["+S", "2"]}],
                 [{Label, maps:get(flags, VM, none)} || #{label := Label, vm := VM} <- Arms]).

bad_words_are_refused(_) ->
    [?assertThrow({usage, {ertslab_arms, Reason}}, arms(Options))
     || {Reason, Options} <- [{{one_erlang, "stock@"}, #{vm => ["stock@"]}},
                              {{no_release, "stock@1x", erlang:system_info(otp_release)}, #{vm => ["stock@1x", "tuned"]}},
                              {{one_erlang, "stock"}, #{vm => ["stock"]}},
                              {{same_label, ~"a"}, #{arm => [#{name => "a", vm => "stock"}, #{name => "a", vm => "tuned"}]}},
                              {{no_flag, "-s"}, #{flags => [["+S", "1"], ["-s", "halt"]]}}]].

%% Any arm can be called stock, or as a control is called.
names_of_the_user_make_no_control(_) ->
    Named = fun(Arms, More) -> arms(More#{arm => [#{name => Name, vm => VM} || {Name, VM} <- Arms]}) end,
    {[First, Again | _], ~"stock again"} = Named([{"stock", "tuned"}, {"x", "stock"}], #{}),
    ?assertEqual(First, Again#{label := ~"stock"}),
    [?assertThrow({usage, {ertslab_arms, {named_as_control, _}}}, Named(Arms, #{}))
     || Arms <- [[{"a", "stock"}, {"a again", "tuned"}], [{"stock", "stock"}, {"stock_copy", "tuned"}]]],
    [?assertMatch({[_, _], null}, Named(Arms, #{no_control => true}))
     || Arms <- [[{"a", "stock"}, {"a again", "tuned"}],
                 [{"stock", "stock"}, {"stock_copy", "tuned"}],
                 [{"a", "stock"}, {"stock_copy", "tuned"}]]],
    ?assertMatch({[_, _], ~"stock_copy"}, arms(#{vm => ["stock", "stock_copy"], no_control => true})).

code_lies_in_a_folder_of_any_name(Config) ->
    [begin
         Dir = filename:join(proplists:get_value(priv_dir, Config), Name),
         [begin
              File = filename:join([Dir | [Below || Below =/= ""]] ++ ["m.beam"]),
              ok = filelib:ensure_dir(File),
              ok = file:write_file(File, Below),
              ?assertEqual([filename:dirname(File)], maps:get(folders, ertslab_arm_code:folder(Dir))),
              ok = file:delete(File)
          end || Below <- ["_build/default/lib/a/ebin", "ebin", ""]]
     end || Name <- ["br[1]", "{a,b}", "a*", "q?", "back\\slash", "a b"]].

oldest_and_newest() ->
    Releases = ertslab_inventory:releases(),
    {hd(Releases), lists:last(Releases)}.

arms(Options) -> ertslab_arms:of_options(Options, #{vms => [~"stock", ~"stock_copy", ~"tuned"]}).

labels(Arms) -> [Label || #{label := Label} <- Arms].
