#!/usr/bin/env bash
# Builds the Docker images: the lab's, or one whose Erlang/OTP is a variant; or Debian packages in a container. If no base image can be
# pulled, it makes one.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"
# shellcheck source=scripts/otp_source.bash
source "$TOP/scripts/otp_source.bash"
# shellcheck source=otp_patches/variants.sh
source "$TOP/otp_patches/variants.sh"

SUITE=trixie

# The image of three variants and its stage have 4.5 GB, and while it is built, packages and objects lie beside them.
LEAST_MB=6000

usage() {
    cat <<USAGE
Example: ./build.sh docker
         docker run --rm ertslab compare hibernate --quick

Usage: ./build.sh docker [--base IMAGE] [--otp RELEASE] [--vm NAMES] [--tag NAME]
       ./build.sh docker --target otp|otp-build|deb [--vm NAME] [...]

Builds a Docker image that contains OTP and its variants. It replaces the image
of the same name, if there is one. The disk needs 6 GB of room.
  --base IMAGE   base image (default: debian:$SUITE-slim, for deb
                 that of the release's suite; if it cannot be
                 pulled, one is made with debootstrap)
  --otp RELEASE  the release to build (default $(default_release))
  --vm NAMES     builds these variants and stock; without --vm all variants
  --refresh      fetch Debian's newest sources and patches, and build anew
  --tag NAME     name of the image (default: ertslab, or TARGET:RELEASE-VARIANT)
  --target NAME  otp: an image to run releases on, with only the variant of --vm
                 (default tuned); otp-build: the same with a compiler and
                 headers, to build releases;
                 deb: no image, but Debian packages in dist/deb-RELEASE-VARIANT,
                 built in a container (see ./build.sh deb --help)

Then: docker run --rm ertslab compare hibernate --quick
USAGE
}

engine_answers() { docker info >/dev/null 2>&1; }

# Without an init system nothing has started the installed engine.
start_engine() {
    ! engine_answers || return 0
    ((EUID == 0)) || fail "the Docker engine does not answer; start it, or join the group docker."
    need dockerd docker.io
    setsid dockerd >>"$LOG" 2>&1 </dev/null 9>&- &
    local tries
    for ((tries = 0; tries < 60; tries++)); do
        ! engine_answers || return 0
        sleep 0.5
    done
    step_failed "Starting the Docker engine"
}

have_image() { docker image inspect "$1" >/dev/null 2>&1; }

