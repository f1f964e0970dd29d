# Sourced by the scripts of the folder above: paths, messages, logged steps.
# shellcheck shell=bash

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$TOP/build
# If HOME is not set, bash uses the home of the account.
[[ -n ${HOME-} ]] || { unset HOME; export HOME=~; }
CACHE=${ERTSLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ertslab}
SCRIPT=$(basename "$0" .sh)
# The oldest release for everything that runs without a built OTP.
# shellcheck disable=SC2034  # for those who source this
OLDEST_OTP=25

say() { printf '%s\n' "$*"; }

# fail MESSAGE: reports a failure in one sentence; exit status 1.
fail() {
    printf 'ertslab %s: %s\n' "$SCRIPT" "$*" >&2
    exit 1
}

# misuse MESSAGE: reports wrong arguments in one sentence; exit status 2.
misuse() {
    printf "ertslab %s: %s (see './build.sh %s --help')\n" "$SCRIPT" "$*" "$SCRIPT" >&2
    exit 2
}

# writable_dir DIR: creates DIR, or reports that it is not writable.
writable_dir() {
    if ! mkdir -p "$1" 2>/dev/null || [[ ! -w $1 ]]; then
        fail "cannot write to $1; make it writable or choose another place (ERTSLAB_CACHE moves the build cache)."
    fi
}

# existing_part PATH: the longest part of it that is there.
existing_part() {
    local path=$1
    while [[ ! -e $path ]]; do path=$(dirname "$path"); done
    printf '%s\n' "$path"
}

# free_mb PATH: what is free on the disk that has it, or would have it.
free_mb() { df --output=avail -BM "$(existing_part "$1")" | tail -n 1 | tr -dc 0-9; }

# keep_file FILE AS: copies it into the cache; an incomplete copy never has the final name.
keep_file() {
    if ! cp "$1" "$2.part"; then
        rm -f "$2.part"
        fail "cannot write $2; make room there or choose another place (ERTSLAB_CACHE moves the build cache)."
    fi
    mv "$2.part" "$2"
}

# own_temporary: temporary files go into a folder that goes with this shell, however it ends. What is mounted there stays.
own_temporary() {
    TMPDIR=$(mktemp -d)
    export TMPDIR
    trap 'rm -rf --one-file-system "$TMPDIR"' EXIT
}

# open_log: later steps append to $LOG.
open_log() {
    writable_dir "$BUILD/log"
    LOG=$BUILD/log/$SCRIPT-$(date +%Y%m%d-%H%M%S).log
    : >"$LOG" || fail "cannot write the log $LOG."
}

