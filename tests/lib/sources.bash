# Loaded by tests of what builds from Debian's source packages: small ones, kept in a build cache of the test's own, so that nothing is
# fetched.
# shellcheck shell=bash

# copied_project: a copy of the project's scripts and patches, COPY, with a build cache of its own.
copied_project() {
    COPY=$BATS_TEST_TMPDIR/copy
    mkdir "$COPY"
    cp -r "$TOP/build.sh" "$TOP/scripts" "$TOP/otp_patches" "$COPY"
    export ERTSLAB_CACHE=$BATS_TEST_TMPDIR/cache
}

# keep_source VERSION: a kept archive of sources of that version.
keep_source() {
    local sha kept=$ERTSLAB_CACHE/sources
    mkdir -p "$BATS_TEST_TMPDIR/otp"
    echo "$1" >"$BATS_TEST_TMPDIR/otp/OTP_VERSION"
    tar -C "$BATS_TEST_TMPDIR" -cf "$BATS_TEST_TMPDIR/otp.tar" otp
    sha=$(sha256sum "$BATS_TEST_TMPDIR/otp.tar" | cut -d' ' -f1)
    mkdir -p "$kept/$sha"
    cp "$BATS_TEST_TMPDIR/otp.tar" "$kept/$sha"
    echo "$1 $sha" >"$kept/${1%%.*}.current"
    keep_packaging "$1"
}

# keep_packaging VERSION [LINE...]: Debian's kept packaging of that version, with a series of these lines. Each patch changes the file
# that the toy's sources have.
keep_packaging() {
    local dir=$BATS_TEST_TMPDIR/packaging/debian name
    rm -rf "$dir"
    mkdir -p "$dir/patches"
    printf '%s\n' "erlang (1:$1+dfsg-1+deb1u2) suite; urgency=medium" '' '  * A mend.' '' ' -- A Name <a@example.com>  Wed, 01 Jan 2025 00:00:00 +0000' >"$dir/changelog"
    printf 'boot-stamp:\n\tmake all\n\ttouch boot-stamp\n' >"$dir/rules"
    printf '%s\n' "${@:2}" >"$dir/patches/series"
    for name in "${@:2}"; do
        [ -n "$name" ] || continue
        printf '%s\n' '--- a/OTP_VERSION' '+++ b/OTP_VERSION' '@@ -1 +1 @@' "-$1" "+$1" >"$dir/patches/${name%% *}"
    done
    tar -C "$BATS_TEST_TMPDIR/packaging" -cf "$BATS_TEST_TMPDIR/debian.tar" debian
    keep_archive_of_packaging "$1"
}

# keep_archive_of_packaging VERSION: the packaging that was packed, as the kept one.
keep_archive_of_packaging() {
    local sha
    sha=$(sha256sum "$BATS_TEST_TMPDIR/debian.tar" | cut -d' ' -f1)
    mkdir -p "$ERTSLAB_CACHE/sources/$sha"
    cp "$BATS_TEST_TMPDIR/debian.tar" "$ERTSLAB_CACHE/sources/$sha"
    echo "1:$1+dfsg-1+deb1u2 $sha" >"$ERTSLAB_CACHE/sources/${1%%.*}.debian"
}
