"""What the tools that choose settings share: running the program, and files of results."""
import argparse
import json
import pathlib
import subprocess
import sys


def options(description, out, stages=()):
    """The program, the folder for what is made on the way, which is there then, and the results' file."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("facet", help="the program")
    parser.add_argument("--out", type=pathlib.Path, default=out, help="folder of what is made")
    parser.add_argument("--json", type=pathlib.Path, required=True, help="file of the results")
    if stages:
        parser.add_argument("--stage", choices=stages, default=stages[0], help="which choice")
    parser.add_argument("--threads", default="0", help="threads to work with")
    found = parser.parse_args()
    found.out.mkdir(parents=True, exist_ok=True)
    return found


def facet(program, *words):
    subprocess.run([program, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def write(path, program, scratch, document):
    """Writes the document with what made it. The file appears whole or not at all."""
    about = scratch / "version.json"
    facet(program, "version", "--json", about)
    said = json.loads(about.read_text())
    tool = "tools/" + sys.argv[0].rsplit("/", 1)[-1]
    document = {**document, "command": " ".join([tool, *sys.argv[1:]]),
                "seed": 1, "version": said["version"], "commit": said["commit"]}
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(document, indent=1) + "\n")
    part.replace(path)
