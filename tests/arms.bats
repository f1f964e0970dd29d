#!/usr/bin/env bats
# The arms of a comparison, measured: other Erlangs, flags, code and expressions. The wrong ways to write them are in
# ertslab_compare_SUITE.

load lib/common

setup_file() {
    # An Erlang that this checkout did not build, given as a folder. One of its own roots serves as such.
    export OTHER=$BATS_FILE_TMPDIR/other
    mkdir -p "$OTHER/bin"
    ln -s "$NEWEST_ROOT/bin/erl" "$OTHER/bin/erl"
}

setup() { OUT=$BATS_TEST_TMPDIR/out; }

quick() { ertslab compare "$@" --quick --accept-host --out "$OUT"; }

arms_of() { python3 -c 'import json,sys; [print(a["label"]) for a in json.load(open(sys.argv[1]))["arms"]]' "$OUT/session.json"; }

@test "an Erlang that was built elsewhere is named by its folder or its erl" {
    quick process_memory --param processes=1000 --vm "$OTHER,stock@$DEFAULT_OTP,$OTHER/bin/erl"
    ends 0 "$OTHER again"
    [[ $output == *"$OTHER/bin/erl is the same as $OTHER"* ]]
    [ "$(arms_of | wc -l)" -eq 4 ]
    grep -q '"made"' "$OUT/session.json"
    grep -q "compiled by" "$OUT/report.html"
    run grep -c "$TOP" "$OUT/session.json"
    [ "$status" -eq 1 ]
}

@test "an Erlang of the oldest release runs experiments" {
    command -v /usr/bin/erl || skip "no Erlang of the distribution is here"
    quick length --param cells=1000 --vm "/usr,stock@$DEFAULT_OTP"
    ends 0 "/usr again"
}

# A heap of 1,000 words is larger than stock's.
waiting_takes_more() {
    python3 - "$OUT/summary.json" <<'PY'
import json, sys
rows = [r for c in json.load(open(sys.argv[1]))["cases"] for r in c["rows"] if r["label"].startswith(("stock +", "stock -"))]
waiting, = [r["ratio"]["estimate"] for r in rows if r["metric"] == "waiting"]
assert waiting > 2, waiting
PY
}

@test "flags make an arm, and reach the emulator" {
    quick process_memory --param processes=1000 --vm stock --flags "+hms 1000"
    ends 0 "stock +hms 1000"
    [ "$(arms_of)" = $'stock\nstock_copy\nstock +hms 1000' ]
    grep -q '"flags":\["+hms","1000"\]' <(tr -d ' \n' <"$OUT/session.json")
    waiting_takes_more
}

@test "flags may begin with a dash, and reach the emulator" {
    echo "+hms 1000" >"$BATS_TEST_TMPDIR/flags"
    quick process_memory --param processes=1000 --vm stock --flags "-args_file $BATS_TEST_TMPDIR/flags" --no-control
    ends 0 "stock -args_file $BATS_TEST_TMPDIR/flags"
    waiting_takes_more
}

# answer N CODE: a module that an experiment calls, in a project as rebar3 builds it.
answer() {
    mkdir -p "$BATS_TEST_TMPDIR/$1/_build/default/lib/answer/ebin"
    printf -- '-module(answer).\n-export([answer/0]).\nanswer() -> %s.\n' "$2" >"$BATS_TEST_TMPDIR/answer.erl"
    "${ERLC:-$DEFAULT_ROOT/bin/erlc}" -o "$BATS_TEST_TMPDIR/$1/_build/default/lib/answer/ebin" "$BATS_TEST_TMPDIR/answer.erl"
}

an_experiment() {
    cat >"$BATS_TEST_TMPDIR/exp_answer.erl" <<'ERL'
-module(exp_answer).
-behaviour(ertslab_experiment).
-export([info/0, setup/1, prepare/2, run/2, verify/3, teardown/1]).
-spec info() -> ertslab_experiment:info().
info() ->
    #{title => "an answer", shows => "that code of one's own is compared", origin => "a test",
      vms => [~"stock", ~"stock_copy"], parameters => [], metrics => [#{name => answer, doc => "the answer"}],
      contrasts => [], estimator => typical, rounds => none, run_ms => 0, warm_up => 0, iterations => 1, timeout_ms => 120_000}.
setup(_) -> none.
prepare(_, State) -> State.
run(answer, _) -> {answer:answer(), ok}.
verify(_, ok, _) -> ok.
teardown(_) -> ok.
ERL
}

