#!/bin/sh
# Makes the peers' virtual environment, of about 2 GB, from PyPI. Does nothing when it is there.
#
# usage: venv.sh FOLDER
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
folder=$1
made_from=$folder/made-from

cmp -s "$here/requirements.txt" "$made_from" && exit 0
echo "making $folder with PyTorch, OpenVINO and ONNX Runtime from PyPI"
rm -rf "$folder"
python3 -m venv "$folder"
"$folder/bin/pip" install --quiet --disable-pip-version-check --no-deps --retries 1 --timeout 30 \
    -r "$here/requirements.txt"

# An empty library for each that PyTorch is linked with and that is not there.
libraries=$(echo "$folder"/lib/python3*/site-packages/torch/lib)
ldd "$libraries/libtorch_python.so" | sed -n 's/^[[:space:]]*\([^ ]*\) => not found$/\1/p' |
    sort -u | while read -r name; do
        cc -shared -Wl,-soname,"$name" -o "$libraries/$name" "$here/absent.c"
    done
cp "$here/requirements.txt" "$made_from"
