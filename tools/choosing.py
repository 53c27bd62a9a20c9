"""What the tools that choose settings share: running the program, and files of results."""
import json
import subprocess
import sys


def facet(program, *words):
    subprocess.run([program, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def write(path, program, scratch, document):
    """Writes the document with what made it. The file appears whole or not at all."""
    about = scratch / "version.json"
    facet(program, "version", "--json", about)
    said = json.loads(about.read_text())
    tool = "tools/" + sys.argv[0].rsplit("/", 1)[-1]
    document = {**document, "command": " ".join([tool, *sys.argv[1:]]),
                "version": said["version"], "commit": said["commit"]}
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(document, indent=1) + "\n")
    part.replace(path)
