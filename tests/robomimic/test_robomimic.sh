#!/bin/sh
# The check with robomimic where PyPI cannot be reached: it says so in a line, ends well, and leaves
# no half-made environment behind that the next run would take for a whole one.
#
# usage: test_robomimic.sh SOURCE_FOLDER
set -eu
python3 -c 'import ensurepip, venv' 2>/dev/null || exit 77
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
said=$(PIP_INDEX_URL=http://127.0.0.1:9 PIP_NO_CACHE_DIR=1 PIP_CONFIG_FILE=/dev/null \
    FACET_ROBOMIMIC_VENV="$scratch/venv" "$1/examples/robomimic/run.sh" 2>&1) || {
    echo "it failed: $said" >&2
    exit 1
}
case $said in
"robomimic: skipped: cannot be had from PyPI: "*) ;;
*)
    echo "it said: $said" >&2
    exit 1
    ;;
esac
if [ -e "$scratch/venv/made-from" ]; then
    echo 'the environment counts as made' >&2
    exit 1
fi
