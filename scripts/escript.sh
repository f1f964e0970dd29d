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

# Folders of the command line whose commands need a clone: the file has the names of these commands, and not their code.
FOR_CLONES=(calibration history profile)

# pack FOLDER FILE: puts what runs into one file. That is half of the size of what was compiled. Numbers of lines go (and are not compiled
# in, where each call would have one): no error of the command line shows them. So do the names of language features, of which none is used,
# and types that the JIT would spare some checks by. Literals are compressed with the rest of the file, and not by themselves before (with 0
# as their size they are not compressed at all). advzip compresses by 3 % more than OTP's zlib, in less than a second. The funs of the
# probe, a seventh of all, are named as the functions around them, as they are on each node that it is taken to.
pack() {
    # The folder's own name is no part of the pattern: it may have characters that mean something there.
    (cd "$1" && erl -noshell -boot no_dot_erlang -pa diagnose/ebin -eval '
        [Sources, File | Words] = init:get_plain_arguments(),
        {Placed, [_ | Folders]} = lists:splitwith(fun(Word) -> Word =/= "not" end, Words),
        Names = fun(Folder) ->
                        {ok, [_ | _] = All} = file:list_dir(filename:join([Sources, "ertslab", "src", Folder])),
                        [filename:rootname(Name) || Name <- All]
                end,
        %% The experiments are no application here, since not all is here that it calls.
        Left = ["experiments.app" | lists:flatmap(Names, Folders)],
        Stored = fun(Data) ->
                         Z = zlib:open(),
                         ok = zlib:deflateInit(Z, none),
                         iolist_to_binary(zlib:deflate(Z, Data, finish))
                 end,
        Loose = fun({"LitT", <<Size:32, Literals/binary>>}) when Size > 0 ->
                        {"LitT", <<Size:32, (Stored(zlib:uncompress(Literals)))/binary>>};
                   (Chunk) -> Chunk
                end,
        Beam = fun(Path) ->
                       {ok, Code} = file:read_file(Path),
                       case lists:member(filename:basename(Path, ".beam"), Placed) of
                           true -> Code;
                           false ->
                               {ok, {_, Stripped}} = beam_lib:strip(Code),
                               {ok, _, Chunks} = beam_lib:all_chunks(Stripped),
                               {ok, Rest} = beam_lib:build_module([Loose(Chunk) || {Id, _} = Chunk <- Chunks,
                                                                                   not lists:member(Id, ["Line", "Meta", "Type"])]),
                               case filename:basename(Path) of
                                   "diagnose_probe.beam" -> zlib:gunzip(diagnose_node:slim(Rest));
                                   _ -> Rest
                               end
                       end
               end,
        [_ | _] = Paths = [Path || Path <- lists:sort(filelib:wildcard("*/ebin/*.{app,beam}")),
                                   not lists:member(filename:basename(Path, ".beam"), Left)],
        Read = fun(Path) -> {ok, Text} = file:read_file(Path), Text end,
        Faults = filename:join(["diagnose", "priv", "known_faults.eterm"]),
        Files = [{Faults, Read(filename:join(Sources, Faults))}
                 | [{Path, case filename:extension(Path) of ".beam" -> Beam(Path); ".app" -> Read(Path) end} || Path <- Paths]],
        Zip = File ++ ".zip",
        {ok, Zip} = zip:create(Zip, Files),
        case os:find_executable("advzip") of
            false -> ok;
            Advzip ->
                Smaller = open_port({spawn_executable, Advzip}, [exit_status, {args, ["-z", "-2", "-q", Zip]}]),
                receive {Smaller, {exit_status, 0}} -> ok end
        end,
        {ok, Archive} = file:read_file(Zip),
        ok = file:delete(Zip),
        %% -nocookie: kernel would write a file with a cookie where there is none. With logger_level in ERL_FLAGS, OTP logs before the
        %% command line begins: not into its output.
        Emulator = "-escript main ertslab_cli +sbtu +sbwt none +sbwtdcpu none +sbwtdio none +Bd +fnu -nocookie -kernel logger"
                   " [{handler,default,logger_std_h,#{config=>#{type=>standard_error}}}]",
        ok = escript:create(File, [shebang, comment, {emu_args, Emulator}, {archive, Archive}]),
        halt().' -extra "$TOP/erl_src" "$2" "${PLACED[@]}" not "${FOR_CLONES[@]}")
}

compile() {
    cd "$TOP/erl_src"
    export PATH=$1:$PATH REBAR_CONFIG=escript.config REBAR_BASE_DIR=$BUILD/escript REBAR_CACHE_DIR=$BUILD/rebar3
    ERL_COMPILER_OPTIONS=no_line_info rebar3 compile
    pack "$BUILD/escript/default/lib" "$2"
}

main() {
    local release dir made=$BUILD/escript/ertslab bytes
    case ${1-} in
        '') ;;
        -h | --help) usage; exit 0 ;;
        *) misuse "unknown option '$1'" ;;
    esac
    need rebar3 rebar3
    read -r release dir < <(oldest_erlang) || fail "no Erlang of OTP $OLDEST_OTP or later was found; './build.sh deps' installs Debian's, and rebar3."
    open_log
    step "Compiling the command line by OTP $release" 15 compile "$dir" "$made"
    bytes=$(stat -c %s "$made")
    ((bytes <= MOST_BYTES)) || ! command -v advzip >/dev/null ||
        fail "$made has $bytes bytes, more than the limit of $MOST_BYTES."
    writable_dir "$TOP/dist"
    install -m 755 "$made" "$TOP/dist/ertslab.part"
    mv "$TOP/dist/ertslab.part" "$TOP/dist/ertslab"
    say "dist/ertslab has $((bytes / 1000)) kB, and runs on OTP $release and later."
}

main "$@"
