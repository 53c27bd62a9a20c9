#!/bin/sh
# The runtime alone: where only cJSON can be found of all libraries, FACET_STUDY=OFF configures,
# builds and installs, with the examples. The build folder is outside the clone, and the examples
# in it find the data all the same.
#
# usage: test_runtime_alone.sh CMAKE SOURCE_FOLDER C_COMPILER
set -eu
cmake=$1 source=$2 compiler=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build=$scratch/build

fail() {
    echo "$*" >&2
    exit 1
}

quietly() {
    "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log" >&2
        fail "failed: $*"
    }
}

configure() { # FOLDER OPTIONS...
    folder=$1
    shift
    "$cmake" -S "$source" -B "$folder" -G Ninja -DCMAKE_C_COMPILER="$compiler" "$@"
}

# pkg-config knows cJSON and nothing else.
mkdir "$scratch/pkgconfig"
cp "$(pkg-config --variable=pcfiledir libcjson)/libcjson.pc" "$scratch/pkgconfig"
export PKG_CONFIG_LIBDIR="$scratch/pkgconfig"
if configure "$scratch/study" >/dev/null 2>&1; then
    fail 'the study was configured, so its libraries are still found'
fi

quietly configure "$build" -DFACET_STUDY=OFF -DBUILD_TESTING=ON
quietly "$cmake" --build "$build"
quietly "$cmake" --install "$build" --prefix "$scratch/prefix"

# No source takes in a header of another library.
if ninja -C "$build" -t deps | grep -E 'hdf5|H5|cblas|openblas|embree|zlib\.h|mpi\.h'; then
    fail 'the runtime includes a header of the study'
fi

[ "$("$build/examples/fly" | tail -n 1)" = '2/2 gates' ] ||
    fail 'examples/fly does not find the courses from a build folder outside the clone'
for file in lib/libfacet.a lib/libfacet.so include/facet/facet.h share/facet/courses/course.json; do
    [ -n "$(find "$scratch/prefix" -path "*/${file#lib/}")" ] || fail "$file was not installed"
done
for file in bin include/facet_study; do
    [ ! -e "$scratch/prefix/$file" ] || fail "$file was installed with the runtime alone"
done
if find "$scratch/prefix" -name '*facet[_-]study*' | grep .; then fail 'the study was installed'; fi

# Without the tests, as ./facet configures a fresh clone, the examples build when they are asked for.
quietly configure "$build" -DFACET_STUDY=OFF -DBUILD_TESTING=OFF
quietly ninja -C "$build" -n example_agent
echo "built and installed $(find "$scratch/prefix" -type f | wc -l) files"
