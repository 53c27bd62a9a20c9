#!/usr/bin/python3
"""Types the commands of docs/your-robot.md, with a small training, and checks what the page shows.

usage: test_your_robot.py SOURCE BUILD

Needs h5py; without it the test is skipped (77). The loop in Python is run by python/tests.
"""

import os
import re
import subprocess
import sys
import tempfile

SMALL = " --updates 6 --batch 8 --blocks 1 --channels 8 --embed 4 --quiet"


def fail(text):
    sys.exit(f"docs/your-robot.md: {text}")


def run(line, folder):
    done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        fail(f"'{line}' failed: {done.stderr}")
    return done.stdout


def main():
    source, build = map(os.path.abspath, sys.argv[1:3])
    try:
        import h5py  # noqa: F401
    except ImportError:
        print("skipped: no h5py")
        sys.exit(77)
    with open(os.path.join(source, "docs/your-robot.md"), encoding="utf-8") as file:
        text = file.read()
    scripts = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", text, re.S))
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S)
                for line in block.splitlines()]
    if sorted(scripts) != ["demos.py", "loop.py"] or len(commands) != 3:
        fail(f"expected demos.py, loop.py and 3 commands, found {sorted(scripts)}, {commands}")
    with open(os.path.join(source, "examples/agent.c"), encoding="utf-8") as file:
        example = file.read()
    for call in re.findall(r"facet_agent_(?:create|observe|act)\(", text):
        if call not in example:
            fail(f"{call} is not in examples/agent.c")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "demos.py"), "w", encoding="utf-8") as file:
            file.write(scripts["demos.py"])
        os.symlink(os.path.join(build, "facet"), os.path.join(folder, "facet"))
        os.symlink(build, os.path.join(folder, "build"))
        demos, train, act = commands
        run(demos.replace("python3", sys.executable), folder)
        said = run(train + SMALL, folder)
        if "140 demonstrations of 7 tasks, 2060 samples, 6 updates" not in said:
            fail(f"training said {said}")
        if "loss on held-out tasks: " not in said:
            fail(f"training said {said}")
        at = run(act, folder)
        if not re.fullmatch(r"at -?\d+\.\d\d -?\d+\.\d\d\n", at):
            fail(f"the agent said '{at}'")


main()
