#!/bin/sh
# The front door on machines that are not this one: packages missing, no root, no Debian, a build
# that fails. Every tool it calls is a stand-in that writes down how it was called.
#
# usage: test_front_door.sh PATH_OF_FACET
set -eu
front_door=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
real_path=$PATH
checks=0

# ---- A machine of stand-ins ----------------------------------------------------------------------

stand_in() { # NAME, with its script on stdin
    { echo "#!$real_sh" && cat; } >"$bin/$1"
    chmod +x "$bin/$1"
}

real() { (PATH=$real_path && "$@"); }

real_sh=$(command -v dash || command -v sh)

# A Debian machine where root has every package but those named, and an empty clone.
machine() {
    PATH=$real_path
    rm -rf "$scratch/machine"
    home=$scratch/machine bin=$scratch/machine/bin clone=$scratch/machine/the.clone
    calls=$home/calls
    mkdir -p "$bin" "$clone" "$home/elsewhere"
    cp "$front_door" "$clone/facet"
    : >"$calls"
    echo 0 >"$home/user"
    for package in build-essential cmake ninja-build pkg-config libcjson-dev libhdf5-dev \
        libopenblas-dev libembree-dev zlib1g-dev libcmocka-dev python3 python3-h5py libmujoco-dev \
        libopenmpi-dev openmpi-bin python3-venv python3-dev; do
        case " $* " in *" $package "*) ;; *) echo "installed $package" ;; esac
    done >"$home/packages"
    for tool in sh env cat grep sed tr mkdir dirname basename readlink flock sleep touch chmod; do
        ln -s "$(command -v "$tool")" "$bin/$tool"
    done
    stand_in id <<END
cat "$home/user"
END
    stand_in dpkg-query <<END
cat "$home/packages"
END
    # On the first attempt to install, lists of packages are missing.
    stand_in apt-get <<END
echo "apt-get \$*, \$DEBIAN_FRONTEND" >>"$calls"
[ ! -f "$home/no-network" ] || { echo 'E: no network' >&2; exit 100; }
case "\$*" in
*update*) touch "$home/lists" ;;
*) [ -f "$home/lists" ] || { echo 'E: no lists' >&2; exit 100; } ;;
esac
END
    stand_in cmake <<END
echo "cmake \$*" >>"$calls"
touch "$clone/build/build.ninja" "$clone/build/CMakeCache.txt"
for word; do
    case \$word in -D*) echo "\${word#-D}" | sed 's/=/:BOOL=/' ;; esac
done >>"$clone/build/CMakeCache.txt"
echo "CMAKE_HOME_DIRECTORY:INTERNAL=$clone" >>"$clone/build/CMakeCache.txt"
END
    stand_in ninja <<END
echo "ninja \$3" >>"$calls"
echo '[0/2] Re-checking globbed directories...'
[ ! -f "$home/bad-source" ] ||
    { echo '[1/2] Building C object a.o'; echo 'a.c:1: error: wrong'; exit 1; }
[ -f "$clone/build/facet" ] || echo '[1/2] Building C object a.o'
mkdir -p "$clone/build/bench"
cp_program() { cat "$home/program" >"\$1"; chmod +x "\$1"; }
cp_program "$clone/build/facet"
cp_program "$clone/build/bench/dynamics"
cp_program "$clone/build/bench/flight"
END
    mkdir -p "$clone/bench/peers"
    stand_in peers <<END
printf '<%s>' peers "\$@"
END
    ln -s "$bin/peers" "$clone/bench/peers/compare.py"
    cat >"$home/program" <<END
#!$real_sh
printf '<%s>' "\${0##*/}" "\$@"
echo " in \${PWD##*/}"
case "\$*" in fail) exit 3 ;; esac
END
    stand_in ctest <<END
echo "ctest \$*" >>"$calls"
[ ! -f "$home/bad-test" ]
END
    stand_in getconf </dev/null
    for tool in cc pkg-config python3; do
        stand_in "$tool" <<END
exit 1
END
    done
    PATH=$bin
}

# Runs the front door from the folder `elsewhere`; leaves its output and exit code behind.
facet() {
    code=0
    (cd "$home/elsewhere" && "$clone/facet" "$@" >"$home/out" 2>"$home/err" </dev/null) || code=$?
    out=$(cat "$home/out") err=$(cat "$home/err")
}

same() { # WHAT FOUND EXPECTED
    checks=$((checks + 1))
    if [ "$2" != "$3" ]; then
        printf '%s\n  expected: %s\n  found:    %s\n' "$1" "$3" "$2" >&2
        exit 1
    fi
}

called() { grep -c -e "$1" "$calls" || :; }

# ---- What it does there --------------------------------------------------------------------------

machine
facet race --out 'two words' ''
same 'first run: output' "$out" '<facet><race><--out><two words><> in elsewhere'
same 'first run: notices' "$err" 'facet: building'
same 'first run: code' "$code" 0
same 'nothing to install' "$(called apt-get)" 0
same 'no tests in the main build' "$(called 'BUILD_TESTING=OFF')" 1
facet race
same 'second run: silence' "$err" ''
same 'second run: no configuration' "$(called '^cmake')" 1
facet fail
same 'the exit code of the program' "$code" 3
real ln -s "$clone/facet" "$bin/linked"
same 'through a link' "$(cd "$home" && linked race)" '<facet><race> in machine'
facet
same 'no command' "$(echo "$out" | sed -n 1p)" '<facet><help> in elsewhere'
facet help speeds
same 'help of a command' "$out" '<facet><help><speeds> in elsewhere'

