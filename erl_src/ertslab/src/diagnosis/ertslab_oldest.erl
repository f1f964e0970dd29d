%% @doc Where code lies that is carried to nodes that are older than this one.
-module(ertslab_oldest).

-export([applications/0]).

%% @doc The folder of the applications compiled for older nodes, as an option of `diagnose'. Without a built OTP there is none, because then
%% all code was compiled by the oldest Erlang available.
-spec applications() -> #{oldest => file:filename()}.
applications() ->
    Oldest = ertslab_paths:build("erl/oldest/lib"),
    case ertslab_paths:is_checkout() andalso filelib:is_dir(Oldest) of
        true -> #{oldest => Oldest};
        false -> #{}
    end.
