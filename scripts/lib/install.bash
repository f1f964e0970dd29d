# Sourced by install.sh: the folder in which an OTP is installed. It is made beside its final place and moved there when
# it is whole. Two files in it are ours:
#   OTP_PATCHES   what it is: words and values, and a line for each patch with its SHA-256
#   OTP_MANIFEST  the SHA-256 of each file, as sha256sum writes it, 'link TARGET PATH' for each link, and last 'end'
# shellcheck shell=bash

INSTALLED_FIRST_LINE='Erlang/OTP installed by ertslab'

# fact NAME FOLDER: what OTP_PATCHES of an installation says, or nothing.
fact() { sed -n "s/^$1 //p" "$2/OTP_PATCHES" 2>/dev/null || true; }

is_ours() { [[ $(head -n 1 "$1/OTP_PATCHES" 2>/dev/null) == "$INSTALLED_FIRST_LINE" && -f $1/OTP_MANIFEST ]]; }

# The folders beside PREFIX where the next state is made, and where the last one is until the next is there.
new_of() { printf '%s/.%s.ertslab-new\n' "$(dirname "$1")" "$(basename "$1")"; }
old_of() { printf '%s/.%s.ertslab-old\n' "$(dirname "$1")" "$(basename "$1")"; }

# absolute PATH: without links and dots. It becomes part of OTP's own scripts, so only plain characters are allowed.
absolute() {
    local path
    path=$(realpath -m -- "$1")
    [[ $path != / ]] || misuse "--prefix wants a folder of its own, not /"
    [[ $path =~ ^(/[A-Za-z0-9._+@=-]+)+$ ]] ||
        misuse "--prefix '$1' has characters that OTP's own scripts do not take; use letters, digits and . _ + @ = - only"
    printf '%s\n' "$path"
}

# refuse_link PATH: as a prefix. A link to the folder in use may lead to the one that was kept to go back to.
refuse_link() {
    [[ ! -L $(realpath -ms -- "$1") ]] ||
        fail "$1 is a link, and $(realpath -m -- "$1"), to which it leads, would be replaced; name that folder, or a new one."
}

# files_of FOLDER: all that is in it but the manifest and folders, sorted.
files_of() { (cd "$1" && find . ! -type d ! -path ./OTP_MANIFEST | LC_ALL=C sort); }

manifest_files() { sed -nE 's,^(link [^ ]+ |[0-9a-f]{64}  )(\./.*)$,\2,p' "$1/OTP_MANIFEST" | LC_ALL=C sort; }

write_manifest() {
    (
        cd "$1" || exit
        find . -type f ! -path ./OTP_MANIFEST -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
        find . -type l -printf 'link %l %p\n' | LC_ALL=C sort
        echo end
    ) >"$1/OTP_MANIFEST"
}

# is_complete MANIFEST: whether it has its last line, and none that cannot be read.
is_complete() { [[ $(tail -n 1 "$1") == end ]] && ! grep -qvE '^((link [^ ]+ |[0-9a-f]{64}  )\./.*|end)$' "$1"; }

check_manifest() {
    is_complete "$1/OTP_MANIFEST" ||
        fail "$1/OTP_MANIFEST is damaged, so it is not known what OTP brought; move $1 away, and install it again."
}

# foreign_files FOLDER: what an installation did not bring.
foreign_files() { LC_ALL=C comm -23 <(files_of "$1") <(manifest_files "$1"); }

# damaged_files FOLDER: files and links of the manifest that are missing or changed. Who can change these can change the
# manifest, too: this finds accidents, not attacks.
damaged_files() {
    (
        cd "$1" || exit
        grep -v -e '^link ' -e '^end$' OTP_MANIFEST | LC_ALL=C sha256sum --check 2>/dev/null | sed -n 's/: FAILED.*//p' || true
        sed -n 's/^link //p' OTP_MANIFEST | while read -r target path; do
            [[ $(readlink -- "$path") == "$target" ]] || printf '%s\n' "$path"
        done
    )
}

# first_of LINES: the first, and how many more there are.
first_of() {
    local count
    count=$(wc -l <<<"$1")
    printf '%s' "$(head -n 1 <<<"$1")"
    ((count == 1)) || printf ' and %d more' $((count - 1))
}

