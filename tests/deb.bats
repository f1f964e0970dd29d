#!/usr/bin/env bats
# ./build.sh deb: what it refuses, and the source package that it makes. Debian's tools are the test's own, and build nothing.

load lib/common
load lib/sources

setup() {
    copied_project
    export OS_RELEASE=$BATS_TEST_TMPDIR/os-release
    OUT=$BATS_TEST_TMPDIR/out/debs
    suite_is "$(source "$TOP/otp_patches/releases.sh"; suite_of "$DEFAULT_OTP")"
    keep_source "$DEFAULT_OTP.0"
    tool dpkg-checkbuilddeps 'true'
    tool dpkg-source 'mkdir -p .pc' 'grep . debian/patches/series >.pc/applied-patches'
    tool dpkg-buildpackage "cp -r debian '$BATS_TEST_TMPDIR/packaged'" 'touch ../erlang-base_1+tuned1_all.deb ../erlang-base-dbgsym_1+tuned1_all.deb ../erlang-doc_1+tuned1_all.deb ../erlang-base_1.changes'
}

suite_is() { echo "VERSION_CODENAME=$1" >"$OS_RELEASE"; }

# tool NAME LINE...: a program of that name, which is found before Debian's.
tool() {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    printf '%s\n' '#!/bin/sh' 'set -e' "${@:2}" >"$BATS_TEST_TMPDIR/bin/$1"
    chmod +x "$BATS_TEST_TMPDIR/bin/$1"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

deb() { run "$COPY/build.sh" deb --out "$OUT" "$@"; }

first_version() { sed -n '1s/.*(\(.*\)).*/\1/p' "$BATS_TEST_TMPDIR/packaged/changelog"; }

# is_between BEFORE VERSION AFTER
is_between() { dpkg --compare-versions "$1" lt "$2" && dpkg --compare-versions "$2" lt "$3"; }

@test "the patches of the variant come after Debian's, and its packages between two of Debian's" {
    keep_packaging "$DEFAULT_OTP.0" first.patch second.patch
    deb --vm tuned
    ends 0 "1 packages are in $OUT."
    [ "$(ls "$OUT")" = $'debug\nerlang-base_1+tuned1_all.deb' ]
    [ "$(sed -n 1,2p "$BATS_TEST_TMPDIR/packaged/patches/series" | paste -sd' ')" = 'first.patch second.patch' ]
    (
        source "$TOP/otp_patches/variants.sh"
        for patch in $(variant_patches tuned); do
            echo "ertslab/${patch##*/}"
            cmp "$TOP/otp_patches/$patch" "$BATS_TEST_TMPDIR/packaged/patches/ertslab/${patch##*/}"
        done
    ) >"$BATS_TEST_TMPDIR/wanted"
    tail -n +3 "$BATS_TEST_TMPDIR/packaged/patches/series" | diff "$BATS_TEST_TMPDIR/wanted" -
    is_between "1:$DEFAULT_OTP.0+dfsg-1+deb1u2" "$(first_version)" "1:$DEFAULT_OTP.0+dfsg-1+deb1u3"
    dpkg-parsechangelog -l "$BATS_TEST_TMPDIR/packaged/changelog" --all >/dev/null
}

@test "a revision without a security update is followed by its first one, too" {
    keep_packaging "$DEFAULT_OTP.0"
    sed -i 's/+deb1u2//' "$ERTSLAB_CACHE/sources/$DEFAULT_OTP.debian"
    deb
    # The first one is a rebuild by Debian.
    is_between "1:$DEFAULT_OTP.0+dfsg-1+b1" "$(first_version)" "1:$DEFAULT_OTP.0+dfsg-1+deb1u1"
    is_between "1:$DEFAULT_OTP.0+dfsg-1+b1" "$(first_version)" "1:$DEFAULT_OTP.0+dfsg-2"
}

@test "preloaded modules are compiled again if a patch of the variant changes them" {
    deb --vm tuned
    grep -q 'update_preloaded' "$BATS_TEST_TMPDIR/packaged/rules"
    rm -r "$BATS_TEST_TMPDIR/packaged" "$OUT"
    deb --vm jit_moves
    ends 0 "packages are in $OUT"
    run grep update_preloaded "$BATS_TEST_TMPDIR/packaged/rules"
    [ "$status" -eq 1 ]
}

@test "a build that fails leaves the packages that were there" {
    deb
    ends 0 "are in $OUT"
    tool dpkg-buildpackage 'exit 2'
    deb
    ends 1 "Building the packages failed; the whole log is"
    [ -e "$OUT/erlang-base_1+tuned1_all.deb" ]
}

@test "a build whose patches are not all applied is refused" {
    keep_packaging "$DEFAULT_OTP.0" first.patch
    # As dpkg-source does it if the first patch does not fit.
    tool dpkg-source 'mkdir -p .pc' ': >.pc/applied-patches'
    deb
    ends 1 "The patches of debian/patches/series are not all applied."
    [ ! -e "$OUT" ]
}

@test "packages of a run that failed are not among those of the next one" {
    tool dpkg-buildpackage 'touch ../erlang-base_0+tuned1_all.deb' 'exit 2'
    deb
    ends 1 "Building the packages failed"
    tool dpkg-buildpackage 'touch ../erlang-base_1+tuned1_all.deb'
    deb
    ends 0 "1 packages are in $OUT"
    [ ! -e "$OUT/erlang-base_0+tuned1_all.deb" ]
}

@test "a file that comes into the folder meanwhile stays" {
    deb
    tool dpkg-buildpackage "touch '$OUT/mine' ../erlang-base_2+tuned1_all.deb"
    deb
    ends 1 "$OUT holds other things"
    [ -e "$OUT/mine" ]
    [ -e "$OUT/erlang-base_1+tuned1_all.deb" ]
}

@test "another Debian is sent to the container, and other arguments are looked at first" {
    suite_is other
    deb
    refused 1 "and this is other; './build.sh docker --target deb --otp $DEFAULT_OTP --vm tuned' builds the packages in a container."
    deb --vm stock,tuned
    refused 2 "--vm wants one variant"
    deb --vm libatomic_ops
    refused 2 "the variant libatomic_ops wants options of configure"
    deb --otp 1
    refused 2 "OTP release '1' is not supported"
    deb --fly
    refused 2 "unknown option '--fly'"
}

@test "a folder that holds other things is refused" {
    mkdir -p "$OUT"
    touch "$OUT/mine"
    deb
    refused 1 "$OUT holds other things than packages of Erlang with tuned; name an empty or a new folder."
    [ -e "$OUT/mine" ]
    rm "$OUT/mine"
    # Debian's own, which may be kept to go back.
    touch "$OUT/erlang-base_1+deb1u2_all.deb"
    deb
    refused 1 "$OUT holds other things"
}

@test "packages that are missing are said to who is not root" {
    ((EUID == 0)) || skip "only root can become somebody else"
    tool dpkg-checkbuilddeps 'echo "Unmet build dependencies: wx" >&2' 'exit 1'
    chmod -R a+rwX "$BATS_TEST_TMPDIR"
    chmod a+x "${BATS_TEST_TMPDIR%/*}" "${BATS_TEST_TMPDIR%/*/*}"
    run setpriv --reuid nobody --regid nogroup --clear-groups env HOME=/nonexistent "PATH=$PATH" "$COPY/build.sh" deb --out "$OUT"
    ends 1 "packages that the build needs are missing; as root run: apt-get build-dep -P nodoc"
}
