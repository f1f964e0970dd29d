#!/usr/bin/env bash
# Packs the command line into one file.
set -euo pipefail
# shellcheck source=scripts/lib/common.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib/common.bash"

# At most 1 MB, because the file is copied into containers by hand.
MOST_BYTES=1000000

usage() {
    cat <<'USAGE'
Example: ./build.sh escript && dist/ertslab diagnose --node shop@host

Usage: ./build.sh escript

Makes dist/ertslab: one file that diagnoses, advises, audits, and compares
Erlangs, flags and code, wherever there is an 'erl'. The oldest Erlang on the
PATH or in build/ compiles it. The file runs on that release and on later ones.
No OTP needs to be built.
USAGE
}

# oldest_erlang: the folder with the programs of the oldest Erlang available, and its release.
oldest_erlang() {
    local erl release
    for erl in "$(command -v erl || true)" "$BUILD"/otp-[0-9]*/bin/erl; do
        [[ -x $erl ]] || continue
        release=$(installed_release "$erl")
        ((${release:-0} < OLDEST_OTP)) || printf '%s %s\n' "$release" "$(dirname "$erl")"
    done | sort -n | head -n 1
}

# Workloads that experiments compile again, at other addresses (placed_module), from the code in their compiled files.
PLACED=(building_loops small_programs)

# strip_compiled FOLDER: leaves what runs, which is half of the size. Numbers of lines go, too (and are not compiled in, where each call
# would have one): no error of the command line shows them.
# So do the names of language features, of which none is used, and types that the JIT would spare some checks by. Literals are compressed
# with the rest of the file, and not by themselves before (with 0 as their size they are not compressed at all).
strip_compiled() {
    # The folder's own name is no part of the pattern: it may have characters that mean something there.
    (cd "$1" && erl -noshell -boot no_dot_erlang -eval '
        Placed = [Name ++ ".beam" || Name <- init:get_plain_arguments()],
        Stored = fun(Data) ->
                         Z = zlib:open(),
                         ok = zlib:deflateInit(Z, none),
                         iolist_to_binary(zlib:deflate(Z, Data, finish))
                 end,
        Loose = fun({"LitT", <<Size:32, Literals/binary>>}) when Size > 0 ->
                        {"LitT", <<Size:32, (Stored(zlib:uncompress(Literals)))/binary>>};
                   (Chunk) -> Chunk
                end,
        [_ | _] = Files = [File || File <- filelib:wildcard("default/lib/*/ebin/*.beam"), not lists:member(filename:basename(File), Placed)],
        {ok, _} = beam_lib:strip_files(Files),
        _ = [begin
                 {ok, _, Chunks} = beam_lib:all_chunks(File),
                 {ok, Beam} = beam_lib:build_module([Loose(Chunk) || {Id, _} = Chunk <- Chunks, not lists:member(Id, ["Line", "Meta", "Type"])]),
                 ok = file:write_file(File, Beam)
             end || File <- Files],
        halt().' -extra "${PLACED[@]}")
}

compile() {
    cd "$TOP/erl_src"
    export PATH=$1:$PATH REBAR_CONFIG=escript.config REBAR_BASE_DIR=$BUILD/escript REBAR_CACHE_DIR=$BUILD/rebar3
    ERL_COMPILER_OPTIONS=no_line_info rebar3 compile
    strip_compiled "$BUILD/escript"
    rebar3 escriptize
}

main() {
    local release dir made=$BUILD/escript/default/bin/ertslab bytes
    case ${1-} in
        '') ;;
        -h | --help) usage; exit 0 ;;
        *) misuse "unknown option '$1'" ;;
    esac
    need rebar3 rebar3
    read -r release dir < <(oldest_erlang) || fail "no Erlang of OTP $OLDEST_OTP or later was found; './build.sh deps' installs Debian's, and rebar3."
    open_log
    step "Compiling the command line by OTP $release" 15 compile "$dir"
    bytes=$(stat -c %s "$made")
    ((bytes <= MOST_BYTES)) || fail "$made has $bytes bytes, more than the limit of $MOST_BYTES."
    writable_dir "$TOP/dist"
    install -m 755 "$made" "$TOP/dist/ertslab.part"
    mv "$TOP/dist/ertslab.part" "$TOP/dist/ertslab"
    say "dist/ertslab has $((bytes / 1000)) kB, and runs on OTP $release and later."
}

main "$@"
