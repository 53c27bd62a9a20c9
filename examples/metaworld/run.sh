#!/bin/sh
# The Meta-World study, in a virtual environment that the first run makes from PyPI, in the build
# folder or where FACET_METAWORLD_VENV says. Facet's Python package is installed there too.
#
# usage: run.sh [--help] [--method NAME …] [--seed N …] [--demos-only] …
#        run.sh --check      what can be checked in a minute with Meta-World itself
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
cd "$here/../.."
environment=${FACET_METAWORLD_VENV:-build/metaworld-venv}

fail() {
    echo "metaworld: $1" >&2
    exit 1
}

pip() { # what: the line of a failure; the rest: of pip install
    what=$1
    shift
    said=$("$environment/bin/pip" install --quiet --disable-pip-version-check --retries 1 \
        --timeout 60 "$@" 2>&1) || fail "$what: $(echo "$said" | tail -n 1)"
}

if ! cmp -s "$here/requirements.txt" "$environment/made-from"; then
    rm -rf "$environment"
    said=$(python3 -m venv "$environment" 2>&1) ||
        fail "no virtual environment: $(echo "$said" | tail -n 1)"
    pip "Meta-World cannot be had from PyPI" -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$environment/made-from"
fi
# The package is made again when the sources are of another commit.
made=$(git describe --always --dirty 2>/dev/null || echo unknown)
if [ "$(cat "$environment/facet-from" 2>/dev/null)" != "$made" ] || [ "$made" = unknown ]; then
    pip "Facet's Python package cannot be built" ./python
    echo "$made" >"$environment/facet-from"
fi
program=study.py
if [ "${1-}" = --check ]; then
    shift
    program=check.py
fi
exec "$environment/bin/python" "$here/$program" "$@"