# users_of PREFIX: processes whose program is in it. epmd serves other nodes too, and does not mind.
users_of() {
    local exe target
    for exe in /proc/[0-9]*/exe; do
        # Of another user's process only the command line can be read. A VM's begins with the path of its program.
        target=$(readlink "$exe" 2>/dev/null) || { IFS= read -r -d '' target <"${exe%exe}cmdline"; } 2>/dev/null || continue
        [[ $target != "$1/"* || $target == */epmd ]] || printf '%s ' "$(cut -d/ -f3 <<<"$exe")"
    done
}

# check_prefix PREFIX RELEASE: refuses a place that holds something else, or cannot be written to.
check_prefix() {
    local prefix=$1 release=$2 parent foreign users
    parent=$(existing_part "$(dirname "$prefix")")
    [[ -d $parent ]] || fail "$parent is not a folder, so nothing can be installed in $prefix."
    [[ -w $parent ]] || fail "cannot write to $parent, where $prefix is made; choose another --prefix, or another user."
    [[ -e $prefix ]] || return 0
    [[ -d $prefix ]] || fail "$prefix is a file; --prefix needs a folder."
    ! mountpoint -q "$prefix" || fail "$prefix is a mount point, which cannot be replaced as a whole; name a folder below it."
    [[ -n $(ls -A "$prefix") ]] || return 0
    is_ours "$prefix" ||
        fail "$prefix holds something that './build.sh install' did not put there; name an empty or a new folder."
    [[ $(fact release "$prefix") == "$release" ]] ||
        fail "$prefix holds OTP $(fact version "$prefix"), and a release replaces only itself; name another folder for OTP $release."
    check_manifest "$prefix"
    foreign=$(foreign_files "$prefix")
    [[ -z $foreign ]] ||
        fail "$prefix has files that OTP did not bring, which would be lost ($(first_of "$foreign")); move them away."
    users=$(users_of "$prefix")
    [[ -z $users ]] || fail "programs run from $prefix (processes ${users% }); stop them, or install beside it."
}

device_of() { stat -c %d "$(existing_part "$1")"; }

# check_room PREFIX CACHE_MB PREFIX_MB: whether the build cache and the place have it.
check_room() {
    local prefix=$1 in_cache=$2 installed=$3
    if [[ $(device_of "$prefix") == "$(device_of "$CACHE")" ]]; then
        in_cache=$((in_cache + installed))
        installed=0
    fi
    (($(free_mb "$CACHE") >= in_cache)) ||
        fail "no room: the build wants $in_cache MB at $CACHE, and $(free_mb "$CACHE") MB are free (ERTSLAB_CACHE moves it)."
    (($(free_mb "$prefix") >= installed)) ||
        fail "no room: the installation wants $installed MB at $(dirname "$prefix"), and $(free_mb "$prefix") MB are free."
}

# recover PREFIX: mends what a killed installation left. The last state is moved away only when the next is whole.
recover() {
    local old new
    old=$(old_of "$1") new=$(new_of "$1")
    if [[ -d $old && ! -e $1 ]]; then
        mv -T "$old" "$1"
        say "An installation that was interrupted is undone: $1 is as it was."
    fi
    rm -rf "$old" "$new"
}

# move_into_place NEW PREFIX: two renames, which are not interrupted by a signal that can be held back.
move_into_place() {
    local new=$1 prefix=$2 old
    old=$(old_of "$prefix")
    trap '' INT TERM HUP
    [[ ! -e $prefix ]] || mv -T "$prefix" "$old" || fail "cannot move $prefix away; it stays as it is."
    if ! mv -T "$new" "$prefix"; then
        [[ ! -e $old ]] || mv -T "$old" "$prefix"
        fail "cannot move the new installation to $prefix; what was there stays."
    fi
    trap - INT TERM HUP
    rm -rf "$old"
}

# debian_revision FOLDER: of the patches in an installation, or nothing.
debian_revision() { fact debian "$1" | sed 's/^none$//'; }

# mended_there FOLDER: the vulnerabilities that these patches mend.
mended_there() { fact debian-patch "$1" | mended_by; }

