#!/usr/bin/env bats
# The page, the book and the shape of the tree.

setup() {
    load common
    cd "$TOP" || return
}

@test "the README is a page, not a book" {
    [ "$(wc -l <README.md)" -le 200 ]
}

# Of links within the repository: the file is there, and so is the heading that one names.
@test "every link leads somewhere" {
    run python3 -B tests/lib/links.py README.md doc/*.md doc/results/*.md otp_patches/README.md bench/README.md erl_src/*/README.md
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    # It looks at something.
    [ "${lines[-1]%% *}" -ge 50 ]
}

@test "a link that leads nowhere is found" {
    printf '# A page\n\n[gone](gone.md) [here](#a-page) [nowhere](#no-heading)\n' >"$BATS_TEST_TMPDIR/page.md"
    run python3 -B tests/lib/links.py "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [[ $output == *"gone.md"* && $output == *"#no-heading"* && $output != *"#a-page"* ]]
}

@test "every chapter is reached from the README" {
    local chapter
    for chapter in doc/*.md; do
        grep -q "($chapter" README.md || grep -qr "(${chapter#doc/}" doc/*.md || { echo "nothing leads to $chapter"; return 1; }
    done
}

@test "no folder has more than 20 files side by side" {
    run bash -c 'git ls-files | sed "s,[^/]*$,," | sort | uniq -c | awk "\$1 > 20 { print }"'
    [ -z "$output" ] || { echo "$output"; return 1; }
}