make_base() {
    local image=$1 dir script=/usr/share/debootstrap/scripts/$SUITE
    own_temporary
    dir=$TMPDIR/base
    mkdir "$dir"
    # A suite that is newer than debootstrap is made as unstable is.
    [[ -e $script ]] || script=${script%/*}/sid
    debootstrap --variant=minbase "$SUITE" "$dir" "$(debian_mirror)" "$script"
    rm -rf "$dir"/var/cache/apt/archives/*.deb
    tar -C "$dir" -c . | docker import - "$image"
}

choose_base() {
    base=debian:$SUITE-slim
    if have_image "$base" || docker pull "$base" >>"$LOG" 2>&1; then
        return
    fi
    base=ertslab-base:$SUITE
    if ! have_image "$base"; then
        say "$SUITE cannot be pulled, so a base image is made with debootstrap."
        need debootstrap debootstrap
        ((EUID == 0)) || fail "root is needed to make a base image; run it with sudo, or give --base."
        step "Making the base image" 60 make_base "$base"
    fi
}

revision() { git rev-parse HEAD 2>/dev/null || echo unknown; }

# The legacy builder keeps all that it made, gigabytes for each build. The newest stage stays, because the next build begins with it.
# Docker refuses to remove what a container or another name uses.
remove_replaced() {
    local image
    for image in ${1:+"$1"} $(docker images --quiet --no-trunc --filter dangling=true --filter label=ertslab.stage | tail -n +2); do
        [[ $image == "$(docker image inspect --format '{{.Id}}' "$tag")" ]] || docker rmi "$image" || true
    done
}

# check_room: whether the engine's disk, if it is a disk of this machine, has room for an image with OTP and its tools.
check_room() {
    local root free
    root=$(docker info --format '{{.DockerRootDir}}')
    [[ -d $root ]] || return 0
    free=$(free_mb "$root")
    ((free >= LEAST_MB)) ||
        fail "no room: $LEAST_MB MB are needed in $root, where Docker keeps its images, and $free MB are free ('docker system prune' removes what nothing uses)."
}

# Without --no-cache, Docker would not run a build again whose sources Debian has changed.
build_image() {
    local refreshed='' replaced
    [[ $refresh == no ]] || refreshed=--no-cache
    cd "$TOP"
    replaced=$(docker image inspect --format '{{.Id}}' "$tag" 2>/dev/null || true)
    DOCKER_BUILDKIT=0 docker build --force-rm --network host --build-arg "BASE=$base" --build-arg "OTP=$release" \
        --build-arg "VM=$variants" --build-arg "REVISION=$(revision)" ${refreshed:+"$refreshed"} --tag "$tag" "$@" .
    remove_replaced "$replaced"
}

# The patches are labels too, so that a registry can say what an image has without starting it.
build_otp_image() {
    local patch names=()
    for patch in $(variant_patches "$variants"); do
        names+=("$patch@sha256:$(sha256_of "$PATCH_DIR/$patch")")
    done
    build_image --file Dockerfile.otp --target "$target" --label "ertslab.release=$release" \
        --label "ertslab.variant=$variants" --label "ertslab.patches=${names[*]}"
}

# Packages of a release are built on the Debian that has it. The sources that this machine has are given along.
build_debs() {
    mkdir -p "$TOP/dist" "$CACHE/sources"
    # shellcheck disable=SC2016  # for the shell in the container
    docker run --rm --init --name "ertslab-deb-$release-$variants-$$" --network host -v "$TOP:/source:ro" -v "$TOP/dist:/dist" -v "$CACHE/sources:/sources:ro" "$base" sh -euc '
        apt-get update
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
            build-essential ca-certificates debian-archive-keyring patch xz-utils
        export ERTSLAB_CACHE=/cache
        mkdir /ertslab /cache
        cp -r /source/build.sh /source/scripts /source/otp_patches /ertslab
        cp -r /sources /cache
        cd /ertslab
        trap "[ ! -e /dist/deb-$1-$2 ] || chown -R --reference=/dist /dist/deb-$1-$2" EXIT
        ./build.sh deb --otp "$1" --vm "$2" --out "/dist/deb-$1-$2" $3' - "$release" "$variants" "$([[ $refresh == no ]] || echo --refresh)"
}

main() {
    refresh=no base='' release=$(default_release) variants='' tag='' target=''
    while (($#)); do
        case $1 in
            --base) base=${2-}; shift; [[ -n $base ]] || misuse "--base needs an image" ;;
            --otp) release=${2-}; shift ;;
            --vm) variants=${2-}; shift; [[ -n $variants ]] || misuse "--vm wants names of variants, or all" ;;
            --refresh) refresh=yes ;;
            --tag) tag=${2-}; shift; [[ -n $tag ]] || misuse "--tag needs a name" ;;
            --target) target=${2-}; shift; [[ $target =~ ^(otp|otp-build|deb)$ ]] || misuse "--target wants otp, otp-build or deb" ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift || misuse "the last option needs a value"
    done
    check_release "$release"
    if [[ -z $target ]]; then
        : "${variants:=all}" "${tag:=ertslab}"
        check_variants --vm "$variants"
    else
        : "${variants:=tuned}" "${tag:=$target:$release-$variants}"
        check_one_variant "$variants"
    fi
    [[ $target != deb ]] || check_packaged "$variants"
    open_log
    need docker docker.io
    start_engine
    check_room
    [[ $target != deb ]] || SUITE=$(suite_of "$release")
    [[ -n $base ]] || choose_base
    if [[ -z $target ]]; then
        step "Building the image $tag on $base" 600 build_image
        say "Run it: docker run --rm $tag compare hibernate --quick"
    elif [[ $target == deb ]]; then
        step "Building Debian packages on $base" 1800 build_debs
        say "They are in dist/deb-$release-$variants; doc/production.md has the command that installs them on Debian $SUITE."
    else
        step "Building the image $tag on $base" 1200 build_otp_image
        say "Run it: docker run --rm -it $tag"
    fi
}

main "$@"
