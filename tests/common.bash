# shellcheck shell=bash
# Loaded by the tests of this folder: the checkout, and what an ended command is asked. bats sets
# status, output and lines.
# shellcheck disable=SC2154

TOP=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
export TOP

ertslab() { run "$TOP/ertslab" "$@"; }

# ends STATUS TEXT: with that status and text, and no trace of a stack.
ends() {
    [ "$status" -eq "$1" ] || { echo "status $status: $output"; return 1; }
    [[ $output == *"$2"* ]] || { echo "no '$2' in: $output"; return 1; }
    [[ $output != *"defect in ertslab"* && $output != *"{error,"* && $output != *"escript: exception"* ]]
}

# refused STATUS TEXT: the same, in one line.
refused() {
    ends "$@"
    [ "${#lines[@]}" -eq 1 ] || { echo "more than a line: $output"; return 1; }
}

# How many runs a folder of results holds; 0 where there is none.
runs_in() { { grep -s '"type":"run"' "$1/samples.jsonl" || true; } | wc -l; }

# hide TOOL: a PATH on which everything but that tool is found.
hide() {
    local dir file
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    for dir in /usr/bin /bin; do
        for file in "$dir"/*; do
            [[ ${file##*/} == "$1" ]] || ln -sf "$file" "$BATS_TEST_TMPDIR/bin/" 2>/dev/null
        done
    done
    PATH=$BATS_TEST_TMPDIR/bin
}
