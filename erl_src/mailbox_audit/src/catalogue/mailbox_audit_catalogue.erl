%% @doc The calls of OTP that are timed by default. Beside each that
%% scans stands its cause: which receive of which function, and why no marker
%% of a fresh reference shortens it.
-module(mailbox_audit_catalogue).

-export([entries/0]).

%% @doc All entries.
-spec entries() -> [mailbox_audit_timed:entry()].
entries() ->
    mailbox_audit_catalogue_files:entries() ++ mailbox_audit_catalogue_sockets:entries()
        ++ mailbox_audit_catalogue_processes:entries().
