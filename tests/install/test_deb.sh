#!/bin/sh
# Installs the Debian packages in a clean Debian 12 made by debootstrap, and there flies the main job
# and builds and runs an example. Needs root, debootstrap and a mirror, so ctest does not run it.
#
# usage: test_deb.sh FOLDER_WITH_PACKAGES [MIRROR]
set -eu
packages=$(CDPATH='' cd -- "$1" && pwd) mirror=${2-}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
inside() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }

# shellcheck disable=SC2086  # without a mirror, debootstrap's own
debootstrap --variant=minbase bookworm "$root" $mirror >"$root.log" 2>&1 || {
    tail "$root.log" >&2
    exit 1
}
rm "$root.log"
# The same way out as here, if there is one.
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || :
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || :
cp "$packages"/*.deb "$root/tmp"
cp "$here/../../examples/plan.c" "$root/tmp"

inside apt-get update -qq
inside sh -c 'apt-get install -qq -y --no-install-recommends /tmp/facet_*.deb /tmp/libfacet1_*.deb' \
    >/dev/null
inside facet version
inside sh -c 'cd /tmp && facet race --quiet >race.txt'
tail -n 12 "$root/tmp/race.txt"
[ -s "$root/tmp/out/race.html" ]
inside sh -c 'apt-get install -qq -y --no-install-recommends /tmp/libfacet-dev_*.deb gcc libc6-dev \
    pkg-config' >/dev/null
inside sh -c 'cd /tmp && gcc plan.c -o plan $(pkg-config --cflags --libs facet) &&
    ./plan /usr/share/facet/models/race-factored.safetensors race1/wide >plan.txt'
lines=$(wc -l <"$root/tmp/plan.txt")
[ "$lines" -eq 32 ] || {
    echo "test_deb: expected a plan of 32 lines, found $lines" >&2
    exit 1
}
echo 'test_deb: passed'
