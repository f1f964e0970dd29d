#!/usr/bin/env bats
# The pages, and facts that must be written in one place only.

setup() {
    load lib/common
    cd "$TOP" || return
}

# Links within the repository: the file must exist, and so must the heading that a link names.
@test "every link leads somewhere" {
    run python3 -B tests/lib/links.py README.md doc/*.md doc/results/*.md otp_patches/README.md otp_patches/upstream/README.md bench/README.md erl_src/*/README.md
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    # At least some links were checked.
    [ "${lines[-1]%% *}" -ge 50 ]
}

@test "a link that leads nowhere is found" {
    printf '# A page\n\n[gone](gone.md) [here](#a-page) [nowhere](#no-heading)\n' >"$BATS_TEST_TMPDIR/page.md"
    run python3 -B tests/lib/links.py "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [[ $output == *"gone.md"* && $output == *"#no-heading"* && $output != *"#a-page"* ]]
}

# Markdown splits a row at each bar that has no backslash before it, also within a code span, and drops what is too much.
@test "every row of a table has the cells of its header" {
    run python3 -B tests/lib/tables.py README.md CONTRIBUTING.md doc/*.md doc/results/*.md otp_patches/README.md otp_patches/upstream/README.md bench/README.md tests/field/README.md erl_src/*/README.md
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "${lines[-1]%% *}" -ge 500 ]
}

@test "a row with a bar that is not escaped is found" {
    # shellcheck disable=SC2016  # Markdown
    printf '| a | b |\n|---|---|\n| `x \\| y` | z |\n| `x | y` | z |\n\n```\n| c |\n```\n' >"$BATS_TEST_TMPDIR/page.md"
    run python3 -B tests/lib/tables.py "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [[ $output == *"page.md:4: 3 cells"* && $output == *"4 rows, 1 do not fit"* ]]
}

# A page's commands are pasted as they are printed.
@test "every shell block of a page parses" {
    run python3 -B tests/lib/shell.py README.md CONTRIBUTING.md doc/*.md doc/results/*.md otp_patches/README.md otp_patches/upstream/README.md bench/README.md tests/field/README.md erl_src/*/README.md
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "${lines[-1]%% *}" -ge 80 ]
}

@test "a shell block that was wrapped like prose is found" {
    # shellcheck disable=SC2016  # Markdown
    printf '# A page\n\n```sh\necho a    # fine\n```\n\n- An item:\n\n  ```sh\n  # what it does sh -c '"'"'echo a\n  b\n  echo c'"'"'\n  ```\n\n```\nit'"'"'s no shell\n```\n' >"$BATS_TEST_TMPDIR/page.md"
    run python3 -B tests/lib/shell.py "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [[ $output == *"page.md:10: "*"unexpected EOF"* && $output == *"2 blocks, 1 do not parse"* ]]
}

# In shell blocks and in code spans. What the calls do is tested elsewhere.
@test "every call on a page names a command and options that there are" {
    run python3 -B tests/lib/calls.py README.md CONTRIBUTING.md doc/*.md doc/results/*.md otp_patches/README.md bench/README.md tests/field/README.md erl_src/*/README.md
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "${lines[-1]%% *}" -ge 100 ]
}

@test "a call that there is not is found" {
    # shellcheck disable=SC2016  # Markdown
    printf '`./ertslab fly`\n\n```sh\n./build.sh otp --fly && ./ertslab compare length --otp 1\n```\n' >"$BATS_TEST_TMPDIR/page.md"
    run python3 -B tests/lib/calls.py "$BATS_TEST_TMPDIR/page.md"
    [ "$status" -eq 1 ]
    [[ $output == *"./ertslab has no 'fly'"* && $output == *"./build.sh otp has no --fly"* && $output == *"3 calls, 2 wrong"* ]]
}

@test "every chapter is reached from the README" {
    local chapter
    for chapter in doc/*.md; do
        grep -q "($chapter" README.md || grep -qr "(${chapter#doc/}" doc/*.md || { echo "nothing leads to $chapter"; return 1; }
    done
}

# tests/lib/releases.py lists the exceptions, each with its reason.
@test "which releases are built is written in otp_patches/releases, and nowhere else" {
    # shellcheck disable=SC2046  # a word each
    run python3 -B tests/lib/releases.py $(releases)
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
}

@test "a number of a release that is written elsewhere is found" {
    cd "$BATS_TEST_TMPDIR"
    git init -q
    mkdir scripts erl_src
    echo "for release in 24 $NEWEST_OTP; do" >scripts/a.sh
    echo "# seen on OTP $NEWEST_OTP" >scripts/b.sh
    echo "a() -> build(\"otp-$NEWEST_OTP\")." >erl_src/a.erl
    echo "b() -> $NEWEST_OTP. % OTP $NEWEST_OTP" >erl_src/b.erl
    run python3 -B "$TOP/tests/lib/releases.py" "$NEWEST_OTP"
    [ "$status" -eq 1 ]
    [[ $output == *"scripts/a.sh:1: "*  && $output == *"erl_src/a.erl:1: "* && $output != *"/b."* ]]
}

@test "no table of measurements has another figure than its result" {
    local pages
    run "$TOP/build.sh" results --check
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    mapfile -t pages < <(grep -lE '^<!-- table: ' README.md doc/*.md doc/results/*.md)
    [ "${#pages[@]}" -ge 2 ]
    cp -r doc README.md "$BATS_TEST_TMPDIR"
    sed -i '/^<!-- table: /,/^<!-- end of table/ s/(0\.[0-9]* to/(0.123 to/' "$BATS_TEST_TMPDIR/README.md"
    run "$TOP/build.sh" results --check "$BATS_TEST_TMPDIR/README.md"
    [ "$status" -eq 1 ]
    [[ $output == *"README.md: a table is not what its results give"* ]]
}

# A message of a run that did not end well names its log, for example.
@test "no kept measurement names a path of the machine that it was made on" {
    run grep -rlE '(^|[" =])/[A-Za-z0-9_.-]+/' doc/results/data
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

# It differs by compiler, and nothing derives it.
@test "no page says by hand how large the code of a patch is" {
    run grep -nE '[0-9.,]+ (KB|bytes|words) (of|more) code' doc/*.md
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}
