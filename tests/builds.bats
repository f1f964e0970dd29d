#!/usr/bin/env bats
# The JIT's code, the placement of code in an emulator, and several builds of a variant, which differ in the order of
# their object files and in the alignment of loops: the script that links them, the builds that are kept, and
# comparisons over them.

load lib/common

setup() {
    OUT=$BATS_TEST_TMPDIR/out
    SHUFFLED=$TOP/scripts/lib/shuffled_link.bash
    SMALL=(--vm "stock,prefetch" --param cells=1001 --param value_words=3)
    cd "$BATS_TEST_TMPDIR" || return
}

objects() { printf '%s.o\n' a b c d e f g h; }

# toy NAME SEED: a program of four object files, linked in the order of the seed. Their code differs, because the
# build id depends on the loaded contents and not on names.
toy() {
    local part
    for part in one two three; do
        echo "int $part(int x) { return x + '${part:1:1}'; }" | gcc -c -x c -o "$part.o" -
    done
    echo "int one(int); int main(void) { return one(0); }" | gcc -c -x c -o main.o -
    "$SHUFFLED" "$2" gcc -Wl,--build-id=sha1 -o "$1" one.o two.o three.o main.o
}

# Sources what otp.sh sources.
emulator_functions() {
    # shellcheck source=scripts/lib/common.bash
    source "$TOP/scripts/lib/common.bash"
    # shellcheck source=scripts/otp_base.bash
    source "$TOP/scripts/otp_base.bash"
    # shellcheck source=scripts/otp_emulator.bash
    source "$TOP/scripts/otp_emulator.bash"
    # shellcheck source=scripts/otp_library.bash
    source "$TOP/scripts/otp_library.bash"
    # shellcheck source=otp_patches/variants.sh
    source "$TOP/otp_patches/variants.sh"
}

# toy_base: a base build that compiles and links as OTP does, from two files with loops.
toy_base() {
    local emulator=$BASE/tree/erts/emulator
    mkdir -p "$emulator/beam" "$emulator/obj/toy/opt/jit" "$BASE/tree/make" "$BASE/tree/bin/toy" "$BASE/pristine"
    echo 'long erl_gc(long *p) { long n = 0; while (*p) { n += *p * 7; p++; } while (n > 9) n /= 3; return n; }' \
        >"$emulator/beam/erl_gc.c"
    echo 'long erl_gc(long *); int main(void) { long a[] = {1, 2, 0}; return (int) erl_gc(a); }' >"$emulator/beam/main.c"
    cat >"$emulator/Makefile" <<'MAKE'
V_CC = $(CC)
EMU_LD = $(CC)
OBJ = obj/toy/opt/jit
opt: ../../bin/toy/beam.smp
../../bin/toy/beam.smp: ../../bin/toy/beam.jit
	cp $< $@
../../bin/toy/beam.jit: $(OBJ)/erl_gc.o $(OBJ)/main.o
	$(EMU_LD) -o $@ -Wl,--build-id=sha1 $^
$(OBJ)/%.o: beam/%.c
	$(V_CC) -O3 -c $< -o $@
MAKE
    cp -a "$BASE/tree/erts" "$BASE/tree/make" "$BASE/pristine"
}

# collector EMULATOR: the lengths of functions of OTP's erl_gc.c.
collector() { sizes "$1" | grep -E ' [tT] (erts_garbage_collect|full_sweep_heaps|do_minor)'; }

# code EMULATOR FUNCTION: its disassembly. instructions EMULATOR FUNCTION: the names of its instructions, without
# padding.
code() { objdump -d --no-addresses --no-show-raw-insn --disassemble="$2" "$1" | sed "1,/^<$2>:/d"; }
instructions() { code "$@" | awk '!/nop|xchg +%ax,%ax/ { print $1 }'; }

manifest() { python3 -c "import json; v = json.load(open('$1/manifest.json'))['variants']; $2"; }

@test "the same seed gives the same order, another one another, of the same files" {
    mapfile -t files < <(objects)
    first=$("$SHUFFLED" 2 echo "${files[@]}")
    [ "$first" = "$("$SHUFFLED" 2 echo "${files[@]}")" ]
    [ "$first" != "$(objects | paste -sd' ')" ]
    [ "$first" != "$("$SHUFFLED" 3 echo "${files[@]}")" ]
    [ "$(tr ' ' '\n' <<<"$first" | sort)" = "$(objects)" ]
}

