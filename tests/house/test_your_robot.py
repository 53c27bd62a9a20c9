#!/usr/bin/python3
"""Does what docs/your-robot.md says, with a small training, and checks what the page shows.

usage: test_your_robot.py SOURCE BUILD [CC]

Types every command, runs every script and, with a compiler, the page's lines of C and its loop in
Python, with the package and its extension put together from their sources. Needs h5py; without it
the test is skipped (77), and without Python's headers the loop is left to python/tests.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

SMALL = " --updates 6 --batch 8 --blocks 1 --channels 8 --embed 4 --quiet"
AT = r"at -?\d+\.\d\d -?\d+\.\d\d"

# What stands around the page's lines of C.
PROGRAM = """#include <facet/facet.h>
#include <stdio.h>
int main(void)
{
    FacetPolicy *policy;
    FacetAgent *agent;
    FacetFactorTask task;
    double place[2] = {0.9, -0.9}, action[2];
    if (!facet_policy_load(&policy, "robot.safetensors").ok) return 1;
    if (!facet_factor_task_parse(&task, facet_policy_space(policy), "middle/far",
                                 FACET_FACTOR_MISSING_REFUSED).ok) return 1;
    int step = 0;
    %s
    printf("at %%.2f %%.2f\\n", place[0], place[1]);
    facet_agent_destroy(agent);
    facet_policy_destroy(policy);
    return 0;
}
"""
DOES = "place[0] += action[0]; place[1] += action[1]; if (++step == 30) break;"


def fail(text):
    sys.exit(f"docs/your-robot.md: {text}")


def run(line, folder, **more):
    done = subprocess.run(line, shell=isinstance(line, str), cwd=folder, capture_output=True,
                          text=True, **more)
    if done.returncode:
        fail(f"'{line}' failed: {done.stdout}{done.stderr}")
    return done.stdout


def expect(pattern, said, what):
    if not re.search(pattern, said):
        fail(f"{what} said '{said}', expected '{pattern}'")


def compile_c(compiler, source, build, out, *more):
    static = os.path.join(build, "libfacet.a")
    return [*compiler.split(), "-std=gnu17", "-Wall", "-Werror", "-O1", "-I",
            os.path.join(source, "include"), *more, "-o", out, static, "-lcjson", "-lm", "-pthread"]


def run_c(text, source, build, compiler, folder):
    blocks = re.findall(r"```c\n(.*?)```", text, re.S)
    if len(blocks) != 1 or blocks[0].count("…") != 1:
        fail(f"expected one block of C with one …, found {blocks}")
    with open(os.path.join(folder, "loop.c"), "w", encoding="utf-8") as file:
        file.write(PROGRAM % blocks[0].replace("…", DOES))
    run(compile_c(compiler, source, build, "loop", "loop.c"), folder)
    said = run("./loop", folder)
    same = run("build/examples/agent robot.safetensors middle/far", folder)
    if said != same:
        fail(f"the lines of C ended '{said}', examples/agent.c '{same}'")


def run_python(source, build, compiler, folder):
    """The loop, with the package from its sources; it must end where the agent in C does."""
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        print("no Python.h: the loop in Python is left to python/tests")
        return
    package = os.path.join(folder, "package", "facet")
    shutil.copytree(os.path.join(source, "python/facet"), package)
    module = os.path.join(package, "_runtime" + sysconfig.get_config_var("EXT_SUFFIX"))
    run(compile_c(compiler, source, build, module, "-shared", "-fPIC", "-I", include,
                  *sorted(glob.glob(os.path.join(source, "python/src/*.c")))), folder)
    path = {**os.environ, "PYTHONPATH": os.path.dirname(package)}
    said = run([sys.executable, "loop.py"], folder, env=path)
    expect(rf"^{AT}, \d+\.\d\d ms a plan\n$", said, "loop.py")
    with open(os.path.join(folder, "loop.py"), encoding="utf-8") as file:
        script = file.read().replace('agent("middle/far")', 'agent("middle/far", seed=0)')
    said = run([sys.executable, "-c", script], folder, env=path)  # the seed of the agent in C
    same = run("build/examples/agent robot.safetensors middle/far", folder)
    if said.split(",")[0] != same.strip():
        fail(f"loop.py ended '{said}', examples/agent.c '{same}'")


def main():
    source, build = map(os.path.abspath, sys.argv[1:3])
    compiler = sys.argv[3] if len(sys.argv) > 3 else ""
    try:
        import h5py  # noqa: F401
    except ImportError:
        print("skipped: no h5py")
        sys.exit(77)
    with open(os.path.join(source, "docs/your-robot.md"), encoding="utf-8") as file:
        text = file.read()
    scripts = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", text, re.S))
    commands = [line for block in re.findall(r"```sh\n(.*?)```", text, re.S)
                for line in block.replace("\\\n", " ").splitlines()]
    if sorted(scripts) != ["demos.py", "loop.py", "more.py"] or len(commands) != 8:
        fail(f"expected demos.py, loop.py, more.py and 8 commands, found {sorted(scripts)}, "
             f"{commands}")
    if len(scripts) != text.count("```python") or re.search(r"```\n\./facet|```\nbuild/", text):
        fail("a script has no name, or a command stands in no block of sh")
    with tempfile.TemporaryDirectory() as folder:
        for name, script in scripts.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(script)
        os.symlink(os.path.join(build, "facet"), os.path.join(folder, "facet"))
        os.symlink(build, os.path.join(folder, "build"))
        demos, train, make, act, certify, more, grow, act_grown = commands
        run(demos.replace("python3", sys.executable), folder)
        said = run(train + SMALL, folder)
        expect(r"1 network of \d,\d{3} parameters in all", said, "training")
        expect("140 demonstrations of 7 tasks, 2060 samples, 6 updates", said, "training")
        expect("loss on held-out tasks: ", said, "training")
        if os.path.exists(os.path.join(build, "build.ninja")):
            run(make.replace("ninja", "ninja -n"), folder)  # it is made, by whoever runs this
        expect(f"^{AT}\n$", run(act, folder), "the agent")
        expect("Training tasks: 2060 of their chunks", run(certify, folder), "certify")
        run(more.replace("python3", sys.executable), folder)
        said = run(grow, folder)
        expect("1 network of 4 parameters in all", said, "the new value")
        expect("20 demonstrations of 1 task, 284 samples, 100 updates", said, "the new value")
        expect(f"^{AT}\n$", run(act_grown, folder), "the grown agent")
        if compiler:
            run_c(text, source, build, compiler, folder)
            run_python(source, build, compiler, folder)


main()
