#!/usr/bin/env bash
# Compiles the Erlang applications with the built OTP. Without one, it compiles those that need none with the
# system's.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=otp_patches/releases.sh
source "$TOP/otp_patches/releases.sh"

usage() {
    cat <<'USAGE'
Example: ./build.sh erl

Usage: ./build.sh erl [--installed]

Compiles the Erlang applications of erl_src into build/erl, with rebar3 on the
OTP that './build.sh otp' built. If no OTP is built, it compiles only the commands
that need none (diagnose, try, advise, audit, time, compare, report, doctor), on
the installed Erlang.
  --installed  does the latter even if an OTP is built
USAGE
}

# other_applications FOLDER: links to the applications of the installed Erlang that the built OTP lacks, as long as it is
# the part of the demo. rebar3 calls some of them. (Debian's rebar3 depends on an installed Erlang.)
other_applications() {
    local root lib app
    root=$(own_root)
    mkdir -p "$1"
    command -v erl >/dev/null || return 0
    lib=$(erl -noshell -boot no_dot_erlang -eval 'io:put_chars(code:lib_dir()), halt().')
    for app in "$lib"/*/; do
        app=$(basename "$app")
        [[ -d $root/lib/${app%-*} ]] || compgen -G "$root/lib/${app%-*}-*" >/dev/null || ln -s "$lib/$app" "$1/$app"
    done
}

# rebar3_on_own_otp ARGUMENTS...
rebar3_on_own_otp() { ERL_LIBS=$BUILD/other_applications on_own_otp rebar3 "$@"; }

rebar3_runs() { rebar3_on_own_otp --version >>"$LOG" 2>&1; }

compile() {
    cd "$TOP/erl_src"
    rebar3_on_own_otp compile
    rebar3_on_own_otp as oldest compile
}

compile_without_otp() {
    cd "$TOP/erl_src"
    REBAR_CONFIG=escript.config REBAR_BASE_DIR=$BUILD/erl REBAR_CACHE_DIR=$BUILD/rebar3 rebar3 compile
}

# start_anew RELEASE: removes what another release compiled, so that the two are not mixed.
start_anew() {
    local kept=$BUILD/erl/compiled_by
    [[ -f $kept && $(<"$kept") == "$1" ]] || rm -rf "$BUILD/erl"
    mkdir -p "$BUILD/erl"
    printf '%s\n' "$1" >"$kept"
}

with_otp() {
    rm -rf "$BUILD/other_applications"
    # A complete OTP has all that rebar3 needs, and no other Erlang is started.
    rebar3_runs || { other_applications "$BUILD/other_applications" && rebar3_runs; } ||
        fail "this rebar3 does not run on the OTP in $(own_root) (its output is in $LOG); './build.sh otp' builds OTP $(default_release), on which it does."
    start_anew "$(basename "$(own_root)")$(! is_part "$(own_root)" || echo , first part)"
    step "Compiling the Erlang applications" 15 compile
}

without_otp() {
    local release otherwise="run './build.sh otp', and './build.sh erl'"
    command -v erl >/dev/null || fail "no Erlang is installed; $otherwise."
    release=$(installed_release erl)
    ((release >= OLDEST_OTP)) || fail "the installed Erlang is OTP $release, older than the oldest supported one, $OLDEST_OTP; $otherwise."
    start_anew "installed-$release"
    step "Compiling what needs no OTP that was built" 15 compile_without_otp
    has_root || say "diagnose, try, advise, audit, time, compare, report and doctor run on the installed OTP $release; the other commands need './build.sh demo'."
}

main() {
    local installed=no
    case ${1-} in
        '') ;;
        --installed) installed=yes ;;
        -h | --help) usage; exit 0 ;;
        *) misuse "unknown option '$1'" ;;
    esac
    need rebar3 rebar3
    open_log
    if [[ $installed == no ]] && has_root; then
        with_otp
    else
        without_otp
    fi
}

main "$@"