# describe_installation RELEASE VARIANT SLIM OPTIONS: the text of OTP_PATCHES.
describe_installation() {
    printf '%s\n' "$INSTALLED_FIRST_LINE" "release $1" "version $OTP_VERSION" "variant $2" \
        "slim $3" "key $(installation_key "$2" "$3")" "source-sha256 $SOURCE_SHA256" "compiler $(compiler_line)" \
        "configure ./configure${4:+ $4}" "left-out ${LEFT_OUT:-nothing}" \
        "without-native-code $WITHOUT_NATIVE" "debian ${DEBIAN_REVISION:-none}"
    debian_patches | sed 's/^/debian-patch /'
    patches_now "$2" | sed 's/^/patch /'
}

# try_installation FOLDER RELEASE: whether its VM starts from that folder, and finds the library that crypto needs.
try_installation() {
    local says
    # Variables by which another OTP could be meant are not passed on.
    says=$(timeout 60 env -u ERL_LIBS -u ERL_ROOTDIR -u ERL_FLAGS -u ERL_AFLAGS -u ERL_ZFLAGS \
        "$1/bin/erl" -noinput -boot no_dot_erlang -eval '
            case code:lib_dir(crypto) of {error, _} -> ok; _ -> {ok, _} = application:ensure_all_started(crypto) end,
            Lines = [code:root_dir(), erlang:system_info(otp_release), erlang:system_info(system_version)],
            io:put_chars(lists:join($\n, [string:trim(Line) || Line <- Lines])), halt().' 2>&1) || { say "$says"; return 1; }
    say "$says"
    grep -qxF "$1" <<<"$says" && grep -qxF "$2" <<<"$says"
}

# patches_installed FOLDER, and patches_now VARIANT: a line for each patch.
patches_installed() { sed -n 's/^patch //p' "$1/OTP_PATCHES"; }
patches_now() {
    local patch
    variant_patch_files "$1" | while read -r patch; do
        printf '%s %s\n' "$(sha256_of "$patch")" "${patch#"$PATCH_DIR"/}"
    done
}

# command_for PREFIX: installs there what is there now.
command_for() {
    printf './build.sh install --otp %s --vm %s%s%s --prefix %s' "$(fact release "$1")" "$(fact variant "$1")" \
        "$([[ $(fact slim "$1") != yes ]] || echo ' --slim')" \
        "$([[ $(fact debian "$1") != none ]] || echo ' --no-debian-patches')" "$1"
}

# compare_with_project PREFIX: whether the project would install the same now.
compare_with_project() {
    local release variant version kept there
    release=$(fact release "$1") variant=$(fact variant "$1") version=$(fact version "$1") there=$(debian_revision "$1")
    kept=$(cut -d' ' -f1 "$CACHE/sources/$release.current" 2>/dev/null) || true
    if ! grep -qx -- "$release" <(releases); then
        say "OTP $release is not a release of this project any more."
    elif [[ -z $kept ]]; then
        say "No sources of OTP $release are kept here, so the version that would be installed now is not known."
    elif [[ $kept != "$version" ]]; then
        say "'./build.sh install' would install OTP $kept now."
    else
        say "'./build.sh install' would install OTP $kept now, too."
    fi
    kept=$(cut -d' ' -f1 "$CACHE/sources/$release.debian" 2>/dev/null) || true
    [[ -z $there || -z $kept || $there == "$kept" ]] || say "It would have Debian's patches of revision $kept; $there is installed."
    if ! grep -qx -- "$variant" <(variant_names); then
        say "There is no variant $variant any more."
    elif [[ $(patches_installed "$1") == "$(patches_now "$variant")" ]]; then
        say "Its patches are those of $variant now."
    else
        say "The patches of $variant are others now; '$(command_for "$1")' brings them."
    fi
}

# check_installation PREFIX: --check.
check_installation() {
    local damaged foreign version
    [[ -d $1 ]] || fail "there is no folder $1."
    is_ours "$1" || fail "$1 holds nothing that './build.sh install' put there."
    check_manifest "$1"
    damaged=$(damaged_files "$1")
    version=$(fact version "$1")
    foreign=$(foreign_files "$1")
    [[ -z $foreign ]] || say "Files that OTP did not bring: $(first_of "$foreign")."
    [[ -z $damaged ]] || fail "$1 is damaged: $(first_of "$damaged"); install it again."
    say "OTP $version with $(fact variant "$1") in $1 is whole: $(manifest_files "$1" | wc -l) files."
    compare_with_project "$1"
    own_temporary
    compare_with_debian "$(fact release "$1")" "$(debian_revision "$1")" "$(command_for "$1") --refresh"
    say_advisories "$version" "$(mended_there "$1")"
}
