#!/usr/bin/env bats
# ./build.sh install: what it refuses, how a new installation takes the place of an old one, and --check. What is built
# is a toy, made by a builder of the test's own.

load lib/common
load lib/sources

setup() {
    copied_project
    PREFIX=$BATS_TEST_TMPDIR/opt/otp
    keep_source "$DEFAULT_OTP.0"
    toy_builder
}

# toy_builder: an OTP of an erl that says where it lies, some files and a link. It fails, or ends the whole script, if a
# file says so.
toy_builder() {
    cat >"$COPY/scripts/lib/install_build.bash" <<'BUILDER'
ROOM_INSTALLED=${ROOM_INSTALLED-1}
use_ordinary_base() { BASE=$CACHE/install/$1-toy; }
room_in_cache() { echo 1; }
variant_patch_files() { local patch; for patch in $(variant_patches "$1"); do echo "$PATCH_DIR/$patch"; done; }
compiler_line() { echo toy; }
installation_key() { { echo "$OTP_VERSION $DEBIAN_SHA256 $1 $2"; variant_patch_files "$1" | xargs -r cat; } | short_key; }
version_in_debian() { cat "$TOP/debian_now"; }
# From folders of the copy; without such a folder, the mirror does not have it.
fetch_packaging_of() { mkdir -p "$3/download" && cp "$TOP"/newest/* "$3/download"; }
fetch_tested() { rm -rf "$2"; mkdir -p "$2/download" && cp "$TOP"/tested/* "$2/download"; }
obtain_source() { use_kept_source "$1"; }
make_toy() {
    mkdir -p "$1/bin" "$1/lib"
    printf '%s\n' '#!/bin/sh' 'dirname "$(dirname "$0")"' "echo ${OTP_VERSION%%.*}" "echo $2" >"$1/bin/erl"
    chmod +x "$1/bin/erl"
    echo "$2" >"$1/lib/variant"
    ln -s erl "$1/bin/link"
    [ ! -e "$TOP/broken" ] || return 1
}
build_installation() {
    echo "built $1" >>"$TOP/builds"
    step "Building a toy" 1 make_toy "$4" "$1"
    [ ! -e "$TOP/killed" ] || kill -KILL $$
    LEFT_OUT=odbc WITHOUT_NATIVE=wx
}
BUILDER
}

install_at() { run "$COPY/build.sh" install --prefix "$@"; }
install_otp() { install_at "$PREFIX" "$@"; }
installed() { install_otp "$@"; ends 0 "is in $PREFIX"; }
beside() { find "$(dirname "$PREFIX")" -mindepth 1 -maxdepth 1 -name '.*'; }

@test "an installation is whole, and says what it is" {
    installed --vm tuned
    [[ $output == *"Left out, because this machine lacks what they need: odbc"* ]]
    [[ $output == *"Built without their native code, for the same reason: wx"* ]]
    [ "$("$PREFIX/bin/link" | head -n 1)" = "$PREFIX" ]
    grep -qx "version $DEFAULT_OTP.0" "$PREFIX/OTP_PATCHES"
    grep -qx 'variant tuned' "$PREFIX/OTP_PATCHES"
    grep -qx "patch $(sha256sum "$TOP/otp_patches/jit-moves.patch" | cut -d' ' -f1) jit-moves.patch" "$PREFIX/OTP_PATCHES"
    [ -z "$(beside)" ]
    install_otp --check
    ends 0 "OTP $DEFAULT_OTP.0 with tuned in $PREFIX is whole: 4 files."
    [[ $output == *"'./build.sh install' would install OTP $DEFAULT_OTP.0 now, too."* ]]
    [[ $output == *"Its patches are those of tuned now."* ]]
}

@test "what is installed already is not built again" {
    installed
    installed
    [ "$(wc -l <"$COPY/builds")" -eq 1 ]
    echo changed >"$PREFIX/lib/variant"
    installed
    [ "$(wc -l <"$COPY/builds")" -eq 2 ]
}

@test "another variant takes the place of the first as a whole" {
    installed --vm tuned
    installed --vm stock
    [ "$(<"$PREFIX/lib/variant")" = stock ]
    run grep '^patch ' "$PREFIX/OTP_PATCHES"
    [ "$status" -eq 1 ]
    [ -z "$(beside)" ]
}

@test "a build that fails leaves what was there" {
    installed --vm tuned
    touch "$COPY/broken"
    install_otp --vm stock
    ends 1 "Building a toy failed; the whole log is"
    [ "$(<"$PREFIX/lib/variant")" = tuned ]
    [ -z "$(beside)" ]
}

@test "a build that is killed leaves what was there, and its rest is cleared away" {
    installed --vm tuned
    touch "$COPY/killed"
    install_otp --vm stock
    [ "$status" -ne 0 ]
    [ "$(<"$PREFIX/lib/variant")" = tuned ]
    [ -n "$(beside)" ]
    rm "$COPY/killed"
    installed --vm stock
    [ "$(<"$PREFIX/lib/variant")" = stock ]
    [ -z "$(beside)" ]
}

@test "an installation that was killed between its two renames is undone" {
    installed --vm tuned
    mv "$PREFIX" "$BATS_TEST_TMPDIR/opt/.otp.ertslab-old"
    touch "$COPY/broken"
    install_otp --vm stock
    ends 1 "An installation that was interrupted is undone: $PREFIX is as it was."
    [ "$(<"$PREFIX/lib/variant")" = tuned ]
}

@test "an installation that does not start is not moved into place" {
    # shellcheck disable=SC2016  # for the toy
    sed -i 's/echo ${OTP_VERSION%%.\*}/exit 3/' "$COPY/scripts/lib/install_build.bash"
    install_otp
    ends 1 "Starting it failed"
    [ ! -e "$PREFIX" ]
}

@test "a prefix that holds something else is refused" {
    mkdir -p "$PREFIX"
    touch "$PREFIX/mine"
    install_otp
    refused 1 "$PREFIX holds something that './build.sh install' did not put there"
    [ -e "$PREFIX/mine" ]
    rm "$PREFIX/mine"
    installed
}

@test "files that were put into an installation are not lost" {
    installed --vm tuned
    touch "$PREFIX/lib/mine" "$PREFIX/lib/theirs"
    install_otp --vm stock
    refused 1 "has files that OTP did not bring, which would be lost (./lib/mine and 1 more)"
    [ -e "$PREFIX/lib/mine" ]
    install_otp --check
    ends 0 "Files that OTP did not bring: ./lib/mine and 1 more."
}

@test "the folder that a link leads to is checked, and not replaced" {
    installed --vm stock
    ln -s "$PREFIX" "$BATS_TEST_TMPDIR/link"
    for link in "$BATS_TEST_TMPDIR/link" "$BATS_TEST_TMPDIR/link/"; do
        install_at "$link" --vm tuned
        refused 1 "$link is a link, and $PREFIX, to which it leads, would be replaced; name that folder, or a new one."
        install_at "$link" --check
        ends 0 "with stock in $PREFIX is whole"
    done
}

@test "an installation that was undone is looked at before anything is built" {
    need_two_releases
    installed
    mv "$PREFIX" "$BATS_TEST_TMPDIR/opt/.otp.ertslab-old"
    keep_source "$NEWEST_OTP.0"
    install_otp --otp "$NEWEST_OTP"
    ends 1 "$PREFIX holds OTP $DEFAULT_OTP.0, and a release replaces only itself"
    [ "$(wc -l <"$COPY/builds")" -eq 1 ]
}

@test "another release is not replaced" {
    need_two_releases
    installed
    keep_source "$NEWEST_OTP.0"
    install_otp --otp "$NEWEST_OTP"
    refused 1 "$PREFIX holds OTP $DEFAULT_OTP.0, and a release replaces only itself"
}

@test "an installation that programs run from is not replaced" {
    installed --vm tuned
    cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/sleep"
    # The toy has no program that stays; a builder adds one.
    # shellcheck disable=SC2016  # for the toy
    sed -i 's|ln -s erl|cp '"$BATS_TEST_TMPDIR"'/sleep "$1/bin/stays"; &|' "$COPY/scripts/lib/install_build.bash"
    installed --vm speculate
    "$PREFIX/bin/stays" 60 3>&- &
    install_otp --vm stock
    kill $!
    refused 1 "programs run from $PREFIX (processes $!); stop them, or install beside it."
}

@test "a prefix that cannot be is refused" {
    install_at
    ends 2 "--prefix needs a folder"
    run "$COPY/build.sh" install
    refused 2 "--prefix DIR is missing"
    install_at --check
    refused 2 "--prefix needs a folder"
    install_at /
    refused 2 "--prefix wants a folder of its own, not /"
    install_at "$BATS_TEST_TMPDIR/a b"
    refused 2 "has characters that OTP's own scripts do not take"
    touch "$BATS_TEST_TMPDIR/file"
    install_at "$BATS_TEST_TMPDIR/file"
    refused 1 "$BATS_TEST_TMPDIR/file is a file; --prefix needs a folder."
    install_at "$BATS_TEST_TMPDIR/file/below"
    refused 1 "$BATS_TEST_TMPDIR/file is not a folder, so nothing can be installed in $BATS_TEST_TMPDIR/file/below."
    install_at /sys/otp
    refused 1 "/sys"
}

@test "the other arguments are looked at before anything is done" {
    install_otp --vm stock,tuned
    refused 2 "--vm wants one variant"
    install_otp --vm all
    refused 2 "--vm wants one variant"
    install_otp --vm fly
    refused 2 "--vm wants one variant; there is none of the name 'fly'"
    install_otp --otp 1
    refused 2 "OTP release '1' is not supported"
    install_otp --jobs 0
    refused 2 "--jobs needs a number from 1 to 999"
    install_otp --fly
    refused 2 "unknown option '--fly'"
    [ ! -e "$COPY/builds" ]
}

@test "that there is no room is said before anything is built" {
    ROOM_INSTALLED=99999999 install_otp
    refused 1 "no room: the build wants 100000000 MB at $ERTSLAB_CACHE"
    [ ! -e "$COPY/builds" ]
}

@test "--check names what is missing or changed" {
    installed
    echo changed >"$PREFIX/lib/variant"
    rm "$PREFIX/bin/link"
    install_otp --check
    refused 1 "$PREFIX is damaged: ./lib/variant and 1 more; install it again."
    rm "$PREFIX/lib/variant"
    install_otp --check
    refused 1 "$PREFIX is damaged: ./lib/variant and 1 more; install it again."
}

@test "--check finds a manifest that was cut off or that cannot be read" {
    installed
    cp "$PREFIX/OTP_MANIFEST" "$BATS_TEST_TMPDIR/manifest"
    for change in /end/d 2q '1,/end/d' '1s/^./x/'; do
        sed "$change" "$BATS_TEST_TMPDIR/manifest" >"$PREFIX/OTP_MANIFEST"
        install_otp --check
        refused 1 "$PREFIX/OTP_MANIFEST is damaged, so it is not known what OTP brought; move $PREFIX away, and install it again."
        install_otp --vm stock
        refused 1 "$PREFIX/OTP_MANIFEST is damaged"
    done
}

@test "--check wants an installation of this project" {
    install_otp --check
    refused 1 "there is no folder $PREFIX."
    mkdir -p "$PREFIX"
    install_otp --check
    refused 1 "$PREFIX holds nothing that './build.sh install' put there."
}

@test "--check says what the project would install now" {
    installed --vm tuned
    keep_source "$DEFAULT_OTP.1"
    echo >>"$COPY/otp_patches/jit-moves.patch"
    install_otp --check
    ends 0 "'./build.sh install' would install OTP $DEFAULT_OTP.1 now."
    [[ $output == *"The patches of tuned are others now; "* ]]
    [[ $output == *"'./build.sh install --otp $DEFAULT_OTP --vm tuned --prefix $PREFIX' brings them."* ]]
    installed --vm tuned --slim
    echo >>"$COPY/otp_patches/jit-moves.patch"
    install_otp --check
    [[ $output == *"--vm tuned --slim --prefix $PREFIX' brings them."* ]]
    sed -i '/^tuned /d' "$COPY/otp_patches/variants"
    install_otp --check
    ends 0 "There is no variant tuned any more."
}

@test "Debian's patches belong to what is installed, and what they mend is not open" {
    printf '%s\n' '# As of 2026-01-02.' "$DEFAULT_OTP.0.1 | CVE-2026-1 CVE-2026-2 CVE-2026-3" "$DEFAULT_OTP.0.2 | CVE-2026-1" \
        >"$COPY/scripts/lib/otp_advisories"
    keep_packaging "$DEFAULT_OTP.0" 'clean.patch' '#CVE-2026-3.patch' 'CVE-2026-1.patch -p1 # why' '' CVE-2026-2-1.patch CVE-2026-2-2.patch
    installed
    [[ $output == *"Debian's patches: 4, of revision 1:$DEFAULT_OTP.0+dfsg-1+deb1u2."* ]]
    # The list has the first one twice, since its first mend was incomplete.
    [[ $output == *"  $DEFAULT_OTP.0.1: CVE-2026-3"$'\n'"  $DEFAULT_OTP.0.2: CVE-2026-1"* ]]
    [[ $output != *CVE-2026-2* ]]
    grep -qx "debian 1:$DEFAULT_OTP.0+dfsg-1+deb1u2" "$PREFIX/OTP_PATCHES"
    [ "$(grep '^debian-patch ' "$PREFIX/OTP_PATCHES" | paste -sd' ')" = \
        'debian-patch clean.patch debian-patch CVE-2026-1.patch debian-patch CVE-2026-2-1.patch debian-patch CVE-2026-2-2.patch' ]
    install_otp --check
    ends 0 "  $DEFAULT_OTP.0.1: CVE-2026-3"
    installed --no-debian-patches
    [[ $output == *"  $DEFAULT_OTP.0.1: CVE-2026-1 CVE-2026-2 CVE-2026-3"* ]]
    grep -qx 'debian none' "$PREFIX/OTP_PATCHES"
    install_otp --check
    ends 0 "It was installed without Debian's patches."
    installed --source "$BATS_TEST_TMPDIR/otp.tar"
    [[ $output == *"Debian's patches are not applied to --source."* ]]
}

@test "--check says whether Debian has newer patches" {
    installed
    install_otp --check
    ends 0 "Debian's archive gives no answer, so it is not known whether revision 1:$DEFAULT_OTP.0+dfsg-1+deb1u2 is its newest."
    echo "1:$DEFAULT_OTP.0+dfsg-1+deb1u2" >"$COPY/debian_now"
    install_otp --check
    ends 0 "Debian's archive has no newer revision than 1:$DEFAULT_OTP.0+dfsg-1+deb1u2."
    echo "1:$DEFAULT_OTP.0+dfsg-1+deb1u1" >"$COPY/debian_now"
    install_otp --check
    ends 0 "Debian's archive has no newer revision than 1:$DEFAULT_OTP.0+dfsg-1+deb1u2."
    echo "1:$DEFAULT_OTP.0+dfsg-1+deb1u3" >"$COPY/debian_now"
    install_otp --check
    ends 0 "Debian's archive has revision 1:$DEFAULT_OTP.0+dfsg-1+deb1u3, and 1:$DEFAULT_OTP.0+dfsg-1+deb1u2 is installed; './build.sh install --otp $DEFAULT_OTP --vm tuned --prefix $PREFIX --refresh' brings it."
    echo "1:99.1+dfsg-1" >"$COPY/debian_now"
    install_otp --check
    ends 0 "Debian's archive has OTP 99.1 now, so whether it has newer patches to OTP $DEFAULT_OTP.0 is not known."
}

@test "--check that is told to end while it asks Debian leaves no temporary folder" {
    installed
    mkdir "$BATS_TEST_TMPDIR/temporary"
    mkfifo "$COPY/debian_now" # an archive that does not answer
    TMPDIR=$BATS_TEST_TMPDIR/temporary "$COPY/build.sh" install --prefix "$PREFIX" --check >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- &
    comes_in "Asking Debian's archive" "$BATS_TEST_TMPDIR/said"
    sleep 0.5
    kill -TERM $!
    status=0
    wait $! || status=$?
    : >"$COPY/debian_now" # what asks has its answer
    [ "$status" -eq 143 ]
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/temporary")" ]
}

# comes_in TEXT FILE: waits for it.
comes_in() {
    for _ in {1..300}; do
        ! grep -qF "$1" "$2" || return 0
        sleep 0.1
    done
    return 1
}

@test "--refresh brings newer patches, and never older ones" {
    installed
    mkdir "$COPY/tested"
    cp "$BATS_TEST_TMPDIR/debian.tar" "$COPY/tested/erlang_$DEFAULT_OTP.0+dfsg-1+deb1u2.debian.tar.xz"
    # The mirror does not have the newest ones.
    install_otp --refresh
    ends 1 "Debian's newest patches to OTP $DEFAULT_OTP.0 could not be fetched from this mirror. './build.sh install --no-debian-patches' does without."
    keep_packaging "$DEFAULT_OTP.0" CVE-2026-1.patch
    mkdir "$COPY/newest"
    rm -r "$BATS_TEST_TMPDIR/packaging/debian/patches/CVE-2026-1.patch"
    sed -i 's/deb1u2/deb1u3/' "$BATS_TEST_TMPDIR/packaging/debian/changelog"
    tar -C "$BATS_TEST_TMPDIR/packaging" -cf "$COPY/newest/erlang_$DEFAULT_OTP.0+dfsg-1+deb1u3.debian.tar.xz" debian
    installed --refresh
    grep -qx "debian 1:$DEFAULT_OTP.0+dfsg-1+deb1u3" "$PREFIX/OTP_PATCHES"
    # A cache that is lost, and a mirror that has gone back.
    rm -r "$COPY/newest" "$ERTSLAB_CACHE/sources/$DEFAULT_OTP.debian"
    install_otp
    ends 1 "$PREFIX has Debian's patches of revision 1:$DEFAULT_OTP.0+dfsg-1+deb1u3, and only those of 1:$DEFAULT_OTP.0+dfsg-1+deb1u2 are here"
    grep -qx "debian 1:$DEFAULT_OTP.0+dfsg-1+deb1u3" "$PREFIX/OTP_PATCHES"
}

@test "a series is read as dpkg reads it" {
    run bash -c "source '$TOP/scripts/lib/debian_patches.bash'"'; printf "  a.patch -p1\n# no\n\tb.patch # why\n\nc.patch" | series_names'
    [ "$output" = $'a.patch\nb.patch\nc.patch' ]
}

@test "packaging without a series is refused" {
    rm "$BATS_TEST_TMPDIR/packaging/debian/patches/series"
    tar -C "$BATS_TEST_TMPDIR/packaging" -cf "$BATS_TEST_TMPDIR/debian.tar" debian
    keep_archive_of_packaging "$DEFAULT_OTP.0"
    # shellcheck disable=SC2016  # for the toy
    sed -i 's/step "Building a toy"/step "Applying" 1 apply_debian_patches "$BATS_TEST_TMPDIR\/otp"; &/' "$COPY/scripts/lib/install_build.bash"
    install_otp
    ends 1 "Applying failed"
    [ ! -e "$PREFIX" ]
}

@test "a patch of Debian's that does not apply is named, and nothing is installed" {
    installed --vm tuned
    keep_packaging "$DEFAULT_OTP.0" wants.patch
    # shellcheck disable=SC2016  # for the toy
    sed -i 's/step "Building a toy"/step "Applying" 1 apply_debian_patches "$BATS_TEST_TMPDIR\/otp"; &/' "$COPY/scripts/lib/install_build.bash"
    installed --vm stock
    echo other >"$BATS_TEST_TMPDIR/otp/OTP_VERSION"
    install_otp --vm tuned
    ends 1 "Debian's patch wants.patch does not apply to OTP $DEFAULT_OTP.0."
    [ "$(<"$PREFIX/lib/variant")" = stock ]
}

@test "each tested source of Debian's belongs to a release" {
    run grep -vE '^(#.*|[0-9a-f]{64}  erlang_[0-9.]+\+dfsg(\.orig|-[^_]*\.debian)\.tar\.xz)$' "$TOP/scripts/lib/tested_sources"
    [ -z "$output" ]
    for release in $(source "$TOP/otp_patches/releases.sh"; releases); do
        [ "$(grep -c "  erlang_$release\." "$TOP/scripts/lib/tested_sources")" -eq 2 ]
    done
}

@test "advisories of later versions of the release are said, with the list's date" {
    printf '%s\n' '# As of 2026-01-02.' "$DEFAULT_OTP.0 | CVE-1" "$DEFAULT_OTP.0.10 | CVE-2 CVE-3" '1.2 | CVE-4' \
        >"$COPY/scripts/lib/otp_advisories"
    installed
    [[ $output == *"Vulnerabilities that later versions of the release mend, and that are open here (list of 2026-01-02, perhaps not all):"* ]]
    [[ $output == *"  $DEFAULT_OTP.0.10: CVE-2 CVE-3"* ]]
    [[ $output != *CVE-1* && $output != *CVE-4* ]]
    keep_source "$DEFAULT_OTP.0.10"
    installed
    [[ $output == *"No advisory is known that OTP $DEFAULT_OTP.0.10 leaves open (list of 2026-01-02)."* ]]
}

@test "the list of advisories has a date, and a version and identifiers in each line" {
    grep -qE '^# As of 20[0-9]{2}-[0-9]{2}-[0-9]{2}' "$TOP/scripts/lib/otp_advisories"
    run grep -vE '^(#.*|[0-9]+(\.[0-9]+)+ \| (CVE-[0-9]{4}-[0-9]+ ?)+)$' "$TOP/scripts/lib/otp_advisories"
    [ -z "$output" ]
}
