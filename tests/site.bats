#!/usr/bin/env bats
# The site of all pages: built once, its links checked, and its search used in a browser. Only who has built the site
# before has Sphinx, which comes by pip: what all other tests need comes from Debian.

load lib/common

have_sphinx() { compgen -G "$(build_cache)/sphinx/*/complete" >/dev/null; }

setup_file() {
    ! have_sphinx || "$TOP/build.sh" site >"$BATS_FILE_TMPDIR/said" 2>&1 || { cat "$BATS_FILE_TMPDIR/said" >&2; return 1; }
}

setup() { SITE=$TOP/dist/site; }

need_site() { have_sphinx || skip "Sphinx is not installed ('./build.sh site' installs it)"; }

# browser PAGE: the page as the browser has it after its scripts ran. Nothing but the file is there: no server, and no access to
# other files by scripts.
browser() {
    command -v chromium >/dev/null || skip "chromium is not installed (./build.sh deps --test)"
    chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$BATS_TEST_TMPDIR/profile" \
        --virtual-time-budget=10000 "${@:2}" --dump-dom "file://$SITE/$1" 2>/dev/null
}

@test "every link and picture of the site is within the site" {
    need_site
    cd "$SITE"
    mapfile -t pages < <(find . -name '*.html' ! -path './_downloads/*')
    run python3 -B "$TOP/tests/lib/site.py" "${pages[@]}"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "${lines[-1]%% *}" -ge 1000 ]
}

@test "a link of the site that leads nowhere is found" {
    printf '<p id="here"><a href="#here">a</a><a href="#there">b</a><img src="no.png"><a href="https://example.org/">c</a>' >"$BATS_TEST_TMPDIR/page.html"
    run python3 -B "$TOP/tests/lib/site.py" "$BATS_TEST_TMPDIR/page.html"
    [ "$status" -eq 1 ]
    [[ $output == *"#there"* && $output == *"no.png"* && $output != *"#here"* && $output != *"example.org"* ]]
}

@test "nothing on the site is loaded from elsewhere" {
    need_site
    run grep -rlE '<(script|img|link|iframe)[^>]* (src|href)="(https?:)?//' "$SITE" --include='*.html'
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
}

@test "each page is on the site, and in its navigation" {
    need_site
    local page
    cd "$TOP"
    for page in README.md CONTRIBUTING.md doc/*.md doc/results/*.md erl_src/{batch_io,callbacks,cons_spacing,dam,diagnose,mailbox_audit,port_drivers}/README.md; do
        [ -s "$SITE/${page%.md}.html" ] || { echo "$page is not on the site"; return 1; }
        [[ $page == README.md ]] || grep -q "class=\"reference internal\" href=\"${page%.md}.html\"" "$SITE/index.html" || { echo "$page is not in the navigation"; return 1; }
    done
}

@test "each library with a README is on the site with all its modules" {
    need_site
    local readme library source module
    for readme in "$TOP"/erl_src/*/README.md; do
        library=$(basename "$(dirname "$readme")")
        while read -r source; do
            module=$(basename "$source" .erl)
            [ -s "$SITE/reference/$library/$module.html" ] || grep -q "id=\"${module//_/-}\"" "$SITE/reference/$library/internal.html" ||
                { echo "$library: $module is missing"; return 1; }
        done < <(find "$TOP/erl_src/$library/src" -name '*.erl')
    done
    grep -q 'id="function-send-2"' "$SITE/reference/dam/dam.html"
    grep -A 14 'id="type-policy-0"' "$SITE/reference/dam/dam_types.html" | grep -q 'What happens to a message when the limit is reached'
    grep -q 'mix audit.mailbox --write-baseline' "$SITE/reference/mailbox_audit/audit.mailbox.html"
}

@test "functions that are not exported, or are hidden, are no part of the reference" {
    need_site
    run grep -h 'id="function-\(started-2\|adding_handler-1\)"' "$SITE/reference/batch_io/batch_io_handler.html"
    [ "$status" -eq 1 ] || { echo "$output"; return 1; }
    grep -q 'id="function-info-1"' "$SITE/reference/batch_io/batch_io_handler.html"
}

@test "the search finds pages and functions by words, from a file" {
    need_site
    dom=$(browser 'search.html?q=hibernation')
    [[ $dom == *'href="doc/glossary.html'* ]] || { echo "$dom" | tail -n 60; return 1; }
    dom=$(browser 'search.html?q=child_spec')
    [[ $dom == *'href="reference/dam/dam.html'* ]] || { echo "$dom" | tail -n 60; return 1; }
    dom=$(browser 'search.html?q=nosuchword')
    [[ $dom != *'href="doc/glossary.html?highlight'* && $dom == *"did not match any documents"* ]]
}

@test "the theme follows what the reader prefers, and can be switched" {
    need_site
    dom=$(browser index.html)
    [[ $dom == *'data-theme="auto"'* && $dom == *'class="theme-toggle"'* ]]
}

@test "what site does not know, and what it cannot get, is said" {
    run "$TOP/build.sh" site --fly
    refused 2 "unknown option '--fly'"
    run "$TOP/build.sh" site --help
    ends 0 "dist/site"
    ERTSLAB_CACHE=$BATS_TEST_TMPDIR/cache PIP_NO_INDEX=1 PIP_FIND_LINKS='' run "$TOP/build.sh" site
    ends 1 "Installing Sphinx, with pip failed"
}

@test "a site that was made stays where another one cannot be made" {
    need_site
    ERTSLAB_CACHE=$BATS_TEST_TMPDIR/cache PIP_NO_INDEX=1 PIP_FIND_LINKS='' run "$TOP/build.sh" site
    ends 1 "Installing Sphinx, with pip failed"
    [ -s "$SITE/index.html" ]
}
