#!/usr/bin/env bats
# OTP's own suites on a variant, and long runs of its native code, cluster and compiler (soak): what the commands
# refuse and report, and that they notice a difference.

load lib/common

setup() {
    STOCK=$BATS_TEST_TMPDIR/stock
}

otp_test() { run "$TOP/build.sh" otp-test "$@"; }

soak() { run "$TOP/build.sh" soak "$@"; }

# plant CASE RESULT: changes the kept result of stock.
plant() {
    python3 - "$STOCK/list_bif_SUITE.json" "$@" <<'PY'
import json, sys
path, case, result = sys.argv[1:]
results = json.load(open(path))
results['cases'][case] = [{'result': result, 'reason': 'planted'}]
json.dump(results, open(path, 'w'))
PY
}

@test "what is no variant, release, emulator, suite or number is misuse" {
    otp_test
    ends 2 "--vm NAME is missing"
    otp_test --vm nobody
    ends 2 "there is no variant 'nobody'; choose from: stock "
    otp_test --vm stock --otp 24
    ends 2 "'24' is not supported"
    otp_test --vm stock --emulator fast
    ends 2 "choose from: opt debug asan arm64"
    otp_test --vm stock --suite list_bif,nothing
    ends 2 "has no suite 'nothing_SUITE'"
    otp_test --vm stock --suite ../list_bif
    ends 2 "has no suite"
    otp_test --vm stock --retries many
    ends 2 "--retries needs a number"
    otp_test --vm stock --terms 0
    ends 2 "--terms needs a number"
    otp_test --vm stock --terms 10 --suite gc
    ends 2 "--terms goes with"
    otp_test --vm
    ends 2 ""
}

@test "a suite of a variant is as on stock, and what its patch adds passes" {
    otp_test --vm speculate --suite list_bif --stock "$STOCK"
    ends 0 "list_bif_SUITE:t_length_layouts: stock absent; here ok"
    [[ $output == *" 0 different from stock, 2 added, "* ]]
    [ -s "$STOCK/list_bif_SUITE.json" ]

    # Stock's kept results are used, and any difference is reported.
    plant list_bif_SUITE:t_length failed
    plant list_bif_SUITE:gone ok
    otp_test --vm speculate --suite list_bif --stock "$STOCK" --retries 0
    ends 1 "list_bif_SUITE:t_length: stock failed; here ok (planted)"
    [[ $output == *"list_bif_SUITE:gone: stock ok; here absent"* ]]
    [[ $output == *" 2 different from stock, "* ]]

    # If stock does not repeat its own result, the case is unsteady and not a difference.
    otp_test --vm speculate --suite list_bif --stock "$STOCK" --retries 1 --json
    [ "$status" -eq 0 ]
    sed -n '/^{/,$p' <<<"$output" | sed '/^}/q' | python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["ok"] and not report["different"], report
assert [row["case"] for row in report["unsteady"]] == ["list_bif_SUITE:gone", "list_bif_SUITE:t_length"], report
assert report["suites"][0]["runs"] == 2, report'
}

@test "the suites that a patch has tests in are run without being named" {
    # shellcheck source=scripts/lib/common.bash
    source "$TOP/scripts/lib/common.bash"
    # shellcheck source=scripts/lib/otp_tests.bash
    source "$TOP/scripts/lib/otp_tests.bash"
    [ -z "$(patched_suites stock)" ]
    [ "$(patched_suites speculate)" = emulator/list_bif ]
    for suite in kernel/inet kernel/disk_log kernel/code kernel/init stdlib/proc_lib emulator/receive; do
        grep -qx "$suite" <(patched_suites by_reference)
    done
}

@test "random terms survive" {
    otp_test --vm speculate --terms 200
    ends 0 "200 random programs left every term as it was, on speculate (opt)"
}

@test "what is no soak, variant, release, emulator or number is misuse" {
    soak nothing
    ends 2 "there is no soak 'nothing'; choose from: drivers nif cluster tls tables copies libraries compiler"
    soak --vm nobody
    ends 2 "there is no variant 'nobody'; choose from: stock "
    soak --otp 24
    ends 2 "'24' is not supported"
    soak --emulator arm64
    ends 2 "choose from: opt debug asan"
    soak --seconds 0
    ends 2 "--seconds needs a number"
    soak --seconds
    ends 2 ""
}

@test "each works for a second, and says what it did and how memory grew" {
    soak --vm tuned --seconds 1
    ends 0 " writes, "
    ends 0 " walks, "
    ends 0 " terms came back, "
    ends 0 " rows were read as they were written, "
    ends 0 " copies were as the terms, "
    ends 0 " calls were answered; loads: "
    ends 0 " bytes a call ("
    ends 0 " modules compile to the same code"
}
