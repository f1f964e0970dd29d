#!/usr/bin/env bats
# Comparisons on another machine: this one, over an sshd of the test's own on loopback.

load lib/common

setup() {
    OUT=$BATS_TEST_TMPDIR/out
    SMALL=(--quick --vm "stock,stock_copy" --param cells=1001 --param value_words=3)
    COUNTED=(spacing --vm "stock,stock_copy" --param cells=1001 --param value_words=3)
    SSHD=$(PATH=$PATH:/usr/sbin command -v sshd)
    start_sshd
}

teardown() {
    stop_sshd
}

start_sshd() {
    local dir=$BATS_TEST_TMPDIR/ssh
    mkdir -p "$dir"
    [ "$EUID" -ne 0 ] || mkdir -p /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f "$dir/host_key"
    ssh-keygen -q -t ed25519 -N '' -f "$dir/user_key"
    cp "$dir/user_key.pub" "$dir/authorized_keys"
    PORT=$((20000 + RANDOM % 12000))
    printf '%s\n' "ListenAddress 127.0.0.1:$PORT" "HostKey $dir/host_key" "PidFile $dir/pid" \
        "AuthorizedKeysFile $dir/authorized_keys" "StrictModes no" "UsePAM no" \
        "PermitRootLogin prohibit-password" >"$dir/sshd_config"
    printf '%s\n' "Host lab nobody-there" "  HostName 127.0.0.1" "  Port $PORT" "  IdentityFile $dir/user_key" \
        "  UserKnownHostsFile $dir/known_hosts" "  StrictHostKeyChecking accept-new" \
        "Host nobody-there" "  ConnectTimeout 2" >"$dir/config"
    "$SSHD" -f "$dir/sshd_config" -E "$dir/log"
    for ((i = 0; i < 100; i++)); do
        [ ! -s "$dir/pid" ] || break
        sleep 0.05
    done
    export ERTSLAB_SSH_CONFIG=$dir/config
}

# Kills the server with all its connections, as when a machine dies.
stop_sshd() {
    [ ! -s "$BATS_TEST_TMPDIR/ssh/pid" ] || kill "$(cat "$BATS_TEST_TMPDIR/ssh/pid")" || true
    pkill -KILL -f -- "^ssh .*-F $BATS_TEST_TMPDIR/ssh/config" || true
}

@test "a comparison runs on the machine that is named" {
    run "$TOP/ertslab" compare "${COUNTED[@]}" --host lab --out "$OUT"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "$(runs_in "$OUT")" -eq 6 ]
    grep -q '"host": *"lab"' "$OUT/session.json"
    [ -s "$OUT/manifest.json" ]
    [ "$(grep -c 'Accepted publickey\|Disconnected from user' "$BATS_TEST_TMPDIR/ssh/log")" -ge 6 ]
}

@test "a machine that dies in mid-run costs that run only" {
    "$TOP/ertslab" compare hibernate "${SMALL[@]}" --host lab --out "$OUT" >"$BATS_TEST_TMPDIR/said" 2>&1 &
    for ((i = 0; i < 600; i++)); do
        [ "$(runs_in "$OUT")" -lt 3 ] || break
        sleep 0.05
    done
    stop_sshd
    status=0
    wait $! || status=$?
    [ "$status" -eq 1 ] || { cat "$BATS_TEST_TMPDIR/said"; return 1; }
    grep -q "lab does not answer any more; what was measured is kept" "$BATS_TEST_TMPDIR/said" || { cat "$BATS_TEST_TMPDIR/said"; return 1; }
    before=$(runs_in "$OUT")
    [ "$before" -ge 3 ]
    [ "$before" -lt 12 ]
    rm -r "$BATS_TEST_TMPDIR/ssh"
    start_sshd
    run "$TOP/ertslab" compare hibernate "${SMALL[@]}" --host lab --out "$OUT"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [[ $output == *"$before of them are done already"* ]]
    [ "$(runs_in "$OUT")" -eq 12 ]
    [ "$(grep -c crashed "$OUT/samples.jsonl")" -eq 0 ]
}

