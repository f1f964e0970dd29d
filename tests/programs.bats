#!/usr/bin/env bats
# Third-party programs: how they are fetched, and the errors if they are missing, do not start or behave differently.

load lib/common

setup() {
    OUT=$BATS_TEST_TMPDIR/out
    COPY=$BATS_TEST_TMPDIR/copy
}

teardown() {
    [ ! -e "$BATS_TEST_TMPDIR/elixir" ] || mv -T "$BATS_TEST_TMPDIR/elixir" "$TOP/build/programs/elixir"
}

# Hides the checkout's Elixir for one test.
without_elixir() {
    [ ! -e "$TOP/build/programs/elixir" ] || mv -T "$TOP/build/programs/elixir" "$BATS_TEST_TMPDIR/elixir"
}

@test "a program that is not known is misuse" {
    run "$TOP/build.sh" programs nothing
    refused 2 "there is no program 'nothing'; there are: ejabberd elixir rabbitmq"
}

@test "a program that was fetched is taken from the cache" {
    run "$TOP/build.sh" programs rabbitmq
    ends 0 "In build/programs: rabbitmq"
    grep -q '^rabbitmq-server ' "$TOP/build/programs/rabbitmq/versions"
    compgen -G "$TOP/build/programs/rabbitmq/usr/lib/rabbitmq/lib/*/plugins/rabbit-*/ebin/rabbit.app"
}

@test "a package with another SHA-256 is not used" {
    mkdir -p "$COPY/erl_src/experiments"
    cp -r "$TOP/build.sh" "$TOP/scripts" "$COPY"
    cp -r "$TOP/erl_src/experiments/priv" "$COPY/erl_src/experiments"
    sed -i 's/^\(elixir | elixir | [^|]*| \)..../\10000/' "$COPY/erl_src/experiments/priv/programs"
    ERTSLAB_CACHE=$BATS_TEST_TMPDIR/cache run "$COPY/build.sh" programs elixir
    ends 1 "is not the file that erl_src/experiments/priv/programs knows"
    [ ! -e "$COPY/build/programs/elixir" ]
}

@test "an experiment whose program was not fetched says how" {
    without_elixir
    ertslab compare elixir --vm stock,stock_copy --otp "$DEFAULT_OTP" --quick --accept-host --out "$OUT"
    refused 1 "elixir is not here; './build.sh programs elixir' fetches it"
}

@test "judges are named, measured, and each that cannot judge is said" {
    without_elixir
    ertslab judges --only nobody --vm stock,stock_copy
    refused 2 "there is no judge 'nobody'; there are: rabbitmq,"
    ertslab judges --only elixir,compile_stdlib --vm stock,stock_copy --otp "$DEFAULT_OTP" --quick --accept-host --out "$OUT"
    ends 1 "elixir: stock did not end well"
    [[ $output == *"compile_stdlib  stock_copy"* ]]
    grep -q "Left out of this report" "$OUT/judges.html"
    python3 -c 'import json, sys; judged = json.load(open(sys.argv[1])); assert [j["name"] for j in judged["judgements"]] == ["compile_stdlib"], judged
assert len(judged["failed"]) == 1' "$OUT/judges.json"
    # The command on the page must exist and start to run.
    call=$(sed -n 's|.*\(./ertslab compare compile_stdlib [^<]*\)<.*|\1|p' "$OUT/judges.html" | head -n 1)
    [[ $call == *"--param module=gb_sets,lists"* && $call != *"--only"* ]] || { echo "$call"; return 1; }
    cd "$TOP"
    run bash -c "$call --vm nowhere,stock"
    refused 2 "there is no variant 'nowhere'"
}
