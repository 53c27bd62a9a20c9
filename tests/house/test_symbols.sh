#!/bin/sh
# What the libraries show to the outside: the functions that the public headers declare, all with the
# prefix facet_, and nothing else; and what the shared runtime needs of the system.
#
# usage: test_symbols.sh SOURCE_FOLDER BUILD_FOLDER NM READELF
set -eu
source=$1 build=$2 nm=$3 readelf=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
most=85 # functions of the runtime: what one person can keep in mind
failed=0

fail() {
    echo "$*" >&2
    failed=1
}

declared() { # HEADERS...: the functions marked FACET_API
    cat "$@" | sed -e 's://.*::' -e '/^#/d' | tr '\n' ' ' |
        grep -o 'FACET_API [^;(]*(' | sed 's/^.*[ *]\([A-Za-z0-9_]*\)($/\1/' | sort
}

exported() { # FILE OPTION...
    file=$1
    shift
    "$nm" "$@" --defined-only "$file" | awk 'NF == 3 { print $3 }' | sort -u
}

library() { # NAME
    declared "$source/include/$1"/*.h >"$scratch/declared"
    [ -s "$scratch/declared" ] || fail "include/$1: found no public function"
    for file in "lib$1.so" "lib$1.a"; do
        case $file in
        *.so) exported "$build/$file" -D >"$scratch/exported" ;;
        *.a) exported "$build/$file" -g >"$scratch/exported" ;;
        esac
        if grep -v '^facet_' "$scratch/exported" >"$scratch/bare"; then
            fail "$file has names without the prefix facet_:" "$(tr '\n' ' ' <"$scratch/bare")"
        fi
        diff -u --label "declared in include/$1" --label "exported by $file" \
            "$scratch/declared" "$scratch/exported" >&2 || failed=1
    done
    echo "lib$1: $(wc -l <"$scratch/declared") functions"
}

library facet
count=$(wc -l <"$scratch/declared")
[ "$count" -le "$most" ] || fail "libfacet has $count public functions, expected at most $most"
library facet_study

for name in facet facet_study; do
    "$readelf" -d "$build/lib$name.so" >"$scratch/dynamic"
    grep -q "SONAME.*\[lib$name\.so\.[0-9]*\]" "$scratch/dynamic" || fail "lib$name.so has no SONAME"
done

"$readelf" -d "$build/libfacet.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$scratch/needed"
while read -r needed; do
    case $needed in
    libc.so.* | libm.so.* | libcjson.so.* | libpthread.so.* | libdl.so.* | ld-linux*) ;;
    *) fail "libfacet.so needs $needed, expected the C library and cJSON alone" ;;
    esac
done <"$scratch/needed"
echo "libfacet.so needs $(tr '\n' ' ' <"$scratch/needed")"
exit "$failed"
