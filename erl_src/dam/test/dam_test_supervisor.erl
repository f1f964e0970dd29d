%% A supervisor of the children that it is given.
-module(dam_test_supervisor).
-behaviour(supervisor).

-export([init/1]).

init(Children) -> {ok, {#{}, Children}}.