@test "two builds of a project are compared by an experiment of its own, within a bound or not, and go on only with the same code" {
    answer old 1000
    answer new 2000
    an_experiment
    words=("$BATS_TEST_TMPDIR/exp_answer.erl" --vm "stock@$NEWEST_OTP" --code "old=$BATS_TEST_TMPDIR/old,new=$BATS_TEST_TMPDIR/new")
    quick "${words[@]}" --fail-if "slower 150%"
    ends 0 "2.000"
    [ "$(arms_of)" = $'old\nold again\nnew' ]
    # The same runs, judged once more.
    rm "$OUT/summary.json"
    quick "${words[@]}" --fail-if "slower 2%"
    ends 3 "First result: metric answer: 'new' needs 2.000 times the time of 'old'."
    rm "$OUT/summary.json"
    answer new 3000
    quick "${words[@]}" --fail-if "slower 2%"
    refused 1 "holds another comparison"
}

@test "a flag that the emulator does not know is named" {
    quick estone --param theme=lists --param percent=1 --vm stock --flags "+hmqd sideways"
    ends 1 "stock +hmqd sideways did not end well"
}

@test "expressions are compared" {
    run "$TOP/ertslab" time 'lists:sum(L)' 'lists:foldl(fun(X, S) -> X + S end, 0, L)' --init 'L = lists:seq(1, 1000)' \
        --quick --accept-host --out "$OUT"
    ends 0 "lists:sum(L) again"
    [ "$(arms_of | wc -l)" -eq 3 ]
    run "$TOP/ertslab" time 'lists:seq(1, 1000)' --vm "stock@$DEFAULT_OTP,stock@$NEWEST_OTP" --no-control --quick --accept-host --out "$OUT.2"
    ends 0 "lists:seq(1, 1000) on stock@$NEWEST_OTP"
}

@test "expressions are timed on the oldest release beside a newer one, and compared by what they give" {
    command -v /usr/bin/erl || skip "no Erlang of the distribution is here"
    run "$TOP/ertslab" time '#{a => L, M => [M]}' --init 'L = lists:seq(1, 40), M = maps:from_list([{N, #{{N} => 1.0}} || N <- L])' \
        --vm "/usr,stock@$DEFAULT_OTP" --no-control --quick --accept-host --out "$OUT"
    ends 0 "on stock@$DEFAULT_OTP"
    [[ $output != *"another value"* ]] || { echo "$output"; return 1; }
}

@test "what is pasted with its dot is an expression, and those that give other values are told" {
    run "$TOP/ertslab" time 'length(L).' $'L,\n  lists:sum(L). % another\n' --init $'L = [1, 2].\n%% and\nM = L.\n' \
        --no-control --quick --accept-host --out "$OUT"
    ends 0 "L, lists:sum(L)"
    [[ $output == *"'L, lists:sum(L)' gives another value than 'length(L)'"* ]] || { echo "$output"; return 1; }
    [ "$(arms_of)" = $'length(L)\nL, lists:sum(L)' ]
}

@test "the results of an experiment are compared as terms across releases" {
    command -v /usr/bin/erl || skip "no Erlang of the distribution is here"
    an_experiment
    sed -i 's/{answer:answer(), ok}/{1000, answer:answer()}/; s/verify(_, ok, _)/verify(_, _, _)/' "$BATS_TEST_TMPDIR/exp_answer.erl"
    words=("$BATS_TEST_TMPDIR/exp_answer.erl" --no-control --arm "a=/usr,code=$BATS_TEST_TMPDIR/old")
    ERLC=/usr/bin/erlc
    answer old 'maps:from_list([{N, #{ok => [N, {1.5, <<5:3>>}]}} || N <- lists:seq(1, 100)])'
    quick "${words[@]}" --arm "b=stock@$DEFAULT_OTP,code=$BATS_TEST_TMPDIR/old"
    ends 0 "median"
    answer new 'maps:from_list([{N, #{ok => [N, {1.5, <<4:3>>}]}} || N <- lists:seq(1, 100)])'
    OUT=$OUT.2 quick "${words[@]}" --arm "b=stock@$DEFAULT_OTP,code=$BATS_TEST_TMPDIR/new"
    refused 1 "the arms a and b compute different results of the metric answer, so nothing was timed"
}
