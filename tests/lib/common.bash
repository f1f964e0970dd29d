# shellcheck shell=bash
# Loaded by the tests of the folder above: the checkout, and checks of an ended command. bats sets status, output and
# lines.
# shellcheck disable=SC2154

TOP=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
export TOP

# The built releases, as listed in otp_patches/releases: the default one and the newest.
# shellcheck source=otp_patches/releases.sh
source "$TOP/otp_patches/releases.sh"
# shellcheck disable=SC2034  # for the tests
{
    DEFAULT_OTP=$(default_release)
    NEWEST_OTP=$(newest_release)
    DEFAULT_ROOT=$TOP/build/otp-$DEFAULT_OTP
    NEWEST_ROOT=$TOP/build/otp-$NEWEST_OTP
}

# build_cache: the folder of the build cache.
build_cache() { echo "${ERTSLAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ertslab}"; }

# need_two_releases: skips a test that needs an older and a newer release.
need_two_releases() { [[ $DEFAULT_OTP != "$NEWEST_OTP" ]] || skip "one release alone is built"; }

ertslab() { run "$TOP/ertslab" "$@"; }

# ends STATUS TEXT: checks the status and the text, and that there is no stack trace.
ends() {
    [ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }
    [[ $output == *"$2"* ]] || { echo "no '$2' in: $output"; return 1; }
    [[ $output != *"defect in ertslab"* && $output != *"{error,"* && $output != *"escript: exception"* ]]
}

# refused STATUS TEXT: the same, for output of one line.
refused() {
    ends "$@"
    [ "${#lines[@]}" -eq 1 ] || { echo "more than a line: $output"; return 1; }
}

# The number of runs in a folder of results; 0 if it has none.
runs_in() { { grep -s '"type":"run"' "$1/samples.jsonl" || true; } | wc -l; }

# comes FILE: waits half a minute for a file that a node writes when it is ready.
comes() {
    for _ in {1..300}; do
        [ ! -e "$1" ] || return 0
        sleep 0.1
    done
    return 1
}

# valid_summary DIR: its summary conforms to doc/summary.schema.json. (The Python module is a Debian package, so
# Debian's Python runs.)
valid_summary() {
    /usr/bin/python3 -c 'import json, jsonschema, sys
jsonschema.validate(*(json.load(open(file)) for file in sys.argv[1:]))' "$1/summary.json" "$TOP/doc/summary.schema.json"
}

# hide TOOL: a PATH with every program except that tool.
hide() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    ln -sf /usr/bin/* "$BATS_TEST_TMPDIR/bin"
    ln -sf /bin/* "$BATS_TEST_TMPDIR/bin"
    rm -f "$BATS_TEST_TMPDIR/bin/$1"
    PATH=$BATS_TEST_TMPDIR/bin
}
