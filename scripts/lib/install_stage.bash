# Sourced by install_build.bash: collects a built tree of OTP, which is $BASE/tree, in the folder that is to be installed. A change
# here builds nothing again.
# shellcheck shell=bash

# left_out: the applications that configure left out, in a line.
left_out() {
    local file
    for file in "$BASE"/tree/lib/*/SKIP; do
        [[ ! -e $file ]] || basename "${file%/SKIP}"
    done | paste -sd' '
}

# release_to STAGE PREFIX: as 'make install' does, but into one folder that can be moved.
release_to() {
    in_tree make release "RELEASE_ROOT=$1"
    (cd "$1" && ./Install -cross -minimal "$2")
}

# programs_of FOLDER: its executables and shared objects, not scripts.
programs_of() {
    local file
    find "$1" -type f \( -perm -u+x -o -name '*.so' \) | while read -r file; do
        ! LC_ALL=C readelf -h "$file" 2>/dev/null | grep -qE 'Type: +(EXEC|DYN)' || printf '%s\n' "$file"
    done
}

# strip_programs STAGE: debug information goes to files beside the programs, where gdb looks for it. The names of
# functions stay, for perf.
strip_programs() {
    local file debug programs
    mapfile -t programs < <(programs_of "$1")
    for file in "${programs[@]}"; do
        debug=${file%/*}/.debug/${file##*/}.debug
        mkdir -p "${debug%/*}"
        objcopy --only-keep-debug "$file" "$debug"
        strip --strip-debug "$file"
        objcopy "--add-gnu-debuglink=$debug" "$file"
    done
}

# without_native_code: applications that configure built without what needs a library of this machine (wx without windows).
without_native_code() {
    local file
    for file in "$BASE"/base/lib/*/CONF_INFO; do
        [[ ! -e $file ]] || basename "${file%/CONF_INFO}"
    done
}

# drop_documentation STAGE: from the modules, where it is a fifth of what they take.
drop_documentation() {
    "$BASE/tree/bin/erl" -noinput -boot no_dot_erlang -eval '
        [Stage] = init:get_plain_arguments(),
        _ = [begin
                 {ok, _, Chunks} = beam_lib:all_chunks(File),
                 {ok, Beam} = beam_lib:build_module([Chunk || {Id, _} = Chunk <- Chunks, Id =/= "Docs"]),
                 ok = file:write_file(File, Beam)
             end || File <- filelib:wildcard(Stage ++ "/lib/*/ebin/*.beam")],
        halt().' -extra "$1"
}

# make_slim STAGE: leaves what a release needs to run. (Header files of Erlang are small, and some tools read them.)
make_slim() {
    local app
    for app in $(without_native_code); do rm -rf "$1/lib/$app"-*; done
    find "$1" -depth \( -name .debug -o -name examples -o -path '*/erts-*/include' -o -path '*/usr/include' -o -path '*/c_src' \) \
        -type d -exec rm -rf {} +
    find "$1" -type f \( -name '*.erl' -o -name '*.yrl' -o -name '*.xrl' -o -name '*.a' -o -name '*.S' -o -name '*.[ch]' \) -delete
    find "$1" -depth -type d -empty -delete
    drop_documentation "$1"
}
