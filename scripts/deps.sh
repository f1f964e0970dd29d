#!/usr/bin/env bash
# Installs the Debian packages that the project needs.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

# Building OTP.
OTP_PACKAGES=(build-essential autoconf ccache patch xz-utils libncurses-dev
    libssl-dev ca-certificates debian-archive-keyring)
# Building all else: revisions of OTP, the Erlang applications and the native code.
BUILD_PACKAGES=(git rebar3 advancecomp cmake libatomic-ops-dev libbenchmark-dev)
# Measuring and drawing; Elixir compiles experiments that are written in it.
RUN_PACKAGES=(gnuplot-nox libncurses6 openssl
    linux-perf valgrind libdevel-nytprof-perl nghttp2-client elixir)
# For tests and linters, only with --test. (Debian starts the services of openssh-server, munge and slurm; the tests
# start their own, on loopback.)
TEST_PACKAGES=(bats shellcheck clang-format erlang-dev procps python3-scipy python3-jsonschema python3-venv
    openssh-server openssh-client chromium golang-go
    slurm-wlm munge)
# For building the image, only with --docker.
DOCKER_PACKAGES=(docker.io debootstrap)
# For './build.sh test --arch arm64', only with --arm64: a cross compiler, and what runs its programs.
ARM64_PACKAGES=(gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user)

usage() {
    cat <<'USAGE'
Example: ./build.sh deps --test

Usage: ./build.sh deps [--dry-run] [--test] [--docker] [--arm64] [--otp | --runtime]

Installs the Debian packages that are missing; if you are not root, with sudo.
  --dry-run  only print what would be installed
  --test     also what './build.sh test' needs, openssh-server among it
  --docker   also what './build.sh docker' needs
  --arm64    also what './build.sh test --arch arm64' needs
  --otp      only what building OTP needs
  --runtime  only what running a built tree needs
USAGE
}

installed() {
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

missing_of() {
    local package
    for package in "$@"; do
        installed "$package" || printf '%s\n' "$package"
    done
}

# as_root COMMAND...: a session of its own takes no signal for the group of this shell. sudo may ask for a password on the terminal.
as_root() {
    if ((EUID == 0)); then
        setsid --wait "$@"
    else
        sudo "$@"
    fi
}

# An installation that is cut short has to be repaired by hand, so this ends after it, whatever comes meanwhile. Another installation,
# such as that of security updates, ends within five minutes.
install_packages() {
    trap : INT TERM HUP
    as_root apt-get update
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"
}

main() {
    local dry_run=no wanted=("${OTP_PACKAGES[@]}" "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}") missing
    while (($#)); do
        case $1 in
            --dry-run) dry_run=yes ;;
            --test) wanted+=("${TEST_PACKAGES[@]}") ;;
            --docker) wanted+=("${DOCKER_PACKAGES[@]}") ;;
            --arm64) wanted+=("${ARM64_PACKAGES[@]}") ;;
            --otp) wanted=("${OTP_PACKAGES[@]}") ;;
            --runtime) wanted=("${RUN_PACKAGES[@]}") ;;
            -h | --help) usage; exit 0 ;;
            *) misuse "unknown option '$1'" ;;
        esac
        shift
    done
    command -v apt-get >/dev/null || fail "apt-get is missing; this project builds on Debian (bookworm or trixie)."
    mapfile -t missing < <(missing_of "${wanted[@]}")
    if ((${#missing[@]} == 0)); then
        say "All Debian packages are there."
    elif [[ $dry_run == yes ]]; then
        say "Would install: ${missing[*]}"
    elif ((EUID != 0)); then
        command -v sudo >/dev/null || fail "root is needed to install packages and sudo is missing; as root run: apt-get install ${missing[*]}"
        # sudo may ask for a password, so its output stays on the terminal.
        install_packages "${missing[@]}"
    else
        open_log
        step "Installing ${#missing[@]} Debian packages" $((5 + 2 * ${#missing[@]})) install_packages "${missing[@]}"
    fi
}

main "$@"
