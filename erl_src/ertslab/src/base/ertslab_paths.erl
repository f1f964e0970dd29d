%% @doc Where things of this checkout are.
-module(ertslab_paths).

-export([top/0, build/1, log/1, results/1, absolute/1]).

%% @doc The checkout.
-spec top() -> file:filename().
top() -> os:getenv("ERTSLAB_TOP", ".").

%% @doc Below the folder of what is built.
-spec build(string()) -> file:filename().
build(Name) -> filename:join([top(), "build", Name]).

%% @doc A log beside those of the scripts.
-spec log(string()) -> file:filename().
log(Name) -> filename:join([top(), "build", "log", Name]).

%% @doc Below the folder of results.
-spec results(unicode:chardata()) -> file:filename().
results(Name) -> filename:absname(filename:join([top(), "results", Name])).

%% @doc A path that the user gave, as the shell would have it: `~/' is home also behind an equals sign.
-spec absolute(string()) -> file:filename().
absolute([$~, $/ | Rest]) -> filename:join(os:getenv("HOME", "/"), Rest);
absolute(Path) -> filename:absname(Path).
