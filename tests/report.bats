#!/usr/bin/env bats
# Reports of a comparison that is made here: in a browser, in benchstat, and what goes where if a folder holds no comparison. The
# formats, and what is refused, are in ertslab_report_SUITE.

load lib/common

setup_file() {
    "$TOP/ertslab" compare hibernate --quick --vm stock,stock_copy,prefetch --param cells=1001 \
        --param value_words=3 --out "$BATS_FILE_TMPDIR/first" >/dev/null 2>&1
    cp -r "$BATS_FILE_TMPDIR/first" "$BATS_FILE_TMPDIR/second"
}

setup() {
    FIRST=$BATS_FILE_TMPDIR/first
    SECOND=$BATS_FILE_TMPDIR/second
    CACHE=${ERTSLAB_CACHE:-${XDG_CACHE_HOME:-~/.cache}/ertslab}
}

browser() {
    command -v chromium >/dev/null || skip "chromium is not installed (./build.sh deps)"
    chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars \
        --user-data-dir="$BATS_TEST_TMPDIR/profile" --enable-logging=stderr "$@" 2>>"$BATS_TEST_TMPDIR/log"
}

# no_complaint: the browser's console has no messages.
no_complaint() { ! grep CONSOLE "$BATS_TEST_TMPDIR/log"; }

# size FILE: the width and height of a PNG, from its first chunk.
size() {
    python3 -c 'import struct, sys; print(*struct.unpack(">II", open(sys.argv[1], "rb").read(24)[16:]))' "$1"
}

# framed SETTING PAGE...: for each page in a frame of either width its name, the width of its content and its background colour. The
# script is in the frames' page; the report has none.
framed() {
    local page width
    echo '<!DOCTYPE html>' >"$BATS_TEST_TMPDIR/frames.html"
    for page in "${@:2}"; do
        for width in 390 1280; do
            cat <<HTML
<iframe src="file://$page" style="width:${width}px;height:800px;border:0"
  onload="const d = this.contentDocument; document.body.append('${page##*/} in $width: wide ' + d.documentElement.scrollWidth
    + ' paper ' + getComputedStyle(d.body).backgroundColor + '; ')"></iframe>
HTML
        done
    done >>"$BATS_TEST_TMPDIR/frames.html"
    browser --allow-file-access-from-files "$1" --dump-dom "file://$BATS_TEST_TMPDIR/frames.html"
}

@test "a comparison ends with its report, and report writes it again" {
    [ -s "$FIRST/report.html" ]
    rm "$FIRST/report.html"
    ertslab report "$FIRST"
    ends 0 "$FIRST/report.html"
    [ -s "$FIRST/report.html" ]
    grep -q '<h1>' "$FIRST/report.html"
}

@test "a browser shows the verdict and the plots, and has nothing to complain of" {
    ertslab report "$FIRST" --format markdown
    ends 0 "| length_hibernated | prefetch |"
    verdict=${lines[0]#'## '}
    dom=$(browser --dump-dom "file://$FIRST/report.html")
    [[ $dom == *"<h1>$verdict</h1>"* ]]
    # Ratios, values and run order of four metrics.
    [ "$(grep -o 'role="img"' <<<"$dom" | wc -l)" -eq 13 ]
    [[ $dom == *"compare hibernate --vm stock,stock_copy,prefetch --quick"*"--seed "* ]]
    no_complaint
}

@test "the page fits a desk and a phone, and takes the colours that are preferred" {
    for width in 1280 390; do
        browser --window-size=$width,2000 --screenshot="$BATS_TEST_TMPDIR/$width.png" "file://$FIRST/report.html"
        [ "$(size "$BATS_TEST_TMPDIR/$width.png")" = "$width 2000" ]
    done
    "$TOP/ertslab" report "$FIRST" "$SECOND" --out "$BATS_TEST_TMPDIR/both.html"
    for scheme in "1 rgb(255, 255, 255)" "0 rgb(20, 24, 28)"; do
        said=$(framed "--blink-settings=preferredColorScheme=${scheme%% *}" "$FIRST/report.html" "$BATS_TEST_TMPDIR/both.html")
        for page in report.html both.html; do
            for width in 390 1280; do
                [[ $said == *"$page in $width: wide $width paper ${scheme#* }; "* ]] || { echo "$page, $width, $scheme: $said"; return 1; }
            done
        done
    done
    no_complaint
}

@test "it prints" {
    browser --print-to-pdf="$BATS_TEST_TMPDIR/page.pdf" "file://$FIRST/report.html"
    [ "$(head -c 4 "$BATS_TEST_TMPDIR/page.pdf")" = "%PDF" ]
    no_complaint
}

@test "benchstat sets the variants side by side" {
    benchstat=$CACHE/benchstat/benchstat
    [ -x "$benchstat" ] || skip "benchstat is not built (./build.sh benchstat)"
    "$TOP/ertslab" report "$FIRST" --format benchstat --out "$BATS_TEST_TMPDIR/runs.txt"
    run "$benchstat" -col variant "$BATS_TEST_TMPDIR/runs.txt"
    ends 0 "stock_copy"
    grep -q 'sec/op .* vs base .*sec/op .* vs base' <<<"$output"
    [ "$(grep -c '^Hibernate/cells=1001.*/metric=.*n=6).*n=6)' <<<"$output")" -eq 4 ]
    [[ $output != *"runs.txt:"* ]]
}

@test "a folder that cannot be read costs only itself" {
    mkdir "$BATS_TEST_TMPDIR/empty"
    status=0
    output=$("$TOP/ertslab" report "$FIRST" "$BATS_TEST_TMPDIR/empty" "$BATS_TEST_TMPDIR/gone" --format markdown \
        2>"$BATS_TEST_TMPDIR/complaints") || status=$?
    [ "$status" -eq 1 ]
    [[ $output == *"| length_hibernated | prefetch |"* ]]
    mapfile -t complaints <"$BATS_TEST_TMPDIR/complaints"
    [ "${#complaints[@]}" -eq 2 ]
    [[ ${complaints[0]} == *"$BATS_TEST_TMPDIR/empty is not the folder of a comparison"* ]]
    [[ ${complaints[1]} == *"$BATS_TEST_TMPDIR/gone: there is no such folder."* ]]
}
