#!/usr/bin/env bash
# Makes one static site of the pages and the references of the libraries.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

SITE=$TOP/scripts/lib/site
# The libraries that have a reference.
LIBRARIES=(batch_io callbacks cons_spacing dam diagnose mailbox_audit port_drivers)
# The pages, and what they link to.
SOURCES=(README.md CONTRIBUTING.md doc bench otp_patches tests/field/README.md scripts/lib/otp_advisories
    erl_src/experiments/priv/programs)

usage() {
    cat <<'USAGE'
Example: ./build.sh site && xdg-open dist/site/index.html

Usage: ./build.sh site

Makes dist/site of all pages and of the references of the libraries. The site
needs no server and no network, and neither does its search. Sphinx makes it;
pip installs it into the build cache once. EDoc reads the references from the
sources, with the OTP in build/ or else with the installed one.
USAGE
}

# build_sphinx DIR: pip verifies each package by its SHA-256.
build_sphinx() {
    rm -rf "$1"
    /usr/bin/python3 -m venv "$1"
    "$1/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes -r "$SITE/requirements.txt"
    touch "$1/complete"
}

# have_sphinx DIR
have_sphinx() {
    [[ ! -f $1/complete ]] || return 0
    /usr/bin/python3 -c 'import ensurepip' 2>/dev/null ||
        fail "Python's venv is missing; './build.sh deps --test' installs it (Debian package python3-venv)."
    lock_cache
    step "Installing Sphinx, with pip" 30 build_sphinx "$1"
}

# erlang: the folder with the programs of the Erlang that runs EDoc. The part of OTP that the demo builds has none.
erlang() {
    if has_root && ! is_part "$(own_root)"; then
        echo "$(own_root)/bin"
    else
        command -v escript >/dev/null || fail "no Erlang is installed, and none is built; './build.sh deps' installs Debian's."
        dirname "$(command -v escript)"
    fi
}

# have_edoc BIN
have_edoc() {
    "$1/erl" -noinput -boot no_dot_erlang -eval 'case code:which(edoc) of non_existing -> halt(1); _ -> halt() end.' ||
        fail "the Erlang in $1 lacks EDoc; './build.sh deps' installs it (Debian package erlang-edoc)."
}

# collect_pages FOLDER: copies the pages into it, with the paths that they have here, so that their links stay right.
collect_pages() {
    local library
    cd "$TOP"
    rm -rf "$1"
    mkdir -p "$1"
    cp -r --parents -t "$1" "${SOURCES[@]}"
    for library in "${LIBRARIES[@]}"; do
        cp -r --parents -t "$1" "erl_src/$library/README.md" "erl_src/$library/src"
    done
}

# write_references BIN FOLDER
write_references() {
    cd "$TOP"
    "$1/escript" "$SITE/reference.escript" "$2" "${LIBRARIES[@]/#/erl_src/}"
}

# lay_out FROM TO SPHINX: a warning, as of a link that leads nowhere, is an error.
lay_out() {
    rm -rf "$2"
    "$3/bin/sphinx-build" -W --keep-going -q -E -d "$BUILD/site/doctrees" -c "$SITE" -b html "$1" "$2"
    rm -rf "$2/.buildinfo" "$2/objects.inv"
}

main() {
    local bin sphinx source=$BUILD/site/source made=$BUILD/site/html
    case ${1-} in
        '') ;;
        -h | --help) usage; exit 0 ;;
        *) misuse "unknown option '$1'" ;;
    esac
    bin=$(erlang)
    have_edoc "$bin"
    sphinx=$CACHE/sphinx/$(short_key <"$SITE/requirements.txt")
    open_log
    have_sphinx "$sphinx"
    collect_pages "$source"
    step "Reading the references of the libraries" 5 write_references "$bin" "$source/reference"
    step "Laying out the site" 20 lay_out "$source" "$made" "$sphinx"
    writable_dir "$TOP/dist"
    rm -rf "$TOP/dist/site"
    mv "$made" "$TOP/dist/site"
    say "The site is in dist/site: open dist/site/index.html."
}

main "$@"
