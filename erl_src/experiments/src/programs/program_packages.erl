%% @doc The third-party programs that `./build.sh programs' has fetched.
-module(program_packages).

-export([build/0, folder/1, files/2, versions/1, whole_otp/0, whole_otp/1]).

%% @doc The folder of all of them.
-spec build() -> file:filename().
build() -> filename:absname(filename:join([os:getenv("ERTSLAB_TOP", "."), "build", "programs"])).

%% @doc The folder of a program. If it was not fetched, the error is a sentence.
-spec folder(Program :: string()) -> file:filename().
folder(Program) ->
    Folder = filename:join(build(), Program),
    case filelib:is_regular(filename:join(Folder, "versions")) of
        true ->
            ok = whole_otp(),
            Folder;
        false -> error({cannot_run, io_lib:format("~ts is not here; './build.sh programs ~ts' fetches it", [Program, Program])})
    end.

%% @doc What matches a pattern in the folder of a program. The folder's own name is no part of the pattern.
-spec files(Program :: string(), Pattern :: file:filename()) -> [file:filename()].
files(Program, Pattern) ->
    Folder = folder(Program),
    [filename:join(Folder, File) || File <- filelib:wildcard(Pattern, Folder)].

%% @doc Its packages with their versions, one a line; empty if it was not fetched.
-spec versions(Program :: string()) -> [binary()].
versions(Program) ->
    case file:read_file(filename:join([build(), Program, "versions"])) of
        {ok, Lines} -> binary:split(Lines, <<"\n">>, [global, trim_all]);
        {error, _} -> []
    end.

%% @doc If this VM runs on the part of OTP that `./build.sh demo' builds, the error is a sentence.
-spec whole_otp() -> ok.
whole_otp() -> whole_otp(code:root_dir()).

%% @doc The same for the OTP in that folder.
-spec whole_otp(file:filename()) -> ok.
whole_otp(Root) ->
    case filelib:is_regular(filename:join(Root, "first_part")) of
        true -> error({cannot_run, ["only a part of OTP is built; './build.sh otp --otp ", erlang:system_info(otp_release),
                                    " --vm stock' builds the rest"]});
        false -> ok
    end.
