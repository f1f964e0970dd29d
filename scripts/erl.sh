#!/usr/bin/env bash
# Compiles the Erlang applications with the OTP that was built.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

usage() {
    cat <<'USAGE'
Usage: ./build.sh erl

Compiles the Erlang applications of erl_src into build/erl, with rebar3 on the
OTP that './build.sh otp' built.
USAGE
}

compile() {
    cd "$TOP/erl_src"
    on_own_otp rebar3 compile
    on_own_otp rebar3 as oldest compile
}

main() {
    case ${1-} in
        '') ;;
        -h | --help) usage; exit 0 ;;
        *) misuse "unknown option '$1'" ;;
    esac
    need rebar3 rebar3
    newest_root >/dev/null
    open_log
    on_own_otp rebar3 --version >>"$LOG" 2>&1 ||
        fail "this rebar3 does not run on the OTP in $(newest_root) (its own words are in $LOG); './build.sh otp' builds OTP $DEFAULT_OTP, on which it does."
    step "Compiling the Erlang applications" 15 compile
}

main "$@"
