%% Facts about the machine, as far as they are the same on all.
-module(ertslab_host_SUITE).

-include_lib("stdlib/include/assert.hrl").

-export([all/0, the_load_is_a_number/1]).

all() -> [the_load_is_a_number].

the_load_is_a_number(_) -> ?assert(binary_to_float(ertslab_host:load()) >= 0).
