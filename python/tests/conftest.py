"""What the tests share: the shipped policies, the course and the program, if it is built."""
import json
import os
import pathlib
import subprocess

import pytest

import facet

ROOT = pathlib.Path(__file__).resolve().parents[2]
RACE = ROOT / "models/race-factored.safetensors"
GATE = ROOT / "models/gate-factored.safetensors"


@pytest.fixture(scope="session")
def policy():
    return facet.load(RACE)


@pytest.fixture(scope="session")
def seeing_policy():
    return facet.load(GATE)


@pytest.fixture(scope="session")
def course():
    return facet.Course.load()


def built_program():
    """The program's file; a test that needs it is skipped where there is none."""
    file = pathlib.Path(os.environ.get("FACET_PROGRAM", ROOT / "build/facet"))
    if not file.exists():
        pytest.skip(f"{file} is not built")
    return file


@pytest.fixture
def program(tmp_path):
    """Runs the program and gives the document that it writes with --json."""
    file = built_program()

    def run(*arguments):
        out = tmp_path / "out.json"
        subprocess.run([file, *map(str, arguments), "--json", out], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())

    return run
