#!/usr/bin/env bats
# Comparisons on nodes that Slurm assigns: on this machine, with the test's own Slurm on loopback.

load lib/common

setup_file() {
    [ "$EUID" -eq 0 ] || skip "only root can start a Slurm"
    local dir=$BATS_FILE_TMPDIR/slurm port=$((20000 + RANDOM % 12000))
    mkdir -p "$dir/state" "$dir/spool"
    chmod 755 "$BATS_FILE_TMPDIR" "$dir"
    head -c 1024 /dev/urandom >"$dir/munge.key"
    chmod 400 "$dir/munge.key"
    munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" \
        --log-file="$dir/munge.log" --seed-file="$dir/munge.seed"
    cat >"$dir/slurm.conf" <<CONF
ClusterName=lab
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
MailProg=/bin/true
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE State=UP
CONF
    export SLURM_CONF=$dir/slurm.conf
    PATH=$PATH:/usr/sbin
    slurmctld
    slurmd
    for ((i = 0; i < 300; i++)); do
        [[ $(sinfo -h -o %T 2>/dev/null) != idle ]] || return 0
        sleep 0.1
    done
    tail -n 5 "$dir"/*.log >&2
    return 1
}

# Waits for the end of the daemons: they save their state at the end, and bats removes the folder that they save it
# in.
teardown_file() {
    local daemon pid
    for daemon in slurmd slurmctld munge; do
        [ -s "$BATS_FILE_TMPDIR/slurm/$daemon.pid" ] || continue
        pid=$(cat "$BATS_FILE_TMPDIR/slurm/$daemon.pid")
        kill "$pid" || continue
        timeout 30 tail --pid="$pid" -f /dev/null || kill -KILL "$pid"
    done
}

setup() { OUT=$BATS_TEST_TMPDIR/out; }

submitted() { ertslab compare spacing --vm stock,stock_copy --param cells=1001 --param value_words=3 --slurm "$@"; }

@test "nodes that Slurm hands out measure, and stand side by side" {
    submitted lab --nodes 2 --out "$OUT"
    ends 0 ""
    [ "$(runs_in "$OUT/node-1")" -eq 6 ]
    [ "$(runs_in "$OUT/node-2")" -eq 6 ]
    grep -q "^node $(hostname -s)" "$OUT/node-1.log"
    [ -s "$OUT/report.html" ]
    submitted lab --nodes 2 --out "$OUT" --fail-if "slower 100000%"
    ends 0 "$OUT/node-1 was measured before"
}

# A job whose options still requested a partition would submit itself again.
@test "words with an equals sign, and paths from here, are those of the job" {
    cd "$BATS_TEST_TMPDIR"
    sed 's/^-module(exp_spacing)/-module(exp_mine)/' "$TOP/erl_src/experiments/src/exp_spacing.erl" >exp_mine.erl
    run "$TOP/ertslab" compare exp_mine.erl --vm stock,stock_copy --param cells=1001 --param value_words=3 --accept-host \
        --slurm=lab --nodes=1 --out=out --fail-if "slower 100000%"
    ends 0 "out/report.html"
    [ "$(runs_in "$BATS_TEST_TMPDIR/out/node-1")" -eq 6 ]
}

@test "what Slurm refuses, and what fails on a node, is a sentence" {
    submitted nowhere --out "$OUT"
    ends 1 "none of the machines measured (node-1)"
    [[ $output == *"nvalid partition"* ]] || { echo "$output"; return 1; }
    ertslab compare flying --slurm lab --out "$OUT-2"
    ends 2 "there is no experiment 'flying'"
}

@test "where Slurm is missing, its package is named" {
    hide sbatch
    submitted lab --out "$OUT"
    refused 1 "sbatch is missing"
}