# lock_cache: only one build at a time uses the cache. The lock ends with the script, and covers the scripts that it
# calls.
lock_cache() {
    [[ ${ERTSLAB_LOCKED-} != "$CACHE" ]] || return 0
    [[ $CACHE == /* && $CACHE != *[[:space:]]* ]] ||
        fail "OTP cannot be built in '$CACHE'; set ERTSLAB_CACHE to an absolute path without blanks."
    writable_dir "$CACHE"
    exec 9>"$CACHE/lock"
    if ! flock -n 9; then
        say "Another build is using $CACHE; waiting for it to finish."
        flock 9
    fi
    export ERTSLAB_LOCKED=$CACHE
}

# lock_installs: the same for the builds of install.sh, which use none of the others. Each of the two locks ends the other.
lock_installs() { CACHE=$CACHE/install lock_cache; }

minutes() { printf '%d:%02d' $(($1 / 60)) $(($1 % 60)); }

# The actual and the estimated duration of this script's finished steps, in seconds.
STEPS_TOOK=0
STEPS_ESTIMATED=0

# as_before ESTIMATE: the estimate, scaled up if earlier steps took longer than estimated. It is never scaled down:
# earlier steps may have been fast only because of the compiler's cache. Steps of a few seconds are not enough
# evidence.
as_before() {
    if ((STEPS_ESTIMATED >= 10 && STEPS_TOOK > STEPS_ESTIMATED)); then
        echo $(($1 * STEPS_TOOK / STEPS_ESTIMATED))
    else
        echo "$1"
    fi
}

# show_progress LABEL ELAPSED ESTIMATE: a live line on a terminal, otherwise a line every half minute.
show_progress() {
    local text
    text="$1  $(minutes "$2") of about $(minutes "$3")"
    (($2 <= $3)) || text="$1  $(minutes "$2"), longer than the $(minutes "$3") that were expected; the machine may be busy"
    if [[ -t 1 ]]; then
        printf '\r\033[K%s' "$text"
    elif (($2 > 0 && $2 % 30 == 0)); then
        say "$text"
    fi
}

# end_group PID LABEL: tells this process group to end, and waits for it: an installation of packages is not cut short.
end_group() {
    kill -- "-$1" 2>/dev/null || true
    for _ in {1..10}; do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.1
    done
    say "$2 cannot be interrupted; waiting for the end." >&2
    wait "$1" || true
}

# step LABEL SECONDS COMMAND...: runs COMMAND with its output in the log, and shows progress against the estimate. Its
# shell holds the cache's lock, so that no other build starts while a killed one is still working. Processes that it
# starts do not, because a compile server stays for a while.
step() {
    local label=$1 usual=$2 started=$SECONDS shown=-1 pid status=0 estimate
    estimate=$(as_before "$usual")
    shift 2
    printf '== %s\n' "$label" >>"$LOG"
    set -m # a process group of its own, so that all of the step can be stopped
    ("$@" 9>&-; exit) >>"$LOG" 2>&1 </dev/null &
    pid=$!
    set +m
    trap 'end_group "$pid" "$label"; exit 130' INT TERM HUP
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
    STEPS_ESTIMATED=$((STEPS_ESTIMATED + usual)) STEPS_TOOK=$((STEPS_TOOK + SECONDS - started))
    say "$label: done in $(minutes $((SECONDS - started)))"
}

step_failed() {
    {
        say "The last lines of the log:"
        tail -n 20 "$LOG" | cut -c1-160 | sed 's/^/  | /'
    } >&2
    fail "$1 failed; the whole log is $LOG."
}

# need COMMAND PACKAGE: a missing command is reported with the package that contains it.
need() {
    command -v "$1" >/dev/null 2>&1 ||
        fail "$1 is missing; './build.sh deps' installs it (Debian package $2)."
}

# away COMMAND...: runs erlc, whose files have absolute names, in the root folder. In a folder /a/b, erlc takes its file
# /a/bc/x.erl for c/x.erl.
away() { (cd / && "$@"); }

sha256_of() { sha256sum "$@" | cut -d' ' -f1; }

# short_key: the first 16 hex digits of the SHA-256 of standard input.
short_key() { sha256sum | cut -c1-16; }

# own_root: the OTP root on which the project's own programs run: that of the oldest built release.
own_root() {
    local root
    for root in "$BUILD"/otp-[0-9]*; do
        if [[ -f $root/manifest.json ]]; then
            printf '%s\n' "$root"
            return
        fi
    done
    fail "no Erlang/OTP is built yet; run './build.sh otp'."
}

has_root() { (own_root) >/dev/null 2>&1; }

# is_part ROOT: whether it has only the part of OTP that the demo builds.
is_part() { [[ -f $1/first_part ]]; }

# installed_release ERL: the release of an installed Erlang, or nothing if it does not start.
installed_release() { "$1" -noshell -boot no_dot_erlang -eval 'io:put_chars(erlang:system_info(otp_release)), halt().' 2>/dev/null || true; }

# on_own_otp COMMAND...: runs it on the built OTP, with rebar3's files inside the clone: an analysis shared by all
# projects would name the files of another root.
on_own_otp() {
    PATH=$(own_root)/bin:$PATH REBAR_BASE_DIR=$BUILD/erl REBAR_CACHE_DIR=$BUILD/rebar3 "$@"
}
