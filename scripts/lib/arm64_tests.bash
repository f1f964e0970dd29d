# Sourced by test.sh for '--arch arm64': what is built for arm64 and tested there, under qemu-user. All of it runs on the
# emulated root of a variant, which otp-test.sh makes.
# shellcheck shell=bash
# shellcheck disable=SC2153  # BUILD is that of common.bash

# shellcheck source=scripts/lib/otp_tests.bash
source "$TOP/scripts/lib/otp_tests.bash"

# The suites of OTP that are about what the patches change, and that end under emulation.
ARM64_SUITES=(gc hibernate list_bif tuple message_queue_data guard fun map receive binary beam_literals persistent_term
    stdlib/lists stdlib/proc_lib)
ARM64_TERMS=500
# The project's applications whose own suites run there, and the ones that they call.
ARM64_OWN=(dam batch_io callbacks cons_spacing mailbox_audit port_drivers)

# own_application APPLICATION: a copy with its suites, and its native code for arm64.
own_application() {
    local dir=$PLACE/own/$1
    rm -rf "$dir"
    mkdir -p "$dir/test"
    cp -a "$BUILD/erl/default/lib/$1/ebin" "$dir"
    find "$TOP/erl_src/$1/test" -mindepth 1 -maxdepth 1 -type d -exec cp -a {} "$dir/test" \;
    (cd "$TOP/erl_src/$1/test" && ERL_LIBS=$PROPER_LIBS on_own_otp erlc +debug_info +nowarn_missing_spec \
        -pa "$dir/ebin" -o "$dir/test" ./*.erl)
    case $1 in
        cons_spacing) on_own_otp make -C "$TOP/nif" CC=aarch64-linux-gnu-gcc "PRIV=$dir/priv" all ;;
        port_drivers) on_own_otp make -C "$TOP/c_src" CC=aarch64-linux-gnu-gcc "PRIV=$dir/priv" all ;;
    esac
}

own_applications() {
    local app
    for app in "${ARM64_OWN[@]}"; do own_application "$app"; done
}

# emulated_erl ARGUMENT...
emulated_erl() { PATH=$PLACE/root/bin:$PATH ERTSLAB_TOP=$TOP ERL_LIBS=$PROPER_LIBS "$PLACE/root/bin/erl" -noinput "$@"; }

# own_suites APPLICATION: ends well if no case failed but those that are known to.
own_suites() {
    local logs=$PLACE/own/$1/logs failed
    rm -rf "$logs"
    mkdir -p "$logs"
    ulimit -c 0
    (cd "$PLACE/own/$1" && emulated_erl -pa "$PLACE"/own/*/ebin -eval '
        {_, _, _} = ct:run_test([{dir, "test"}, {logdir, "logs"}, {auto_compile, false}, {multiply_timetraps, 10}]), halt().')
    failed=$(awk '/^=case/ { name = $2 } /^=result *(failed|auto_skipped)/ { print name }' "$logs"/ct_run.*/*/run.*/suite.log | sort -u)
    say "$1: $(cat "$logs"/ct_run.*/*/run.*/suite.log | grep -c '^=result *ok') cases passed; failed: ${failed:-none}"
    [[ -z $failed ]]
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
    PATH=$PLACE/root/bin:$PATH "$TOP/dist/ertslab" --help | grep -q '^Usage'
    PATH=$PLACE/root/bin:$PATH refuses_to_time "$TOP/dist/ertslab" "${times[@]}"
    on_own_otp refuses_to_time "$TOP/dist/ertslab" "${times[@]:0:3}" --vm "$PLACE/root,$(own_root)" "${times[@]:3}"
}

# diagnosed: a node on arm64, inspected by an emulated and by this machine's ertslab.
diagnosed() {
    local node=ertslab_arm64_$$ dir pid status=0
    dir=$(mktemp -d)
    HOME=$dir emulated_erl -sname "$node" -setcookie "$node" -eval 'ok = file:write_file("'"$dir/up"'", atom_to_list(node())), receive after infinity -> ok end' &
    pid=$!
    for _ in {1..100}; do [[ ! -s $dir/up ]] || break; sleep 1; done
    {
        PATH=$PLACE/root/bin:$PATH "$TOP/dist/ertslab" diagnose --node "$(<"$dir/up")" --cookie "$node" &&
            on_own_otp "$TOP/dist/ertslab" diagnose --node "$(<"$dir/up")" --cookie "$node"
    } || status=$?
    kill "$pid"
    rm -rf "$dir"
    return "$status"
}

# test_arm64: all of it.
test_arm64() {
    local release app
    release=$(default_release)
    PLACE=$BUILD/otp-test/$release-tuned-arm64
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
