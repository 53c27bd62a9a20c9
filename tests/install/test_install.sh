#!/bin/sh
# Installs into a temporary prefix and uses Facet from there as strangers would: by find_package and
# by pkg-config, from C and from C++, static and shared, the runtime alone and with the study. Moves
# the tree first: nothing in it may know where it was.
#
# usage: test_install.sh CMAKE BUILD_FOLDER C_COMPILER NM
set -eu
cmake=$1 build=$2 cc=$3 nm=$4
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
examples=$here/../../examples
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case $(basename "$cc") in
clang*) cxx=clang++ ;;
*) cxx=g++ ;;
esac

check() { # WHAT FOUND EXPECTED
    [ "$2" = "$3" ] || {
        echo "$1: expected '$3', found '$2'" >&2
        exit 1
    }
    echo "$1: as expected"
}

quietly() {
    "$@" >"$scratch/log" 2>&1 || {
        echo "failed: $*" >&2
        cat "$scratch/log" >&2
        exit 1
    }
}

quietly "$cmake" --install "$build" --prefix "$scratch/first"
mv "$scratch/first" "$scratch/prefix"
prefix=$scratch/prefix
data=$prefix/share/facet
policy=$data/models/race-factored.safetensors
libdir=$(dirname "$(find "$prefix" -name libfacet.a)")

# What the programs below print: the examples of the build itself tell.
"$build/examples/plan" "$policy" race1/wide >"$scratch/plan.txt"
"$build/examples/fly" "$data/courses" race5/wide "$policy" >"$scratch/fly.txt"
plan=$(cat "$scratch/plan.txt") fly=$(cat "$scratch/fly.txt") gates=$(tail -n 1 "$scratch/fly.txt")
demos='2 demos of 4 x 2, the last ends with 2.75'
check 'the flight' "$gates" '5/5 gates'

# ---- The program --------------------------------------------------------------------------------

check 'facet --version' "$("$prefix/bin/facet" --version | cut -d' ' -f1)" facet
quietly "$prefix/bin/facet" fly --expert --task race8/wide # with the courses beside it

# ---- find_package -------------------------------------------------------------------------------

project() { # FOLDER COMPONENTS
    quietly "$cmake" -S "$here/outside" -B "$scratch/$1" -G Ninja -DCMAKE_C_COMPILER="$cc" \
        -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$examples" \
        "-DWANTED=$2"
    quietly "$cmake" --build "$scratch/$1"
}

project runtime runtime
project both 'runtime;study'
for folder in runtime both; do
    for kind in '' _shared; do
        programs=$scratch/$folder
        check "$folder: plan$kind" "$("$programs/plan$kind" "$policy" race1/wide)" "$plan"
        check "$folder: fly$kind" \
            "$("$programs/fly$kind" "$data/courses" race5/wide "$policy")" "$fly"
        check "$folder: twin$kind" \
            "$("$programs/twin$kind" "$policy" race5/wide "$data/courses")" "$gates"
    done
    check "$folder: whole archive" "$("$scratch/$folder/whole" "$policy" race1/wide)" "$plan"
done
for kind in '' _shared _whole; do
    check "study: demos$kind" "$("$scratch/both/demos$kind" "$scratch/demos.h5")" "$demos"
done

# A program elsewhere finds the data through the shared library, or where it is told to look.
check 'data beside the shared library' "$("$scratch/runtime/fly_shared" | tail -n 1)" '2/2 gates'
check 'data in FACET_DATA' "$(FACET_DATA=$data "$scratch/runtime/fly" | tail -n 1)" '2/2 gates'
FACET_DATA=$scratch "$scratch/runtime/fly" 2>"$scratch/err" && exit 1
check 'data nowhere' "$(cut -d, -f1,2 "$scratch/err")" "fly: cannot find the folder 'courses' that \
ships with Facet: looked in $scratch, in the folders above $scratch/runtime/fly"

# ---- pkg-config ---------------------------------------------------------------------------------

PKG_CONFIG_PATH=$libdir/pkgconfig
export PKG_CONFIG_PATH
# The linker prefers a shared library of the same name, so the static one is asked for by its file.
static_flags() { pkg-config --static --cflags --libs "$1" | sed 's/-l\(facet[a-z_]*\)/-l:lib\1.a/g'; }
shared_flags() { echo "$(pkg-config --cflags --libs "$1") -Wl,-rpath,$libdir"; }
whole_flags() { static_flags "$1" | sed 's/\(-l:lib[a-z_]*\.a\)/-Wl,--whole-archive \1 -Wl,--no-whole-archive/g'; }

# shellcheck disable=SC2046  # one word a flag
for kind in static shared whole; do
    quietly "$cc" "$examples/plan.c" -o "$scratch/plan" $("${kind}_flags" facet)
    check "pkg-config: plan, $kind" "$("$scratch/plan" "$policy" race1/wide)" "$plan"
    quietly "$cxx" -std=c++17 "$here/outside/twin.cpp" -o "$scratch/twin" $("${kind}_flags" facet)
    check "pkg-config: twin, $kind" \
        "$("$scratch/twin" "$policy" race5/wide "$data/courses")" "$gates"
    quietly "$cc" "$here/outside/demos.c" -o "$scratch/demos" $("${kind}_flags" facet_study)
    check "pkg-config: demos, $kind" "$("$scratch/demos" "$scratch/demos.h5")" "$demos"
done

# ---- A host with names of its own ---------------------------------------------------------------

host() { # WHAT LIBRARY FLAGS... : compiles host.c with these flags in front of the library's
    what=$1 library=$2
    shift 2
    for kind in static shared; do
        # shellcheck disable=SC2046
        quietly "$@" "$here/host.c" -x none -o "$scratch/host" $("${kind}_flags" "$library")
        check "$what, $kind" "$("$scratch/host" "$policy" "$data/courses" "$scratch/own")" \
            "host: $gates"
    done
}
host 'host in C' facet "$cc" -std=c17 -x c
host 'host in C++' facet "$cxx" -std=c++17 -x c++
host 'host in C with the study' facet_study "$cc" -std=c17 -DHOST_STUDY -x c
host 'host in C++ with the study' facet_study "$cxx" -std=c++17 -DHOST_STUDY -x c++

# Every name that is private to Facet, as a function of the host's that ends the program.
"$nm" -g --defined-only "$build/libfacet_inside.a" | awk 'NF == 3 { print $3 }' | grep -v '^facet_' |
    sort -u | sed 's/.*/void &(void) { abort(); }/' >"$scratch/names"
{ echo 'void abort(void);' && cat "$scratch/names"; } >"$scratch/names.c"
[ "$(wc -l <"$scratch/names")" -gt 300 ] || {
    echo "found only $(wc -l <"$scratch/names") private names" >&2
    exit 1
}
quietly "$cc" -w -fno-builtin -c "$scratch/names.c" -o "$scratch/names.o"
# shellcheck disable=SC2046
for kind in static shared; do
    quietly "$cc" -rdynamic "$examples/plan.c" "$scratch/names.o" -o "$scratch/plan" \
        $("${kind}_flags" facet)
    check "all private names taken, $kind" "$("$scratch/plan" "$policy" race1/wide)" "$plan"
    quietly "$cc" -rdynamic "$here/outside/demos.c" "$scratch/names.o" -o "$scratch/demos" \
        $("${kind}_flags" facet_study)
    check "all private names taken, study, $kind" "$("$scratch/demos" "$scratch/demos.h5")" "$demos"
done
