#!/usr/bin/env python3
"""tools/mutate --check tells which changes of a list no longer fit the code."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FILE = "src/runtime/diffusion/compose_sum.c"


class Check(unittest.TestCase):
    def check(self, *changes):
        """The exit code and the lines that are said of these files and lines."""
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("".join(f"{path}\n-{line}\n+\n\n" for path, line in changes))
            file.flush()
            run = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "mutate"), "--check", "--list", file.name],
                                 stdout=subprocess.PIPE, text=True)
        return run.returncode, run.stdout.splitlines()

    def test_a_line_that_stands_once_fits(self):
        self.assertEqual(self.check((FILE, "    return 1;")), (0, ["1 changes, 0 no longer fit"]))

    def test_a_line_that_stands_twice_needs_its_place(self):
        places = [(f"{FILE}#{place}", "}") for place in (1, 2, 3)]
        code, said = self.check((FILE, "}"), *places)
        self.assertEqual(code, 1)
        self.assertEqual(said, [f"{number} {path}: the line does not stand there once: }}"
                                for number, path in ((1, FILE), (4, f"{FILE}#3"))] + ["4 changes, 2 no longer fit"])

    def test_what_is_not_there_is_named(self):
        code, said = self.check((FILE, "    return 2;"), ("src/runtime/nowhere/sum.c", "}"))
        self.assertEqual(code, 1)
        self.assertEqual(said[-1], "2 changes, 2 no longer fit")
        self.assertEqual(said[1], "2 src/runtime/nowhere/sum.c: the line does not stand there once: }")


if __name__ == "__main__":
    unittest.main()
