#!/usr/bin/env bats
# Profiles by perf and cachegrind of real VMs. What is refused, and what is said of tools that fail, is in ertslab_profile_SUITE.

load lib/common

setup() {
    # The path contains blanks and umlauts in every test.
    OUT="$BATS_TEST_TMPDIR/o ü"
    export LANG=C
}

need_perf() {
    perf stat -e task-clock true 2>/dev/null || skip "perf is not permitted here"
}

need_interpreter() {
    compgen -G "$DEFAULT_ROOT/erts-*/bin/beam.stock.emu" >/dev/null ||
        skip "the interpreter is not built (./build.sh otp --interpreter stock,prefetch)"
}

@test "a missing interpreter is named with the command that builds it" {
    copy=$BATS_TEST_TMPDIR/copy
    mkdir -p "$copy/build"
    cp -al "$DEFAULT_ROOT" "$TOP/build/erl" "$copy/build/" 2>/dev/null || cp -a "$DEFAULT_ROOT" "$TOP/build/erl" "$copy/build/"
    cp "$TOP/ertslab" "$copy/"
    rm -f "$copy/build/otp-$DEFAULT_OTP"/erts-*/bin/beam.*.emu
    run "$copy/ertslab" cachegrind hibernate --vm stock --out "$OUT"
    ends 1 "'./build.sh otp --otp $DEFAULT_OTP --interpreter stock' builds it"
}

@test "perf names functions of the emulator and of Erlang, on two VMs" {
    need_perf
    "$TOP/ertslab" perf hibernate --vm stock,prefetch --param cells=100001 --rounds 20 --json \
        --out "$OUT" >"$BATS_TEST_TMPDIR/json"
    run python3 - "$BATS_TEST_TMPDIR/json" <<'PYTHON'
import json, sys
profile = json.load(open(sys.argv[1]))
for vm in profile["vms"]:
    names = [f["function"] for f in vm["hottest"]]
    assert "erts_trapping_length_1" in names, names
    assert "$exp_hibernate:sum/2" in names, names
    assert vm["counters"]["task-clock"] > 0, vm["counters"]
assert any("not a timing" in note for note in profile["notes"])
PYTHON
    ends 0 ""
    grep -q '^erts_sched;.*[$]exp_hibernate:serve/1;.*erts_trapping_length_1 [0-9]*$' "$OUT/stock.folded"
    [ "$(grep -c '^erts_sched_[0-9]' "$OUT/stock.folded")" -eq 0 ]
    grep -q 'erts_trapping_length_1 [0-9]* [0-9]*$' "$OUT/difference.folded"
    for graph in stock prefetch difference; do
        grep -q 'erts_trapping_length_1' "$OUT/$graph.svg"
    done
}

@test "cachegrind counts more instructions for length/1 where it prefetches" {
    need_interpreter
    ertslab cachegrind hibernate --vm stock,prefetch --runs 2 --param cells=30001 --out "$OUT"
    ends 0 "erts_trapping_length_1"
    [[ $output == *"Fewer than 3 runs"* ]]
    run python3 - "$OUT/summary.json" <<'PYTHON'
import json, sys
summary = json.load(open(sys.argv[1]))
counts = {f["function"]: f["counts"] for f in summary["functions"]}["erts_trapping_length_1"]
of = lambda event: [vm[summary["events"].index(event)] for vm in counts]
stock, prefetch = of("instructions")
assert 30001 * 4 <= stock < prefetch, (stock, prefetch)
# The list is walked twice, with one branch per cell that only goes the other way at the list's end. So nearly none is
# mispredicted.
for branches, mispredictions in zip(of("branches"), of("mispredictions")):
    assert 30001 * 2 <= branches < stock, branches
    assert 0 < mispredictions < 30001, mispredictions
PYTHON
    ends 0 ""
}

@test "cachegrind counts an experiment whose parameters are names" {
    need_interpreter
    ertslab cachegrind gc_shapes --vm stock --runs 2 --param shape=ints --param size=2000 --out "$OUT"
    ends 0 "shape=ints"
    run python3 - "$OUT/summary.json" <<'PYTHON'
import json, sys
summary = json.load(open(sys.argv[1]))
assert summary["params"] == {"shape": "ints", "size": 2000}, summary["params"]
assert "erts_garbage_collect_nobump" in [f["function"] for f in summary["functions"]]
PYTHON
    ends 0 ""
}
