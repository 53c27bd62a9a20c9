#!/bin/sh
# Every public header compiles alone, as C11, C17 and C++17, without a warning; the public headers
# include public headers and those of the C library; the umbrellas include all of their own.
#
# usage: test_headers.sh SOURCE_FOLDER
set -eu
cd "$1/include"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
compiled=0

fail() {
    echo "$*" >&2
    failed=1
}

compile() { # COMPILER LANGUAGE STANDARD HEADER
    command -v "$1" >/dev/null || return 0
    printf '#include <%s>\n' "$4" >"$scratch/one.$2"
    "$1" -std="$3" -Wall -Wextra -Wshadow -pedantic -Werror -I. -fsyntax-only "$scratch/one.$2" ||
        fail "$4 does not compile as $3 with $1"
    compiled=$((compiled + 1))
}

for header in facet/*.h facet_study/*.h; do
    for compiler in gcc clang; do
        compile "$compiler" c c11 "$header"
        compile "$compiler" c c17 "$header"
    done
    for compiler in g++ clang++; do compile "$compiler" cpp c++17 "$header"; done
done
[ "$compiled" -gt 0 ] || fail 'found no compiler'

included() { sed -n 's/^ *# *include *//p' "$@"; }

for include in $(included facet/*.h facet_study/*.h | sort -u); do
    case $include in
    '<facet/'*'.h>' | '<facet_study/'*'.h>' | '<stdbool.h>' | '<stddef.h>' | '<stdint.h>') ;;
    *) fail "a public header includes $include" ;;
    esac
done
if included facet/*.h | grep -q facet_study; then fail 'the runtime includes the study'; fi

umbrella() { # HEADER FOLDER
    for header in "$2"/*.h; do
        [ "$header" = "$1" ] || included "$1" | grep -qxF "<$header>" ||
            fail "$1 does not include $header"
    done
}
umbrella facet/facet.h facet
umbrella facet_study/study.h facet_study

echo "$compiled compilations"
exit "$failed"