@test "the order goes by the files' names, not by where they lie" {
    mapfile -t files < <(objects)
    here=$("$SHUFFLED" 2 echo "${files[@]}")
    [ "$("$SHUFFLED" 2 echo "${files[@]/#//some/tree/}")" = "/some/tree/${here// / /some/tree/}" ]
}

@test "what is no object file to link keeps its place" {
    run "$SHUFFLED" 2 printf '%s\n' -o out.o -Wl,-z a.o "-DX=a b" b.o c.o libz.a d.o -lm
    [ "$status" -eq 0 ]
    [ "$(grep -v '^[a-d]\.o$' <<<"$output" | paste -sd,)" = "-o,out.o,-Wl,-z,-DX=a b,libz.a,-lm" ]
    for place in 0 1 2 4 7 9; do
        [[ ${lines[place]} != [a-d].o ]]
    done
    run "$SHUFFLED" 2 printf '%s\n' -v
    ends 0 "-v"
}

@test "without a linker there is nothing to link, and its failure is passed on" {
    run "$SHUFFLED" 2
    ends 2 "Usage:"
    run "$SHUFFLED" 2 false a.o b.o
    [ "$status" -eq 1 ]
}

@test "a program in another order is another one with the same symbols" {
    emulator_functions
    toy first 2
    toy second 5
    ! cmp -s first second || return
    same_but_moved first second
    run same_but_moved first first
    ends 1 "made no other emulator"
    echo "int more(void) { return 1; }" | gcc -c -x c -o more.o -
    gcc -Wl,--build-id=sha1 -o third one.o two.o three.o main.o more.o
    run same_but_moved first third
    ends 1 "more"
}

@test "each of 16 builds aligns in a way of its own" {
    emulator_functions
    ways=$(for build in {2..17}; do alignment "$build"; done)
    [ "$(sort -u <<<"$ways" | wc -l)" -eq 16 ]
    for flag in $ways; do
        [[ $flag =~ ^-falign-(loops|jumps)=(8|16|32|64)$ ]]
    done
}

@test "the builds of a variant hold the same code, its loops aligned otherwise" {
    emulator_functions
    BASE=$BATS_TEST_TMPDIR/base CACHE=$BATS_TEST_TMPDIR/cache
    toy_base
    make_builds stock 2 3
    for build in 2 3; do
        cp "$CACHE/emulators/$(emulator_key stock "build$build")" "build$build"
        same_but_moved "$BASE/tree/bin/toy/beam.smp" "build$build"
        [ "$(code "build$build" erl_gc)" != "$(code "$BASE/tree/bin/toy/beam.smp" erl_gc)" ]
        cmp <(instructions "build$build" erl_gc) <(instructions "$BASE/tree/bin/toy/beam.smp" erl_gc)
    done
    [ "$(code build2 erl_gc)" != "$(code build3 erl_gc)" ]
    rm -r "$CACHE"
    make_builds stock_copy 2
    cmp build2 "$CACHE/emulators/$(emulator_key stock build2)"
}

@test "a build that was made in another way is not taken" {
    emulator_functions
    BASE=base
    [ "$(emulator_key stock build2)" = "$(emulator_key stock_copy build2)" ]
    now=$(emulator_key stock build2)
    alignment() { :; }
    [ "$now" != "$(emulator_key stock build2)" ]
}

@test "an emulator is built again where a patch changes its sources, and not its header or a test" {
    emulator_functions
    BASE=base PATCH_DIR=$BATS_TEST_TMPDIR
    echo 'mine | mine.patch | | mine' >variants
    patch_of() {
        printf '%s\n' "Description: $1" '---' '--- a/erts/emulator/beam/erl_gc.c' '+++ b/erts/emulator/beam/erl_gc.c' '@@ -1 +1 @@' \
            -old "+$2" '--- a/erts/emulator/test/gc_SUITE.erl' '+++ b/erts/emulator/test/gc_SUITE.erl' '@@ -1 +1 @@' -old "+$3" >mine.patch
    }
    patch_of first code cases
    built=$(emulator_key mine jit)
    patch_of second code "more cases"
    [ "$(emulator_key mine jit)" = "$built" ]
    patch_of first "other code" cases
    [ "$(emulator_key mine jit)" != "$built" ]
}

# patch_to FILE: a patch of that file.
patch_to() { printf '%s\n' "--- a/$1" "+++ b/$1" '@@ -1 +1 @@' -old +new; }

@test "a complete build compiles again what a first part compiled with another compiler" {
    emulator_functions
    BASE=$BATS_TEST_TMPDIR/base PATCH_DIR=$BATS_TEST_TMPDIR
    mkdir "$BASE"
    patch_to erts/emulator/beam/erl_gc.c >c.patch
    patch_to erts/preloaded/src/init.erl >preloaded.patch
    patch_to lib/stdlib/src/gen.erl >library.patch
    printf '%s | %s.patch | | one\n' c c preloaded preloaded library library >variants
    keys() { echo "$(emulator_key c jit) $(emulator_key library jit) $(emulator_key preloaded jit) $(library_key library)"; }
    read -r -a complete < <(keys)
    touch "$BASE/first_part"
    read -r -a first < <(keys)
    [ "${first[*]:0:2}" = "${complete[*]:0:2}" ]
    [ "${first[2]}" != "${complete[2]}" ]
    [ "${first[3]}" != "${complete[3]}" ]
    touch "$BASE/complete"
    [ "$(keys)" = "${complete[*]}" ]
}

@test "a module is compiled in a folder whose name its path only begins with" {
    emulator_functions
    BASE=$BATS_TEST_TMPDIR/cache
    mkdir -p c "$BASE/lib/stdlib/src"
    ln -s "$DEFAULT_ROOT" "$BASE/root"
    printf '%s\n' '-module(gen).' >"$BASE/lib/stdlib/src/gen.erl"
    cd c
    compile_module "$BASE" lib/stdlib/src/gen.erl "$BASE/ebin"
    [ -f "$BASE/ebin/gen.beam" ]
}

@test "where the compiler aligns nothing otherwise, it is said" {
    emulator_functions
    toy first 2
    toy second 5
    run moved_within first second
    ends 1 "the other alignment changed no function"
}

# Compares the collectors of the built emulators by the lengths of their functions, which include padding before
# loops.
@test "the builds of the emulators differ within the functions of the collector" {
    emulator_functions
    bin=$(echo "$DEFAULT_ROOT"/erts-*/bin)
    [[ -x $bin/beam.stock_build2.smp ]] || skip "a second build is not there (./build.sh otp --builds 2)"
    for vm in "$bin"/beam.*_build2.smp; do
        same_but_moved "${vm/_build2/}" "$vm"
        [ -n "$(collector "$vm")" ]
        [ "$(collector "${vm/_build2/}")" != "$(collector "$vm")" ]
        [ "$(instructions "$vm" erts_garbage_collect_literals | wc -l)" -gt 1000 ]
        cmp <(instructions "${vm/_build2/}" erts_garbage_collect_literals) <(instructions "$vm" erts_garbage_collect_literals)
    done
    cmp "$bin/beam.stock_build2.smp" "$bin/beam.stock_copy_build2.smp"
}

# Otherwise a patch would also be measured by its effect on the position of later code.
@test "functions that no patch changes are the same in every variant, and begin with a cache line" {
    emulator_functions
    bin=$(echo "$DEFAULT_ROOT"/erts-*/bin)
    functions=(copy_shared_perform_x erts_queue_message erts_decode_dist_ext db_put_hash db_get_hash db_erase_hash)
    for function in "${functions[@]}"; do instructions "$bin/beam.stock.smp" "$function" >"stock.$function"; done
    for vm in "$bin"/beam.*.smp; do
        # libatomic_ops differs everywhere, because all code contains its atomic operations, and tuned_pgo, because the compiler
        # knows what runs most.
        [[ $vm != *_build* && $vm != */beam.libatomic_ops.smp && $vm != */beam.tuned_pgo.smp ]] || continue
        nm "$vm" >symbols
        for function in "${functions[@]}"; do
            [[ $(awk -v name="$function" '$3 == name { print $1 }' symbols) == *[048c]0 ]]
            # It makes references to binaries, which policy charges by share.
            [[ $vm/$function != */beam.policy.smp/copy_shared_perform_x ]] || continue
            cmp "stock.$function" <(instructions "$vm" "$function")
        done
    done
}

# of_x86: skips a test that reads machine code.
of_x86() { [[ $(uname -m) == x86_64 ]] || skip "the code of this processor is another"; }

# dump_pairs VM: writes the code that its JIT makes of the module pairs to pairs.asm.
dump_pairs() {
    rm -f pairs.asm
    "$TOP/ertslab" erl --vm "$1" -- +JDdump true -noinput -eval '{module, pairs} = code:load_file(pairs), halt().'
    grep -q 'reverse/2' pairs.asm
}

@test "the JIT of tuned loads no two registers at once that were just stored, and stock's does" {
    of_x86
    cat >pairs.erl <<'ERL'
-module(pairs).
-export([reverse/2, swapped/2, taken/1]).
reverse([Head | Tail], Reversed) -> reverse(Tail, [Head | Reversed]);
reverse([], Reversed) -> Reversed.
swapped(A, B) -> {B, A}.
taken({A, B}) -> [A | B].
ERL
    "$DEFAULT_ROOT/bin/erlc" pairs.erl
    dump_pairs stock
    grep -q 'xmmword ptr' pairs.asm
    for vm in tuned jit_moves; do
        dump_pairs "$vm"
        [ "$(grep -c 'xmmword ptr' pairs.asm)" -eq 0 ]
    done
}

# arguments_at_once EMULATOR: which of these BIFs load two of their arguments as one vector.
arguments_at_once() {
    for function in send_2 send_3 append_2 put_2; do
        code "$1" "$function" | grep -qE 'mov(dqu|ups|upd) +(0x8)?\(%rsi\),%xmm' && echo "$function"
    done
}

@test "the BIFs of tuned that are called most load no two arguments at once" {
    bin=$(echo "$DEFAULT_ROOT"/erts-*/bin)
    [ -n "$(arguments_at_once "$bin/beam.stock.smp")" ] || skip "this compiler loads those of stock one by one"
    for vm in tuned jit_moves; do
        [ "$(code "$bin/beam.$vm.smp" send_2 | wc -l)" -gt 50 ]
        [ -z "$(arguments_at_once "$bin/beam.$vm.smp")" ]
    done
}

@test "the number of builds is checked" {
    for number in 0 x 100 ""; do
        run "$TOP/build.sh" otp --builds "$number"
        ends 2 "--builds needs a number from 1 to 99"
    done
}

@test "the manifest holds the builds of each variant, and verify counts them" {
    for file in "$TOP"/build/otp-[0-9]*/manifest.json; do
        root=${file%/manifest.json}
        manifest "$root" "assert all(x['builds'][0]['build_id'] == x['build_id'] for x in v.values()), v"
        manifest "$root" "assert v['stock']['builds'][1:] == [dict(b, executable=b['executable'].replace('_copy', ''))
            for b in v['stock_copy']['builds'][1:]]"
    done
    mkdir -p copy/build
    cp -r "$TOP/build.sh" "$TOP/scripts" "$TOP/otp_patches" copy
    cp -al "$DEFAULT_ROOT" "copy/build/otp-$DEFAULT_OTP" 2>/dev/null || cp -a "$DEFAULT_ROOT" copy/build
    python3 - "copy/build/otp-$DEFAULT_OTP/manifest.json" <<'PY'
import json, os, sys
path = sys.argv[1]
manifest = json.load(open(path))
manifest['variants']['stock']['builds'].pop()
os.remove(path)
json.dump(manifest, open(path, 'w'))
PY
    run copy/build.sh verify --otp "$DEFAULT_OTP"
    ends 1 "the number of builds of the emulator stock is"
}

@test "the pairs of a comparison take the builds in turn" {
    [[ -x $(echo "$DEFAULT_ROOT"/erts-*/bin/beam.prefetch_build2.smp) ]] ||
        skip "a second build is not there (./build.sh otp --builds 2)"
    run "$TOP/ertslab" compare hibernate --otp "$DEFAULT_OTP" --quick --builds 2 "${SMALL[@]}" --out "$OUT"
    ends 0 "prefetch, length_dense by build: "
    python3 - "$OUT" <<'PY'
import json, sys
plan = json.load(open(sys.argv[1] + '/session.json'))
builds = {arm['label']: arm['vm']['builds'] for arm in plan['arms']}
runs = [r for r in map(json.loads, open(sys.argv[1] + '/samples.jsonl')) if r['type'] == 'run']
assert plan['builds'] == 2 and len(runs) == 18
assert all(len(set(ids)) == 2 for ids in builds.values())
assert all(r['build_id'] == builds[r['label']][(r['pair'] - 1) % 2] for r in runs)
PY
}
