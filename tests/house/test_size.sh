#!/bin/sh
# The runtime is small: libfacet.so stripped stays under 400 kB, and examples/plan.c with the static
# runtime inside, unused code left out and
# stripped, stays under 600 kB and needs the C library and cJSON alone.
#
# usage: test_size.sh SOURCE_FOLDER BUILD_FOLDER C_COMPILER
set -eu
source=$1 build=$2 compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
most=600000 # bytes
failed=0

link() { # OUTPUT FLAGS...
    output=$scratch/$1
    shift
    # shellcheck disable=SC2046  # one word a flag
    "$compiler" -O2 -I"$source/include" "$source/examples/plan.c" -o "$output" "$@" \
        "$build/libfacet.a" $(pkg-config --libs libcjson) -lm -pthread
    wc -c <"$output"
}

strip -o "$scratch/libfacet.so" "$build/libfacet.so"
shared=$(wc -c <"$scratch/libfacet.so")
echo "libfacet.so: $shared bytes"
[ "$shared" -lt 400000 ] || {
    echo "libfacet.so has $shared bytes stripped, expected less than 400000" >&2
    failed=1
}
size=$(link plan -Wl,--gc-sections -s)
echo "plan: $size bytes; with all of the runtime $(link whole -s)"
[ "$size" -lt "$most" ] || {
    echo "plan has $size bytes, expected less than $most" >&2
    failed=1
}
ldd "$scratch/plan" | awk '{ print $1 }' >"$scratch/needed"
while read -r needed; do
    case $needed in
    linux-vdso.so.* | /lib*/ld-linux*.so.* | libc.so.* | libm.so.* | libcjson.so.*) ;;
    *)
        echo "plan needs $needed, expected the C library and cJSON alone" >&2
        failed=1
        ;;
    esac
done <"$scratch/needed"
"$scratch/plan" "$source/models/race-factored.safetensors" race1/wide >"$scratch/plan.txt"
[ "$(wc -l <"$scratch/plan.txt")" -eq 32 ] || {
    echo "plan printed $(wc -l <"$scratch/plan.txt") keypoints, expected 32" >&2
    failed=1
}
exit "$failed"