@test "a machine that cannot be reached is named" {
    stop_sshd
    run "$TOP/ertslab" compare hibernate "${SMALL[@]}" --host lab --out "$OUT"
    [ "$status" -eq 1 ]
    [[ $output == "ertslab: lab does not answer"* ]]
    [ "${#lines[@]}" -eq 1 ]
}

@test "a machine without a checkout, and no address, are refused" {
    run "$TOP/ertslab" compare hibernate "${SMALL[@]}" --host lab --host-dir "/nowhere it's" --out "$OUT"
    [ "$status" -eq 1 ]
    [[ $output == "ertslab: lab has no ertslab that is built in /nowhere it's"* ]]
    run "$TOP/ertslab" compare hibernate "${SMALL[@]}" --host "lab two" --out "$OUT"
    [ "$status" -eq 2 ]
    [[ $output == *"'lab two' is not an address"* ]]
    echo "-oProxyCommand=date" >"$BATS_TEST_TMPDIR/fleet"
    run "$TOP/ertslab" compare hibernate "${SMALL[@]}" --fleet "$BATS_TEST_TMPDIR/fleet" --out "$OUT"
    [ "$status" -eq 2 ]
    [[ $output == *"'-oProxyCommand=date' is not an address"* ]]
}

@test "a fleet measures on each machine, and one that is gone does not stop the others" {
    printf '%s\n' '# the fleet' 'lab' '' 'gone.invalid # out of order' >"$BATS_TEST_TMPDIR/fleet"
    run "$TOP/ertslab" compare "${COUNTED[@]}" --fleet "$BATS_TEST_TMPDIR/fleet" --out "$OUT"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
    [[ $output == *"1 of the machines failed (gone.invalid)"* ]]
    [ -s "$OUT/lab/summary.json" ]
    [ -s "$OUT/report.html" ]
    [ ! -e "$OUT/gone.invalid" ]
    sum=$(sha256sum <"$OUT/lab/samples.jsonl")
    run "$TOP/ertslab" compare "${COUNTED[@]}" --fleet "$BATS_TEST_TMPDIR/fleet" --out "$OUT"
    ends 1 "1 of the machines failed (gone.invalid)"
    [[ $output == *"$OUT/lab was measured before"* ]]
    [ "$(sha256sum <"$OUT/lab/samples.jsonl")" = "$sum" ]
}

# Twice as many cells take longer on each machine: beyond the bound, and reported on the page.
@test "a bound holds for a fleet too, and what is beyond it is on the page" {
    echo lab >"$BATS_TEST_TMPDIR/fleet"
    run "$TOP/ertslab" sweep length --vm stock --over cells=10001,100001 --quick --no-control "--fleet=$BATS_TEST_TMPDIR/fleet" "--out=$OUT" --fail-if "slower 50%"
    ends 3 "results are beyond the bound of --fail-if in lab."
    grep -q "cells=100001" "$OUT/report.html"
    run grep -c -- "--fleet" "$OUT/lab/report.html"
    [ "$output" -eq 0 ]
    grep -q -- "--host lab" "$OUT/lab/report.html"
}

@test "an emulator of another release is refused by its machine's name" {
    copy="$BATS_TEST_TMPDIR/there"
    mkdir -p "$copy/build"
    cp -a "$TOP/ertslab" "$copy/"
    cp -al "$DEFAULT_ROOT" "$TOP/build/erl" "$copy/build/" 2>/dev/null || cp -a "$DEFAULT_ROOT" "$TOP/build/erl" "$copy/build/"
    rm "$copy/build/otp-$DEFAULT_OTP/manifest.json"
    sed "s/\"version\": *\"${DEFAULT_OTP}[0-9.]*\"/\"version\": \"$DEFAULT_OTP.0.1\"/" "$DEFAULT_ROOT/manifest.json" >"$copy/build/otp-$DEFAULT_OTP/manifest.json"
    run "$TOP/ertslab" compare hibernate "${SMALL[@]}" --host lab --host-dir "$copy" --out "$OUT"
    [ "$status" -eq 1 ]
    [[ $output == "ertslab: lab has OTP $DEFAULT_OTP.0.1, and here it is"* ]]
}
