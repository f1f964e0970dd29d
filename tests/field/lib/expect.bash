# Sourced by tests/field/run: what a case expects of the tool, compared with what the tool says.
# shellcheck shell=bash disable=SC2154

# holding WHEN: each 'holds' of the case is true on the node.
holding() {
    local line value
    while read -r line; do
        value=$(ask "$line" </dev/null) || true
        [[ $value == true ]] || wrong "$1 the node does not have its problem: $line gives $(tail -c 400 <<<"$value")"
    done < <(sed -n 's/^holds //p' "$HERE/expected")
}

verify_case() {
    holding "At once"
    sleep 5
    holding "After 5 s"
    sleep 25
    holding "After 30 s"
}

# expect_case: each 'command' of the case with the lines that follow it, up to the next one.
expect_case() {
    local line
    holding "Before the look"
    BLOCK=()
    while read -r line; do
        case $line in
            command\ *) expect_block; BLOCK=("$line") ;;
            status\ * | says\ * | never\ * | finds\ * | may\ * | nothing_else) BLOCK+=("$line") ;;
            '' | \#* | holds\ * | flags\ * | slow) ;;
            *) wrong "expected has a line of no known kind: $line" ;;
        esac
    done <"$HERE/expected"
    expect_block
    holding "After the look"
}

wanted() { printf '%s\n' "${BLOCK[@]}" | grep -qE "^($1)( |$)"; }

# The tool looks once for those who read text, and once for machines, if something is expected of both.
expect_block() {
    ((${#BLOCK[@]})) || return 0
    local words
    mapfile -t words < <(xargs printf '%s\n' <<<"${BLOCK[0]#command }")
    words=("${words[@]//\$WORK/$WORK}")
    words=("${words[@]//\$BIN/${BIN%/bin}}")
    [[ ! ${words[0]} =~ ^(diagnose|advise)$ ]] || words=("${words[0]}" --node "$NODE" --cookie "$COOKIE" "${words[@]:1}")
    if ! wanted 'finds|nothing_else' || { [[ $once == no ]] && wanted 'says|never'; }; then
        tool "${words[@]}"
        expect_text
    fi
    if wanted 'finds|nothing_else'; then
        tool "${words[@]}" --json
        expect_findings
    fi
}

# tool WORD...: sets SAID and its lines joined, TEXT. A status that is not expected is wrong; what was said is looked at all
# the same.
tool() {
    local status=0 expected
    timeout 180 "$TOP/ertslab" "$@" >"$WORK/said" 2>"$WORK/said_of_errors" </dev/null &
    TOOL_PID=$!
    wait "$TOOL_PID" || status=$?
    TOOL_PID=
    SAID=$(cat "$WORK/said" "$WORK/said_of_errors")
    TEXT=$(tr '\n' ' ' <<<"$SAID" | tr -s ' ')
    expected=$(printf '%s\n' "${BLOCK[@]}" | sed -n 's/^status //p')
    [[ " $expected " == *" $status "* ]] ||
        wrong "ertslab ${*//$COOKIE/COOKIE} ended with status $status, not $expected:" "$SAID"
}

expect_text() {
    local line
    for line in "${BLOCK[@]}"; do
        if [[ $line == says\ * && ! $TEXT =~ ${line#says } ]]; then
            wrong "it does not say '${line#says }':" "$SAID"
        elif [[ $line == never\ * && $TEXT =~ ${line#never } ]]; then
            wrong "it says '${BASH_REMATCH[0]}':" "$SAID"
        fi
    done
}

# found KIND[|KIND...] REGEX: whether a finding of one of these kinds is of such a process or group.
found() {
    local kind subject
    while IFS=$'\t' read -r kind subject; do
        [[ "|$1|" == *"|$kind|"* && $subject =~ $2 ]] && return 0
    done <<<"$FINDINGS"
    return 1
}

# named_in KIND SUBJECT: whether a line of the case has named such a finding.
named_in() {
    local line word kind regex
    for line in "${BLOCK[@]}"; do
        read -r word kind regex <<<"$line"
        [[ $word =~ ^(finds|may)$ && "|$kind|" == *"|$1|"* && $2 =~ $regex ]] && return 0
    done
    return 1
}

expect_findings() {
    local line kind regex subject
    FINDINGS=$(python3 -B "$FIELD/lib/findings.py" <"$WORK/said" 2>&1) || { wrong "its JSON is not as agreed: $FINDINGS" "$SAID"; return; }
    for line in "${BLOCK[@]}"; do
        read -r _ kind regex <<<"$line"
        if [[ $line == finds\ * ]] && ! found "$kind" "$regex"; then
            wrong "it does not find $kind of '$regex', but:" "${FINDINGS:-nothing}"
        fi
    done
    wanted nothing_else || return 0
    while IFS=$'\t' read -r kind subject; do
        [[ -z $kind ]] || named_in "$kind" "$subject" || wrong "it finds what is not there: $kind of $subject"
    done <<<"$FINDINGS"
}