facet test -R quad
same 'test: closing line' "$out" 'facet test: passed'
same 'test: options for ctest' "$(called '^ctest .* -R quad$')" 1
same 'test: configured once more' "$(called '^cmake .*-DBUILD_TESTING=ON')" 1
facet race
facet test
same 'race and test leave each other alone' "$(called '^cmake')" 2
same 'race builds the program alone' "$(called '^ninja facet_program')" 7
touch "$home/bad-test"
facet test
same 'test: failure' "$code $out" '1 facet test: failed'

facet bench flight
same 'bench: one' "$(echo "$out" | sed -n 2p)" '<flight> in elsewhere'
facet bench
same 'bench: all' "$(echo "$out" | grep -c '^==')" 3
same 'bench: beside peers' "$(echo "$out" | sed -n '$p')" '<peers>'
facet bench peers plan --json a.json
same 'bench: options of the peers' "$out" '<peers><plan><--json><a.json>'
mkdir -p "$clone/fuzz/corpus/json" "$clone/fuzz/corpus/demos"
facet fuzz jsn
same 'fuzz: unknown' "$code $err" "2 facet: no fuzz target 'jsn', known: demos json"
facet fuzz json x
same 'fuzz: no number' "$code $err" "2 facet: fuzz: expected a number of seconds, found 'x'"

facet bench flihgt
same 'bench: unknown' "$code $err" "2 facet: no benchmark 'flihgt', known: dynamics flight peers"

touch "$home/bad-source"
facet race
same 'failed build: code' "$code" 1
same 'failed build: message' "$err" \
    "$(printf 'facet: building\na.c:1: error: wrong\nfacet: the build failed')"

machine
facet race
real sed -i 's/^CMAKE_HOME.*/CMAKE_HOME_DIRECTORY:INTERNAL=elsewhere/' \
    "$clone/build/CMakeCache.txt"
facet race
same 'a moved clone is configured afresh' "$(called '^cmake .*--fresh')" 2

machine cmake libhdf5-dev libcmocka-dev
real rm "$bin/cmake"
facet race
same 'missing packages: notice' "$(echo "$err" | sed -n 1p)" 'facet: installing cmake libhdf5-dev'
same 'missing packages: lists are fetched once' "$(called 'apt-get .*update, noninteractive')" 1
same 'missing packages: only those' \
    "$(called 'install -y --no-install-recommends cmake libhdf5-dev, noninteractive$')" 2

machine libcjson-dev
touch "$home/no-network"
facet race
same 'no network: code' "$code" 1
same 'no network: the log shows' "$(echo "$err" | sed -n '2p;$p')" \
    "$(printf 'E: no network\nfacet: cannot install libcjson-dev')"

machine libcjson-dev
echo 1000 >"$home/user"
facet race
same 'neither root nor sudo' "$code $err" \
    '1 facet: packages are missing, and only root can install them: apt-get install libcjson-dev'
stand_in sudo <<END
echo "sudo \$*" >>"$calls"
exec "\$@"
END
facet race
same 'with sudo' \
    "$code $(called '^sudo env DEBIAN_FRONTEND=noninteractive apt-get .* libcjson-dev')" '0 2'

machine
real rm "$bin/dpkg-query" "$bin/apt-get"
facet race
same 'another system: what is missing' "$code $err" "1 facet: this needs what Debian calls: \
build-essential libcjson-dev libhdf5-dev libopenblas-dev libembree-dev zlib1g-dev. Install these and try again"
for tool in cc pkg-config; do stand_in "$tool" </dev/null; done
facet race
same 'another system: with all there' "$code $out" '0 <facet><race> in elsewhere'

machine
stand_in pkg-config <<END
case "\$*" in '--exists ompi-c') ;; *) exit 1 ;; esac
END
facet race
same 'Open MPI is used where it is' "$(called '^cmake .*-DFACET_MPI=ON')" 1
facet race
same 'Open MPI: no configuration again' "$(called '^cmake')" 1
facet test
same 'Open MPI: another option' "$(called '^cmake .*-DBUILD_TESTING=ON$')" 1

machine clang
facet setup clang
same 'setup installs what is named and runs nothing' "$code $out $(called ninja)" '0  0'
same 'setup: notice' "$err" 'facet: installing clang'

# Nothing can be written in the clone of another user. Root may write anywhere, so a folder stands
# where the lock goes.
machine
mkdir -p "$clone/build/.lock"
facet race
same 'the clone of another user' "$code $out" '1 '
same 'the clone of another user: one line' "$err" "facet: cannot write to $clone/build: is this the \
clone of another user? Make one of your own, or build elsewhere: cmake -S $clone -B FOLDER && cmake \
--build FOLDER"
cat "$home/program" >"$clone/build/facet"
chmod +x "$clone/build/facet"
facet race --quiet
same 'the clone of another user, built' "$code $out$err" '0 <facet><race><--quiet> in elsewhere'
facet test
same 'the clone of another user: no tests' "$code" 1
machine
: >"$clone/build"
facet race
same 'no folder to build in' "$code ${err%%:*}" '1 facet'

PATH=$real_path
echo "$checks checks passed"
