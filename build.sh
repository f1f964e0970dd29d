#!/usr/bin/env bash
# Runs scripts/VERB.sh. Each of these scripts also runs by itself and can be repeated safely.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
    cat <<'USAGE'
Usage: ./build.sh VERB [OPTIONS]     (./build.sh VERB --help tells more)

  deps     install the Debian packages that the project needs
  otp      build Erlang/OTP and every variant of its emulator
  native   build the native code (NIF, drivers, benchmarks)
  erl      compile the Erlang applications
  escript  make dist/ertslab, the part that needs no OTP of its own as one file
  programs fetch RabbitMQ and other programs that experiments run
  demo     all of the above, then compare stock with patched on this machine
  test     all checks and tests
  install  install an ordinary OTP whose erl is a variant, to run it
  patchset print the patches of a variant as one patch
  otp-test
           run OTP's own test suites on a variant, and compare it with stock
  soak     have the native code, a cluster or the compiler work for long on a variant
  memcheck run the NIF and the drivers under valgrind
  benchstat
           build Go's benchstat, which a test reads a report with
  verify   re-check what was built against its manifest
  docker   build the Docker image
  clean    remove what was built here (--all: the build cache too)

What is built goes to build/, results to results/, and what can be shared
between checkouts to the build cache ($ERTSLAB_CACHE, by default
~/.cache/ertslab).
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
