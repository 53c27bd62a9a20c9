#!/bin/sh
# robomimic's own SequenceDataset reads what `facet demos` writes, in a virtual environment of about
# 1 GB that the first run makes from PyPI, in the build folder or where FACET_ROBOMIMIC_VENV says.
# Where PyPI cannot be reached it says so and ends well. Facet must be built.
#
# usage: run.sh [FILE]      another file of demonstrations instead
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
root=$(CDPATH='' cd -- "$here/../.." && pwd -P)
environment=${FACET_ROBOMIMIC_VENV:-$root/build/robomimic-venv}
program=${FACET_PROGRAM:-$root/build/facet}

pip() {
    "$environment/bin/pip" install --quiet --disable-pip-version-check --retries 1 --timeout 30 \
        --no-deps "$@" 2>&1
}

if ! cmp -s "$here/requirements.txt" "$environment/made-from"; then
    rm -rf "$environment"
    python3 -m venv "$environment"
    # The back end of robomimic's build comes first, for it is not isolated.
    said=$(pip "$(grep ^setuptools== "$here/requirements.txt")" wheel &&
        pip --no-build-isolation -r "$here/requirements.txt") || {
        echo "robomimic: skipped: cannot be had from PyPI: $(echo "$said" | tail -n 1)"
        exit 0
    }
    # An empty library for each that PyTorch is linked with and that is not there.
    libraries=$(echo "$environment"/lib/python3*/site-packages/torch/lib)
    ldd "$libraries/libtorch_python.so" | sed -n 's/^[[:space:]]*\([^ ]*\) => not found$/\1/p' |
        sort -u | while read -r name; do
            cc -shared -Wl,-soname,"$name" -o "$libraries/$name" "$root/bench/peers/absent.c"
        done
    cp "$here/requirements.txt" "$environment/made-from"
fi

if [ $# -gt 0 ]; then
    exec "$environment/bin/python" "$here/read.py" "$1"
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$program" demos --courses "$root/tests/race/sample" --rollouts 3 --out "$folder/demos.h5" --quiet
"$environment/bin/python" "$here/read.py" "$folder/demos.h5"
