#!/bin/sh
# Installs into a temporary prefix and uses the library from there as a stranger would, by
# find_package and by pkg-config. Moves the tree first: nothing in it may know where it was.
#
# usage: test_install.sh CMAKE BUILD_FOLDER C_COMPILER
set -eu
cmake=$1 build=$2 compiler=$3
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
expected=6627e8d5 # the first word of Philox 4x32-10 for a key and counter of zero

check() {
    [ "$2" = "$3" ] || {
        echo "$1: expected '$3', found '$2'" >&2
        exit 1
    }
    echo "$1: $2"
}

"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix

check 'program' "$("$prefix/bin/facet" --version | cut -d' ' -f1)" facet

"$cmake" -S "$here/consumer" -B "$scratch/consumer" -G Ninja -DCMAKE_C_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/configure.log"
"$cmake" --build "$scratch/consumer" >"$scratch/build.log" || {
    cat "$scratch/build.log" >&2
    exit 1
}
check 'find_package' "$("$scratch/consumer/consumer")" "$expected"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name facet.pc)")
export PKG_CONFIG_PATH
flags=$(pkg-config --static --cflags --libs facet)
# shellcheck disable=SC2086  # one word a flag
"$compiler" "$here/consumer/consumer.c" -o "$scratch/by_pkg_config" $flags
check 'pkg-config --static' "$("$scratch/by_pkg_config")" "$expected"

# The whole archive, so that a library missing from facet.pc shows.
# shellcheck disable=SC2086
"$compiler" "$here/consumer/consumer.c" -o "$scratch/whole" \
    -Wl,--whole-archive "$(find "$prefix" -name libfacet.a)" -Wl,--no-whole-archive $flags
check 'pkg-config --static, whole archive' "$("$scratch/whole")" "$expected"

# A flight with nothing but the public headers and the installed courses.
"$cmake" -S "$here/../../examples" -B "$scratch/examples" -G Ninja \
    -DCMAKE_C_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/configure.log"
"$cmake" --build "$scratch/examples" >"$scratch/build.log" || {
    cat "$scratch/build.log" >&2
    exit 1
}
check 'example' "$("$scratch/examples/fly" "$prefix/share/facet/courses" | tail -n 1)" '2/2 gates'

# Every header, from C++.
headers=$(cd "$prefix/include" && echo facet/*.h | tr ' ' '\n')
included=$(sed -n 's/^#include <\(facet\/.*\)>$/\1/p' "$here/headers.cpp")
check 'headers' "$included" "$headers"
# shellcheck disable=SC2086
c++ -Wall -Wextra -Werror "$here/headers.cpp" -o "$scratch/headers" $flags
check 'C++' "$("$scratch/headers")" "$expected"
