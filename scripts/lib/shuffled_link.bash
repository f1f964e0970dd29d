#!/usr/bin/env bash
# Stands for the linker in a make: links the object files in another order, which
# moves all code of the executable and changes nothing else. The order is that of
# the SHA-256 of the seed and each file's name, so that the same seed gives the
# same order wherever the tree lies, and build N of each variant a similar one.
set -euo pipefail

if (($# < 2)); then
    echo "Usage: scripts/lib/shuffled_link.bash SEED LINKER [ARGUMENTS]" >&2
    exit 2
fi
seed=$1
shift

# is_object INDEX: whether that word is an object file to link, not one to write.
is_object() { [[ ${words[$1]} == *.o && ($1 -eq 0 || ${words[$1 - 1]} != -o) ]]; }

words=("$@")
places=()
for index in "${!words[@]}"; do
    ! is_object "$index" || places+=("$index")
done

shuffled=()
while read -r _ index; do
    shuffled+=("${words[index]}")
done < <(for index in "${places[@]}"; do
    printf '%s %s\n' "$(printf '%s %s' "$seed" "${words[index]##*/}" | sha256sum | cut -d' ' -f1)" "$index"
done | LC_ALL=C sort -s -k1,1)

for number in "${!places[@]}"; do
    words[places[number]]=${shuffled[number]}
done
exec "${words[@]}"
