#!/bin/sh
# Usage: test_rooms.sh SOURCE
#
# Reads the #include lines of src/ and include/ and refuses one that points upwards. A file may
# include headers of its own room and of rooms before it in this list, and of no other; so nothing
# of the runtime includes anything of the study, and nothing includes the program.
set -eu

runtime="math base factor nn encoder diffusion policy agent quad control course flight"
study="ranks linalg picture paper evidence data train unet export race certify camera gate report"
rooms="$runtime $study program"

# These stand alone: they include nothing of Facet but themselves.
alone="math paper"

# Public headers that are not named as their room.
headers="api:math types:math status:base pool:base progress:base facet:flight
         dataset:data image_set:data study:gate"

# Prints every upward edge and what is in no room; fails when there is one, or nothing to read.
check() {
    (cd "$1" && find src include -name '*.[ch]' -exec grep -HE '^ *# *include' {} +) |
    awk -F: -v rooms="$rooms" -v alone="$alone" -v headers="$headers" '
        BEGIN {
            n = split(rooms, list, " ")
            for (i = 1; i <= n; i++) rank[list[i]] = i
            n = split(alone, list, " ")
            for (i = 1; i <= n; i++) is_alone[list[i]] = 1
            n = split(headers, list, " ")
            for (i = 1; i <= n; i++) { split(list[i], pair, ":"); room_of[pair[1]] = pair[2] }
        }
        function of_header(name) { # such as policy.h
            sub(/\.h$/, "", name)
            return name in room_of ? room_of[name] : name
        }
        function of_file(path, part) {
            split(path, part, "/")
            if (part[1] == "include") return of_header(part[3])
            return part[2] == "program" ? "program" : part[3]
        }
        function bad(text) { print $1 ": " text; wrong = 1 }
        {
            from = of_file($1)
            name = $2
            ours = name ~ /"/ || name ~ /<facet(_study)?\//
            sub(/^[^"<]*["<]/, "", name)
            sub(/[">].*$/, "", name)
            if (!ours || name !~ /\.h$/) next
            slash = index(name, "/")
            to = from
            if (name ~ /^facet(_study)?\//) to = of_header(substr(name, slash + 1))
            else if (slash) to = substr(name, 1, slash - 1)
            read++
            if (!(from in rank)) bad("no room \047" from "\047 in the list of tests/house/test_rooms.sh")
            else if (!(to in rank)) bad(name " is of no room in the list of tests/house/test_rooms.sh")
            else if (rank[to] > rank[from]) bad(name " is upwards, from " from " to " to)
            else if (from != to && from in is_alone && name !~ /^facet\/(api|types)\.h$/)
                bad(name " is of another room, and " from " stands alone")
        }
        END {
            if (!read) { print "no include lines"; wrong = 1 }
            exit wrong
        }'
}

check "$1"

# It sees what it is to refuse.
temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
mkdir -p "$temp/src/runtime/math" "$temp/src/study/race" "$temp/src/study/paper" "$temp/include"
refuses() { # file, line
    echo "$2" > "$temp/$1"
    if check "$temp" > /dev/null; then
        echo "not refused: $2 in $1"
        exit 1
    fi
    rm "$temp/$1"
}
refuses src/runtime/math/a.c '#include "policy/policy.h"'
refuses src/runtime/math/a.c '#include <facet_study/race.h>'
refuses src/study/race/a.h '#include <facet_study/certify.h>'
refuses src/study/race/a.h '#include "certify/path.h"'
refuses src/study/paper/a.c '#include "base/status.h"'
refuses src/study/race/a.c '#include "kitchen/sink.h"'
echo '#include "race/eval.h"' > "$temp/src/study/race/a.c"
check "$temp"
