# Sourced by the scripts of the folder above: places, messages, logged steps.
# shellcheck shell=bash

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$TOP/build
# Where the environment names no home, bash knows that of the account.
[[ -n ${HOME-} ]] || { unset HOME; export HOME=~; }
CACHE=${ERTSLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ertslab}
SCRIPT=$(basename "$0" .sh)
DEFAULT_OTP=27

say() { printf '%s\n' "$*"; }

# fail MESSAGE: something went wrong; one sentence, exit status 1.
fail() {
    printf 'ertslab %s: %s\n' "$SCRIPT" "$*" >&2
    exit 1
}

# misuse MESSAGE: the words of the call are off; one sentence, exit status 2.
misuse() {
    printf "ertslab %s: %s (see './build.sh %s --help')\n" "$SCRIPT" "$*" "$SCRIPT" >&2
    exit 2
}

# writable_dir DIR: make DIR, or say that it cannot be written.
writable_dir() {
    if ! mkdir -p "$1" 2>/dev/null || [[ ! -w $1 ]]; then
        fail "cannot write to $1; make it writable or choose another place (ERTSLAB_CACHE moves the build cache)."
    fi
}

# keep_file FILE AS: a copy in the cache; a half-written one never bears the final name.
keep_file() {
    if ! cp "$1" "$2.part"; then
        rm -f "$2.part"
        fail "cannot write $2; make room there or choose another place (ERTSLAB_CACHE moves the build cache)."
    fi
    mv "$2.part" "$2"
}

# open_log: later steps append to $LOG.
open_log() {
    writable_dir "$BUILD/log"
    LOG=$BUILD/log/$SCRIPT-$(date +%Y%m%d-%H%M%S).log
    : >"$LOG" || fail "cannot write the log $LOG."
}

# lock_cache: one build at a time uses the cache; the lock ends with the script,
# and holds for the scripts that it calls.
lock_cache() {
    [[ ${ERTSLAB_LOCKED-} != "$CACHE" ]] || return 0
    [[ $CACHE == /* && $CACHE != *[[:space:]]* ]] ||
        fail "OTP cannot be built in '$CACHE'; have ERTSLAB_CACHE name a place from the root on, without blanks."
    writable_dir "$CACHE"
    exec 9>"$CACHE/lock"
    if ! flock -n 9; then
        say "Another build is using $CACHE; waiting for it to finish."
        flock 9
    fi
    export ERTSLAB_LOCKED=$CACHE
}

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# show_progress LABEL ELAPSED ESTIMATE: a live line on a terminal, elsewhere a line every half minute.
show_progress() {
    local text
    text="$1  $(minutes "$2") of about $(minutes "$3")"
    if [[ -t 1 ]]; then
        printf '\r\033[K%s' "$text"
    elif (($2 > 0 && $2 % 30 == 0)); then
        say "$text"
    fi
}

# step LABEL SECONDS COMMAND...: run COMMAND with its output in the log, showing progress against the estimate.
# Its shell holds the cache's lock, so that no other build begins where a killed one still works; what
# it starts does not, since a compile server stays for a while.
step() {
    local label=$1 estimate=$2 started=$SECONDS shown=-1 pid status=0
    shift 2
    printf '== %s\n' "$label" >>"$LOG"
    set -m # a process group of its own, so that all of the step can be stopped
    ("$@" 9>&-; exit) >>"$LOG" 2>&1 </dev/null &
    pid=$!
    set +m
    # shellcheck disable=SC2064  # the pid of now is meant
    trap "kill -- -$pid 2>/dev/null; exit 130" INT TERM HUP
    while kill -0 "$pid" 2>/dev/null; do
        if ((SECONDS - started != shown)); then
            shown=$((SECONDS - started))
            show_progress "$label" "$shown" "$estimate"
        fi
        sleep 0.2
    done
    wait "$pid" || status=$?
    trap - INT TERM HUP
    [[ ! -t 1 ]] || printf '\r\033[K'
    if ((status != 0)); then
        step_failed "$label"
    fi
    say "$label: done in $(minutes $((SECONDS - started)))"
}

step_failed() {
    {
        say "The last lines of the log:"
        tail -n 20 "$LOG" | cut -c1-160 | sed 's/^/  | /'
    } >&2
    fail "$1 failed; the whole log is $LOG."
}

# need COMMAND PACKAGE: a missing tool is named with the package that brings it.
need() {
    command -v "$1" >/dev/null 2>&1 ||
        fail "$1 is missing; './build.sh deps' installs it (Debian package $2)."
}

sha256_of() { sha256sum "$@" | cut -d' ' -f1; }

# short_key: the first 16 hex digits of the SHA-256 of standard input.
short_key() { sha256sum | cut -c1-16; }

# newest_root: the OTP root that the project's own programs run on: the default release, or the only one there is.
newest_root() {
    local root
    for root in "$BUILD/otp-$DEFAULT_OTP" "$BUILD"/otp-[0-9]*; do
        if [[ -f $root/manifest.json ]]; then
            printf '%s\n' "$root"
            return
        fi
    done
    fail "no Erlang/OTP is built yet; run './build.sh otp'."
}

# on_own_otp COMMAND...: on the OTP that was built, and with rebar3's files inside
# the clone: an analysis kept for all projects names the files of another root.
on_own_otp() {
    PATH=$(newest_root)/bin:$PATH REBAR_BASE_DIR=$BUILD/erl REBAR_CACHE_DIR=$BUILD/rebar3 "$@"
}
