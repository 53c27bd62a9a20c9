#!/bin/sh
# Flies Facet's plans in RotorPy, from a virtual environment that the first run makes from PyPI, in
# the build folder or where FACET_ROTORPY_VENV says.
#
# usage: run.sh [--help] [--task TRACK/SIZE] [--json FILE] …
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
environment=${FACET_ROTORPY_VENV:-$here/../../build/rotorpy-venv}

fail() {
    echo "rotorpy: $1" >&2
    exit 1
}

if ! cmp -s "$here/requirements.txt" "$environment/made-from"; then
    rm -rf "$environment"
    said=$(python3 -m venv "$environment" 2>&1) ||
        fail "no virtual environment: $(echo "$said" | tail -n 1)"
    said=$("$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps \
        --retries 1 --timeout 30 -r "$here/requirements.txt" 2>&1) ||
        fail "RotorPy cannot be had from PyPI: $(echo "$said" | tail -n 1)"
    cp "$here/requirements.txt" "$environment/made-from"
fi
# The examples are not built with the program: the pilot is, if there is a build of ours to do it in.
build=$here/../../build
if [ -f "$build/build.ninja" ]; then
    said=$(ninja -C "$build" example_pilot 2>&1) ||
        fail "the pilot cannot be built: $(echo "$said" | tail -n 1)"
fi
exec "$environment/bin/python" "$here/compare.py" "$@"
