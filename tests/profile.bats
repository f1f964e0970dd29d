#!/usr/bin/env bats
# Profiles by perf and cachegrind, and the errors if a tool, a permission or an emulator is missing.

load lib/common

setup() {
    # The path contains blanks and umlauts in every test.
    OUT="$BATS_TEST_TMPDIR/o ü"
    STUBS=$BATS_TEST_TMPDIR/stubs
    export LANG=C
}

# without_tools COMMAND...: runs it with only those programs in PATH that the launchers need.
without_tools() {
    local tool
    mkdir -p "$STUBS"
    for tool in bash sh env dirname basename readlink sed mktemp rm; do
        ln -s "$(command -v "$tool")" "$STUBS/$tool"
    done
    run env PATH="$STUBS" "$@"
}

# stub NAME WORDS STATUS: a tool that only reports an error.
stub() {
    mkdir -p "$STUBS"
    printf '#!/bin/sh\necho "%s" >&2\nexit %s\n' "$2" "$3" >"$STUBS/$1"
    chmod +x "$STUBS/$1"
}

need_perf() {
    perf stat -e task-clock true 2>/dev/null || skip "perf is not permitted here"
}

need_interpreter() {
    compgen -G "$DEFAULT_ROOT/erts-*/bin/beam.stock.emu" >/dev/null ||
        skip "the interpreter is not built (./build.sh otp --interpreter stock,prefetch)"
}

@test "both commands answer --help" {
    ertslab perf --help
    ends 0 "--cap-add PERFMON"
    ertslab cachegrind --help
    ends 0 "--interpreter"
}

@test "wrong words are refused" {
    ertslab perf hibernate
    ends 2 "vm"
    ertslab perf fly --vm stock
    ends 2 "there is no experiment 'fly'"
    ertslab perf hibernate --vm fly
    ends 2 "there is no variant 'fly'"
    ertslab perf hibernate --vm stock,stock_copy,prefetch
    ends 2 "one variant is wanted, or two"
    ertslab perf hibernate --vm stock --param cells=1001,1002
    ends 2 "a profile has one case"
    ertslab cachegrind hibernate --vm stock --param fly=1
    ends 2 "there is no parameter 'fly'"
    ertslab cachegrind hibernate --vm stock --runs 1
    ends 2 "--runs 1 is below 2"
}

@test "missing tools are named with what installs them" {
    without_tools "$TOP/ertslab" perf hibernate --vm stock --out "$OUT"
    ends 1 "perf is missing; './build.sh deps' installs it (Debian package linux-perf)"
    [ ! -e "$OUT" ]
}

@test "a missing valgrind is named with what installs it" {
    need_interpreter
    without_tools "$TOP/ertslab" cachegrind hibernate --vm stock --out "$OUT"
    ends 1 "valgrind is missing; './build.sh deps' installs it (Debian package valgrind)"
    [ ! -e "$OUT" ]
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

@test "perf without the right to look says what gives it" {
    stub perf "Error: Access to performance monitoring is limited. perf_event_paranoid is 3" 255
    PATH=$STUBS:$PATH ertslab perf hibernate --vm stock --param cells=1001 --out "$OUT"
    ends 1 "sysctl kernel.perf_event_paranoid=1"
}

@test "a tool that fails leaves its own words" {
    stub perf "something odd" 3
    PATH=$STUBS:$PATH ertslab perf hibernate --vm stock --param cells=1001 --out "$OUT"
    ends 1 "perf failed; its output is in $OUT/perf.log"
    grep -q "something odd" "$OUT/perf.log"
}

@test "a folder with other files is left alone" {
    mkdir "$OUT"
    echo mine >"$OUT/notes"
    ertslab perf hibernate --vm stock --param cells=1001 --out "$OUT"
    ends 1 "holds other files"
    [ "$(ls "$OUT")" = notes ]
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
assert any("no timing" in note for note in profile["notes"])
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
