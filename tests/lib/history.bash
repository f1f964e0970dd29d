# shellcheck shell=bash
# A git repository of OTP with a history of small changes to the emulator, for bisect and for builds of revisions.

# planted_history DIR ARCHIVE COMMITS SLOW BROKEN: the sources of the archive, followed by that many commits. Each
# changes a comment in the file that has length/1. Commit SLOW makes length/1 about 5 % slower. Commit BROKEN does not
# compile, the one after it does again (0: none).
planted_history() {
    local dir=$1 archive=$2 commits=$3 slow=$4 broken=$5 commit file
    file=$dir/erts/emulator/beam/erl_bif_guard.c
    mkdir -p "$dir"
    tar -xf "$archive" -C "$dir" --strip-components=1
    git -C "$dir" init -q -b main
    history_commit "$dir" good
    for ((commit = 1; commit <= commits; commit++)); do
        sed -i '/^\/\* commit /d; /^#error planted/d' "$file"
        ((commit != slow)) || slow_length "$file"
        ((commit != broken)) || echo '#error planted' >>"$file"
        echo "/* commit $commit */" >>"$file"
        history_commit "$dir" "commit $commit"
    done
}

# Fixed dates and names give the commits the same hashes each time.
history_commit() {
    git -C "$1" -c core.safecrlf=false add -A -f .
    GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z \
        git -C "$1" -c user.name=ertslab -c user.email=ertslab@localhost -c commit.gpgsign=false commit -q -m "$2"
}

# slow_length FILE: at every 32nd cell the address is multiplied and divided, and the next load waits for the result.
# (A detour through memory costs nothing on processors that rename memory.)
slow_length() {
    sed -i 's/^\ti++, max_iter--;$/&\n\tif ((max_iter \& 31) == 0) { list = (list * 3) \/ 3; }/' "$1"
    grep -q 'list \* 3' "$1"
}
