#!/bin/sh
# The Python package as a user gets it: a virtual environment in the build folder, the package and
# pytest from PyPI in it, and the tests. Where PyPI cannot be reached it says so and ends well.
#
# usage: python/test.sh [pytest options]
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
folder=$root/build/python-venv
log=$root/build/python-venv.log

mkdir -p "$root/build"
python3 -m venv --clear "$folder"
pip() { "$folder/bin/python" -m pip --disable-pip-version-check --quiet "$@" >"$log" 2>&1; }

# The back end comes first, so that a failure of the network is not taken for one of the build.
pip install --retries 1 --timeout 30 'scikit-build-core>=0.10' numpy pytest || {
    cat "$log" >&2
    echo 'python: skipped: scikit-build-core, numpy and pytest cannot be had from PyPI'
    exit 0
}
pip install --no-build-isolation "$root/python" || {
    cat "$log" >&2
    echo 'python: the package cannot be built' >&2
    exit 1
}
exec "$folder/bin/python" -m pytest -q "$@" "$root/python"
