# Sourced by test.sh for '--arch arm64': what is built for arm64 and tested there, under qemu-user. It runs in the
# emulated roots of stock and of tuned, which otp-test.sh makes.
# shellcheck shell=bash
# shellcheck disable=SC2153  # BUILD is that of common.bash

# shellcheck source=scripts/lib/otp_tests.bash
source "$TOP/scripts/lib/otp_tests.bash"

# The suites of OTP that are about what the patches change, and that end within minutes. (One case of binary takes five
# minutes, and some of signal and ets do not end.)
ARM64_SUITES=(gc hibernate list_bif tuple message_queue_data guard fun map receive beam_literals num_bif
    persistent_term erts_debug jit stdlib/lists stdlib/proc_lib)
ARM64_TERMS=2000
# The project's applications whose own suites run there.
ARM64_OWN=(dam batch_io callbacks cons_spacing mailbox_audit port_drivers)
# Cases that fail there: one has a deadline that emulation does not keep, and one runs the variants of this machine.
ARM64_FAIL=(dam_SUITE:many_that_flush_cost_nothing batch_io_SUITE:laws_on_each_release)

# own_application APPLICATION: a copy with its suites, and its native code for arm64. Suites that run the variants of this
# machine are left out.
own_application() {
    local dir=$PLACE/own/$1
    rm -rf "$dir"
    mkdir -p "$dir/test"
    cp -a "$BUILD/erl/default/lib/$1/ebin" "$TOP/erl_src/$1/src" "$dir"
    find "$TOP/erl_src/$1/test" -mindepth 1 -maxdepth 1 -type d -exec cp -a {} "$dir/test" \;
    (cd "$TOP/erl_src/$1/test" && ERL_LIBS=$PROPER_LIBS on_own_otp erlc +debug_info +nowarn_missing_spec \
        -pa "$dir/ebin" -o "$dir/test" ./*.erl)
    rm -f "$dir"/test/*_releases_SUITE.beam
    case $1 in
        cons_spacing) on_own_otp make -C "$TOP/nif" CC=aarch64-linux-gnu-gcc "PRIV=$dir/priv" all ;;
        port_drivers) on_own_otp make -C "$TOP/c_src" CC=aarch64-linux-gnu-gcc "PRIV=$dir/priv" all ;;
    esac
}

own_applications() {
    local app
    for app in "${ARM64_OWN[@]}"; do own_application "$app"; done
}

# on_arm64_otp COMMAND...: with the emulated Erlang first in PATH.
on_arm64_otp() { PATH=$PLACE/root/bin:$PATH "$@"; }

# own_run LOGS [OPTION]: runs Common Test in the folder of an application, and prints which cases failed.
own_run() {
    mkdir -p "$1"
    ERTSLAB_TOP=$TOP ERL_LIBS=$PROPER_LIBS on_arm64_otp erl -noinput -pa "$PLACE"/own/*/ebin "$BUILD"/erl/default/lib/{endurance,ertslab}/ebin -eval "
        {_, _, _} = ct:run_test([{dir, \"test\"}, {logdir, \"$1\"}, {auto_compile, false}, {multiply_timetraps, 10}${2-}]), halt()." >&2 </dev/null
    awk '/^=case/ { name = $2 } /^=result *(failed|auto_skipped)/ { print name }' "$1"/ct_run.*/*/run.*/suite.log |
        { grep -vxFf <(printf '%s\n' "${ARM64_FAIL[@]}") || true; } | sort -u
}

# own_suites APPLICATION: repeats the cases that failed, each suite alone, since many have deadlines of their own.
own_suites() {
    local failed suite cases again=''
    cd "$PLACE/own/$1" || return
    rm -rf logs
    ulimit -c 0
    failed=$(own_run logs/all)
    while read -r suite; do
        [[ -n $suite ]] || continue
        again+=$(own_run "logs/$suite" ", {suite, $suite}, {testcase, [$(sed -n "s/^$suite:\([a-z]\)/\1/p" <<<"$failed" | grep -v '_per_suite$' | paste -sd,)]}")
    done < <(cut -d: -f1 <<<"$failed" | sort -u)
    cases=$(cat logs/all/ct_run.*/*/run.*/suite.log | grep '^=case *[a-z_]*_SUITE:' | grep -vc '_per_suite$')
    say "$1: $cases cases; failed at first: $(wc -w <<<"$failed"), and again:${again:+ }${again:- none}"
    [[ -z $again ]] && ((cases > 0))
}

# refuses_to_time COMMAND...: whether it refuses to time, in one sentence.
refuses_to_time() {
    local status=0 said
    said=$("$@" 2>&1) || status=$?
    say "$said"
    ((status == 1)) && [[ $said == *"nothing is timed here: the processor is emulated by "* ]]
}

# one_file: dist/ertslab on the emulated Erlang, and an emulated Erlang as an arm of one that is not.
one_file() {
    local times=(time 'lists:seq(1, 10)' 'lists:seq(1, 11)' --quick --accept-host --out "$PLACE/refused")
    "$TOP/build.sh" escript
    on_arm64_otp "$TOP/dist/ertslab" --help | grep -q '^Usage'
    on_arm64_otp refuses_to_time "$TOP/dist/ertslab" "${times[@]}"
    on_own_otp refuses_to_time "$TOP/dist/ertslab" "${times[@]:0:3}" --vm "$PLACE/root,$(own_root)" "${times[@]:3}"
}

# inspects COMMAND...: 4 is the status if the machine let the node run too little to judge it.
inspects() {
    local status=0
    "$@" || status=$?
    ((status == 0 || status == 4))
}

# diagnosed: a node on arm64, inspected by an emulated and by this machine's ertslab.
diagnosed() {
    local node=ertslab_arm64_$$ dir pid status=0
    dir=$(mktemp -d)
    HOME=$dir "$PLACE/root/bin/erl" -noinput -sname "$node" -setcookie "$node" \
        -eval 'ok = file:write_file("'"$dir/up"'", atom_to_list(node())), receive after infinity -> ok end' &
    pid=$! # which becomes the emulator
    for _ in {1..100}; do [[ ! -s $dir/up ]] || break; sleep 1; done
    {
        on_arm64_otp inspects "$TOP/dist/ertslab" diagnose --node "$(<"$dir/up")" --cookie "$node" &&
            on_own_otp inspects "$TOP/dist/ertslab" diagnose --node "$(<"$dir/up")" --cookie "$node"
    } || status=$?
    kill "$pid"
    rm -rf "$dir"
    return "$status"
}

# test_arm64: all of it.
test_arm64() {
    local release app
    release=$(default_release)
    PLACE=$BUILD/otp-test/$release-stock-arm64 # suites of cons_spacing expect stock's lists
    otp_test=("$TOP/scripts/otp-test.sh" --otp "$release" --vm tuned --emulator arm64)
    check "OTP's suites on tuned for arm64, compared with stock" 2400 \
        "${otp_test[@]}" --retries 1 --suite "$(IFS=,; echo "${ARM64_SUITES[*]}")"
    check "Random programs on tuned for arm64" 120 "${otp_test[@]}" --terms "$ARM64_TERMS"
    check "Building the project's native code for arm64" 30 own_applications
    for app in "${ARM64_OWN[@]}"; do
        check "The suites of $app on arm64" 120 own_suites "$app"
    done
    check "ertslab in one file on arm64" 30 one_file
    check "ertslab diagnose of a node on arm64" 60 diagnosed
}
