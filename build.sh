#!/usr/bin/env bash
# Runs scripts/VERB.sh. Each of these scripts also runs by itself and can be repeated safely.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    cat <<'USAGE'
Examples: ./build.sh escript     makes one file, dist/ertslab, in seconds; no OTP is built
          ./build.sh demo        builds OTP and makes a first comparison, in six minutes

Usage: ./build.sh VERB [OPTIONS]     (./build.sh VERB --help shows the options)

  deps     install the Debian packages that the project needs
  otp      build Erlang/OTP and every variant of its emulator
  native   build the native code (NIF, drivers, benchmarks)
  erl      compile the Erlang applications
  escript  make dist/ertslab: one file with the commands that need no built OTP
  programs fetch RabbitMQ and other programs that experiments run
  results  write the tables of measurements into the pages
  site     make dist/site: all pages and the libraries' references, to read offline
  demo     install, build, and compare stock with patched OTP on this machine
  test     run all checks and tests
  install  install an ordinary OTP whose erl is a variant, to run it
  deb      build Debian packages of OTP with a variant's patches
  patchset print the patches of a variant as one patch
  otp-test
           run OTP's own test suites on a variant, and compare it with stock
  soak     run long tests of native code, a cluster or the compiler on a variant
  memcheck run the NIF and the drivers under valgrind
  benchstat
           build Go's benchstat, to read reports with
  verify   compare built emulators with their manifests
  docker   build the Docker images
  clean    remove what was built here (--all: the build cache too)

Builds go to build/ and results to results/. Checkouts share sources and finished
builds in the build cache ($ERTSLAB_CACHE, by default ~/.cache/ertslab).
USAGE
}

case ${1-} in
    -h | --help | help) usage; exit 0 ;;
    '') usage >&2; exit 2 ;;
esac

verb=$1
shift
if [[ ! $verb =~ ^[a-z]+(-[a-z]+)*$ || ! -x $here/scripts/$verb.sh ]]; then
    echo "build.sh: there is no verb '$verb'; './build.sh --help' lists them." >&2
    exit 2
fi

if [[ ! -d ${TMPDIR:-/tmp} || ! -w ${TMPDIR:-/tmp} ]]; then
    echo "build.sh: nothing can be written below ${TMPDIR:-/tmp}; set TMPDIR to a folder for temporary files." >&2
    exit 1
fi

# --NAME=VALUE is --NAME VALUE, as in ./ertslab.
words=()
for word; do
    if [[ $word =~ ^--[a-z][a-z-]*= ]]; then
        words+=("${word%%=*}" "${word#*=}")
    else
        words+=("$word")
    fi
done
exec "$here/scripts/$verb.sh" "${words[@]}"
