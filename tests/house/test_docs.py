#!/usr/bin/env python3
"""The tables of docs are those of the files of results, and every file says what made it."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import choose_gate  # noqa: E402
import doc_claims  # noqa: E402
import doc_tables  # noqa: E402

# Files that do not say what made them, and why. What is made anew leaves this list, and the two below.
WITHOUT_COMMIT = {
    "bench.json": "the bench wrote no command, seed, version and commit then",
    **{f"steps/fold{k}.json": "made before the program kept its commit" for k in (1, 2, 3)},
    **{f"gate-first/{protocol}-{method}.json": "of the first vision study, before the program kept its commit"
       for protocol in ("within", "zero-shot") for method in ("baseline", "factored", "oracle", "ours")},
    "gate-first/zero-shot-joint.json": "of the first vision study, before the program kept its commit",
}
# Files that were made with changes that no commit has.
DIRTY = {
    "bench-avx512.json": "measured before the backward passes with AVX-512 were committed",
    "rotorpy.json": "flown with changes that were not committed; which they were is not known",
}
# Files whose commit the repository does not have.
LOST = {
    "metaworld-first.json": "its commit, 922de53, is not part of this history",
    "metaworld-first-fold.json": "its commit, 2d792c9, is not part of this history",
}
# Made before the tools that choose wrote their seed, which is 1, and by other programs.
WITHOUT_SEED = {"bench-avx512.json", "gate-choice.json", "gate-floor.json", "gate-near.json", "levels.json",
                "metaworld-first.json", "metaworld.json", "recipe.json"}


def results():
    folder = os.path.join(ROOT, "results")
    for path in sorted(glob.glob(folder + "/**/*.json", recursive=True)):
        if os.path.basename(path) == "settings.json":  # of a folder of cells, no result
            continue
        with open(path, encoding="utf-8") as file:
            yield os.path.relpath(path, folder), json.load(file)


def git(*words, **more):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, **more)


def whole_history():
    """Whether this is a repository with all its commits, which a shallow clone and an archive are not."""
    return (os.path.exists(os.path.join(ROOT, ".git")) and shutil.which("git") is not None
            and git("rev-parse", "--is-shallow-repository").stdout.strip() == "false")


def unknown(commits):
    """Those that the repository does not have."""
    asked = git("cat-file", "--batch-check", input="".join(f"{commit}^{{commit}}\n" for commit in commits))
    return {commit for commit, said in zip(commits, asked.stdout.splitlines(), strict=True)
            if said.split()[1] != "commit"}


def scaled(value, key, factor=0.99):
    """What a file holds, with other numbers of this name."""
    if isinstance(value, dict):
        return {name: factor * held if name == key and isinstance(held, (int, float)) else scaled(held, key, factor)
                for name, held in value.items()}
    return [scaled(held, key, factor) for held in value] if isinstance(value, list) else value


class Docs(unittest.TestCase):
    def test_every_number_is_that_of_its_file(self):
        wrong = [line for page in doc_tables.PAGES
                 for line in doc_tables.check_page(ROOT, page, False)]
        self.assertEqual(wrong, [])

    def test_what_is_certified_was_attacked(self):
        for name, data in results():
            for task in data.get("tasks", []) if name.startswith("certify") else []:
                for gate in task["gates"] + task["paced"]["gates"]:
                    self.assertTrue(not gate["certified"] or gate.get("attack") is not None,
                                    f"{name}: {task['track']}/{task['size']}, gate {gate['gate']}")

    def test_sentences_that_are_read_alone_have_the_numbers_of_their_files(self):
        self.assertEqual(doc_claims.check(ROOT), [])

    def change(self, page, old, new, below=""):
        """What is found when a page has other words, the first ones or the first below others."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(ROOT, "docs"), os.path.join(folder, "docs"))
            os.symlink(os.path.join(ROOT, "results"), os.path.join(folder, "results"))
            path = os.path.join(folder, page)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            head, mark, rest = text.partition(below) if below else ("", "", text)
            self.assertIn(old, rest)
            with open(path, "w", encoding="utf-8") as file:
                file.write(head + mark + rest.replace(old, new, 1))
            return doc_tables.check_page(folder, page, False)

    def test_a_sentence_with_another_number_is_named(self):
        for page, phrase in (("README.md", "passes 3 of 4"), ("docs/vision.md", "passes 3 of 5")):
            texts = {page: "It passes\n3 of 4 gates."}
            wrong = doc_claims.missing([(page, phrase)], texts)
            self.assertEqual(wrong, [] if "4" in phrase else [f"{page}: expected the words '{phrase}'"])

    def test_sentences_follow_their_files(self):
        """Another number in any file that sentences are of makes one of them wrong."""
        load = doc_claims.load
        for file, key in (("race-study.json", "mean"), ("race-study.json", "learned"),
                          ("race/told-1.json", "speed_generated"), ("race/ours-1.json", "passed"),
                          ("race/ours-2.json", "speed_generated"), ("race/composed-loss-1.json", "speed_generated"),
                          ("steps.json", "held_out"), ("operators.json", "passed"), ("leave-one-out.json", "passed"),
                          ("leave-one-out.json", "speed_ratio"), ("mechanism.json", "share"),
                          ("mechanism.json", "error_m"), ("gate-study.json", "mean"),
                          ("gate-velocity-0.5/zero-shot-told-1.json", "success"), ("gate-shown/zero-shot-told-1.json", "success"),
                          ("gate-plain/zero-shot-ours-1.json", "success"),
                          ("gate-5000/zero-shot-told-1.json", "success"),
                          ("gate-floor-0.2/zero-shot-told-1.json", "crash"), ("gate-choice.json", "along_m"),
                          ("gate-near.json", "success"), ("gate-samples.json", "spread_m"),
                          ("certify.json", "attack"), ("certify-paper.json", "fold"), ("verify.json", "shift"),
                          ("verify.json", "passed"), ("verify-50.json", "passed"), ("metaworld.json", "success")):
            def other(root, name):
                return scaled(load(root, name), key) if name == file else load(root, name)

            with self.subTest(f"{key} of {file}"), mock.patch.object(doc_claims, "load", other):
                self.assertNotEqual(doc_claims.check(ROOT), [])

    def test_words_follow_their_files(self):
        """What sentences say of every fold, of all and of none, with files that say otherwise."""
        load = doc_claims.load
        for file, key, factor in (("mechanism/whole-drop-0-w0-2.json", "passed", 0.4),
                                  ("mechanism/unet-w3-2.json", "error_m", 2.0), ("gate-floor.json", "success", 0.8),
                                  ("certify.json", "certified", 0), ("race/ours-1.json", "share_all_seeds", 0.5),
                                  ("race/paper-longer-1.json", "error_m", 0.9)):
            def other(root, name):
                return scaled(load(root, name), key, factor) if name == file else load(root, name)

            with self.subTest(f"{key} of {file} times {factor}"), mock.patch.object(doc_claims, "load", other):
                self.assertNotEqual(doc_claims.check(ROOT), [])

    def test_words_follow_what_never_happened(self):
        """A crash of a verified flight, and a gate of the paper's loss that is certified, at its own speed or paced."""
        load = doc_claims.load
        for file, path, value in (("verify-50.json", ("totals", "crashes"), 1),
                                  ("certify-paper.json", ("tasks", 0, "gates", 0, "certified"), True),
                                  ("certify-paper.json", ("tasks", 0, "paced", "gates", 0, "certified"), True)):
            def other(root, name):
                data = at = load(root, name)
                for step in path[:-1] if name == file else ():
                    at = at[step]
                if name == file:
                    self.assertEqual(at[path[-1]], 0)
                    at[path[-1]] = value
                return data

            with self.subTest(f"{path} of {file}"), mock.patch.object(doc_claims, "load", other):
                self.assertNotEqual(doc_claims.check(ROOT), [])

    def test_numbers_in_words(self):
        """Halves go up, also those that a sum is a little below; beyond the words there are digits."""
        self.assertEqual([doc_claims.whole(number) for number in (2.5, 0.5 - 1e-12, -2.5, 2.4)], [3, 1, -2, 2])
        self.assertEqual([doc_claims.in_words(number) for number in (-1, 0, 9, 10)], ["-1", "none", "nine", "10"])

    def test_sentences_are_named_however_far_their_files_moved(self):
        load = doc_claims.load
        for key, factor in (("share_all_seeds", 0.0), ("share_all_seeds", 0.5), ("learned", 2.0), ("least", 0.0)):
            def other(root, name):
                return scaled(load(root, name), key, 1.0 if "ours" in name else factor)

            with self.subTest(f"{key} times {factor}"), mock.patch.object(doc_claims, "load", other):
                self.assertNotEqual(doc_claims.check(ROOT), [])

    def test_a_sign_flip_counts_choices_of_signs(self):
        """Of three alike two of eight choices are as far from 0; what is 0 changes no sum, but for rounding."""
        for differences, p in (([1, 1, 1], 0.25), ([1, 1, 1, 0], 0.25), ([1, -1], 1), ([3, 1], 0.5),
                               ([0.1, 0.2, -0.1], 0.75)):
            self.assertEqual(doc_claims.sign_flip(differences), p)

    def test_a_number_that_is_not_the_files_is_named(self):
        data = dict(results())["eval.json"]
        right = doc_tables.passage(data, "ours, composed")[0]
        wrong = self.change("docs/results.md", f"| ours, composed | {right} |", "| ours, composed | 104/104 |")
        self.assertEqual(len(wrong), 1)
        self.assertIn(f"ours, composed: expected '{right}', found '104/104'", wrong[0])
        wrong = self.change("docs/results.md", f"| ours, composed | {right} |", f"| ours, composed | {right}0 |")
        self.assertEqual(len(wrong), 1)
        wrong = self.change("docs/results.md", f"| ours, composed | {right} |", "| ours, composed |")
        self.assertIn("ours, composed: expected 5 cells, found 4", wrong[0])

    def test_a_table_without_a_comment_is_refused(self):
        wrong = self.change("docs/results.md", "<!-- table passage of results/eval.json -->\n", "")
        self.assertEqual(len(wrong), 1)
        self.assertIn("without a comment", wrong[0])

    def test_a_row_that_no_file_has_is_refused(self):
        for page, label in (("docs/results.md", "| ours, joint |"), ("docs/composition.md", "| ours, 8 |"),
                            ("docs/composition.md", "| `whole` |"), ("docs/vision.md", "| Baseline |")):
            wrong = self.change(page, label, "| ours, wishful |")
            self.assertEqual(len(wrong), 1)
            self.assertIn("no such row", wrong[0])

    def tables(self):
        """The tables of docs that have every row of their file: page, name and labels."""
        for page in doc_tables.PAGES:
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                lines = file.read().split("\n")
            for i, line in enumerate(lines):
                mark = doc_tables.HELD.fullmatch(line)
                if mark and mark[1] in doc_tables.WHOLE:
                    rows = lines[i + 3:i + 1 + doc_tables.table_at(lines, i + 1)]  # below its head
                    yield page, mark, rows, [doc_tables.split_row(row)[0] for row in rows]

    def test_a_row_that_the_page_leaves_out_is_named(self):
        for page, mark, rows, labels in self.tables():
            with self.subTest(f"{page}: {mark[1]}"):
                wrong = self.change(page, rows[-1] + "\n", "", below=mark[0])
                self.assertEqual(len(wrong), 1)
                self.assertIn(f"{labels[-1]}: a row of the file that the table does not have", wrong[0])

    def test_rows_of_a_file_are_those_of_its_table(self):
        """A row more in the file is one that its table does not have."""
        held = set()
        for page, mark, _, labels in self.tables():
            held.add(mark[1])
            with self.subTest(f"{page}: {mark[1]}"):
                data = doc_tables.load(ROOT, mark[2].split(" and ")[0])
                found = doc_tables.WHOLE[mark[1]](data)
                self.assertEqual(sorted(found), sorted(label for label in labels
                                                       if not label.startswith(doc_tables.UNFILED)))
        self.assertEqual(held, set(doc_tables.WHOLE))

    def test_a_task_of_another_split_is_refused(self):
        plain, marked = "race1/wide", "race1/wide (held out)"
        for held_out, right, wrong in ((False, plain, marked), (True, marked, plain)):
            task = {"track": "race1", "size": "wide", "held_out": held_out}
            self.assertEqual(doc_tables.task_of([task], right), task)
            with self.assertRaises(KeyError):
                doc_tables.task_of([task], wrong)

    def test_an_unknown_table_is_refused(self):
        wrong = self.change("docs/vision.md", "table within of", "table without of")
        self.assertIn("no table 'without' is known", wrong[0])

    def test_a_file_that_is_not_there_is_named(self):
        wrong = self.change("docs/results.md", "passage of results/eval.json", "passage of results/evil.json")
        self.assertEqual(len(wrong), 1)
        self.assertIn("results/evil.json: No such file", wrong[0])

    def test_a_table_may_be_of_a_folder(self):
        wrong = self.change("docs/vision.md", "| 37.5 (38.3) |", "| 73.5 (38.3) |")
        self.assertEqual(len(wrong), 1)
        self.assertIn("Factored, ours: expected '37.5 (38.3)', found '73.5 (38.3)'", wrong[0])
        wrong = self.change("docs/vision.md", "of results/gate-first/ -->", "of results/gate-last/ -->")
        self.assertIn("results/gate-last: No such file", wrong[0])

    def test_columns_of_several_files_stand_side_by_side(self):
        """A column that no file has stands once, and every file's number is held."""
        def function(data, label):
            return [f"{data[label]}", doc_tables.KEEP]

        row = "| c | 1 | 2 | the paper's |"
        for other, found in ((2, []), (3, ["here: c: expected '3', found '2'"])):
            files = [{"c": 1}, {"c": other}]
            self.assertEqual(doc_tables.check_row(row, function, files, "here", False), (row, found))

    def test_what_was_printed_is_held_line_by_line(self):
        for page, name in (("docs/speed.md", "bench"), ("docs/rotorpy.md", "rotorpy")):
            lines = doc_tables.PRINTED[name](dict(results())[f"{name}.json"])
            for line in (lines[1], lines[-1]):
                wrong = self.change(page, f"\n{line}\n", f"\n{line}0\n")
                self.assertEqual(len(wrong), 1)
                self.assertIn(f"expected '{line}', found '{line}0'", wrong[0])
            wrong = self.change(page, f"\n{lines[-1]}\n", "\n")
            self.assertIn(f"expected {len(lines)} lines, found {len(lines) - 1}", wrong[-1])
            wrong = self.change(page, f"printed {name} of", "printed nothing of")
            self.assertIn("nothing printed is known as 'nothing'", wrong[0])
            wrong = self.change(page, f"{name}.json -->\n", f"{name}.json -->\n\n")
            self.assertIn("nothing fenced follows", wrong[0])

    def test_the_numbers_of_steps_are_held(self):
        for old, new in (("| 97.8 | 26.0 | 97.4 |", "| 97.8 | 27.0 | 97.4 |"), ("| 121 | −0.53 ±", "| 121 | −0.33 ±")):
            wrong = self.change("docs/steps.md", old, new)
            self.assertEqual(len(wrong), 1)
            self.assertIn("expected", wrong[0])

    def test_the_numbers_of_metaworld_are_held(self):
        page = "docs/metaworld.md"
        for old, new in (("| 64.0 (58.4–69.2) |", "| 65.0 (58.4–69.2) |"),
                         ("| 0.082 | 42/50 | 42/50 |", "| 0.082 | 42/50 | 43/50 |"),
                         ("| 0.143 | 3/25 |", "| 0.143 | 4/25 |")):
            with self.subTest(old):
                wrong = self.change(page, old, new)
                self.assertTrue(wrong)
                self.assertIn("expected", wrong[0])


class Links(unittest.TestCase):
    def headings(self, path):
        """The anchors of a page's headings, as they are written in links."""
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"```.*?```", "", file.read(), flags=re.S)
        return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-")
                for line in re.findall(r"^#+ (.*)$", text, flags=re.M)}

    def broken(self, root, page):
        with open(os.path.join(root, page), encoding="utf-8") as file:
            text = re.sub(r"```.*?```", "", file.read(), flags=re.S)
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            target, _, anchor = link.partition("#")
            path = os.path.join(root, os.path.dirname(page), target) if target else os.path.join(root, page)
            if "://" in link:
                continue
            if not os.path.exists(path):
                yield f"{page}: {link}: no such file"
            elif anchor and anchor not in self.headings(path):
                yield f"{page}: {link}: no such heading"

    def pages(self):
        for pattern in ("*.md", "docs/*.md", "*/README.md"):
            yield from (os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, pattern)))

    def test_every_link_leads_somewhere(self):
        self.assertEqual([line for page in self.pages() for line in self.broken(ROOT, page)], [])

    def test_a_link_that_leads_nowhere_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "page.md"), "w", encoding="utf-8") as file:
                file.write("# One: `two`\n[a](#one-two) [b](#three) [c](other.md) [d](page.md#one-two)\n")
            self.assertEqual(list(self.broken(folder, "page.md")),
                             ["page.md: #three: no such heading", "page.md: other.md: no such file"])


class Results(unittest.TestCase):
    def test_every_file_says_what_made_it(self):
        for name, data in results():
            with self.subTest(name):
                if name in WITHOUT_COMMIT:
                    self.assertFalse("commit" in data, "it has one: take it off the list")
                    continue
                for key in ("command", "version", "commit"):
                    self.assertTrue(data.get(key), f"expected its {key}")
                self.assertFalse(data["command"].endswith("…"), "the command is cut off")
                self.assertNotEqual(data["commit"], "unknown")
                self.assertTrue("seed" in data or "seeds" in data or name in WITHOUT_SEED,
                                "expected its seed")

    def test_what_made_a_file_can_be_checked_out(self):
        """Each commit that a file names is whole and is in the repository, but for those of the lists."""
        made = {name: data["commit"] for name, data in results() if name not in WITHOUT_COMMIT}
        self.assertEqual(set(DIRTY), {name for name, commit in made.items() if commit.endswith("-dirty")})
        if not whole_history():
            self.skipTest("not all commits are here")
        lost = unknown({commit.removesuffix("-dirty") for commit in made.values()})
        self.assertEqual(set(LOST), {name for name, commit in made.items() if commit.removesuffix("-dirty") in lost})

    def test_a_commit_that_is_not_there_is_named(self):
        if not whole_history():
            self.skipTest("not all commits are here")
        here = git("rev-parse", "HEAD").stdout.strip()
        tree = git("rev-parse", "HEAD^{tree}").stdout.strip()
        self.assertEqual(unknown({here, here[:12], tree, "0" * 40, "nonsense"}), {tree, "0" * 40, "nonsense"})

    def test_a_summary_has_every_cell_of_its_folder(self):
        """A cell that was made after the summary would be missing in tables and sentences."""
        def cells(folder):
            names = (name for name, _ in results() if os.path.dirname(name) == folder)
            return {os.path.basename(name).removesuffix(".json") for name in names}

        found = dict(results())
        race = {f"{row['method']}-{seed}" for row in found["race-study.json"]["rows"] for seed in row["seeds"]}
        self.assertEqual(race, cells("race"))
        for name, folder in (("gate-study", "gate"), ("gate-study-velocity-0.5", "gate-velocity-0.5"),
                             ("gate-study-fresh", "gate-fresh"),
                             ("gate-ladder", "gate-ladder")):
            data = found[f"{name}.json"]
            rows = [row for part in data["protocols"] for row in part["rows"]] + data.get("ablations", [])
            self.assertEqual({f"{row['cell']}-{seed}" for row in rows for seed in row["seeds"]}, cells(folder))
        pairs = {f"{row['method']}-{row['pairs']}-{i + 1}" for row in found["pairs.json"]["rows"]
                 for i in range(row["splits"])}
        self.assertEqual(pairs, cells("pairs"))
        mechanism = {f"{row['variant']}-w{row['composed_loss']:g}-{i + 1}"
                     for row in found["mechanism.json"]["variants"] for i in range(row["folds"])}
        self.assertEqual(mechanism, cells("mechanism"))

    def test_settings_of_the_gate_are_those_that_were_tried(self):
        """The rows of each stage's file, in order, trained and flown as the tool would do it again."""
        keys = {"--observer-time": "observer_time_s", "--fix-share": "share", "--fix-floor": "floor_m",
                "--velocity-time": "velocity_time_s", "--refuse": "refuse_sigma"}
        found = dict(results())
        for stage, file in (("first", "gate-choice"), ("floor", "gate-floor"), ("velocity", "gate-velocity")):
            trials, settings = choose_gate.STAGES[stage]
            rows = found[f"{file}.json"]["rows"]
            self.assertEqual([row["name"] for row in rows], list(settings))
            for row, (seen, trained, flown) in zip(rows, settings.values()):
                with self.subTest(f"{stage}: {row['name']}"):
                    self.assertEqual(row["training"], [str(word) for word in trained])
                    self.assertEqual(trained[:len(seen)], seen)
                    self.assertEqual(row["piazza"]["trials"], 30 * trials)
                    # Before there was a time of the velocity, it was that of the observer.
                    fixes = {"share": 0, "velocity_time_s": row["fixes"]["observer_time_s"], **row["fixes"]}
                    for option, value in zip(flown[::2], flown[1::2], strict=True):
                        self.assertEqual(fixes[keys[option]], value, option)

    def test_the_list_of_old_files_is_no_longer_than_it_must_be(self):
        self.assertLessEqual(set(WITHOUT_COMMIT), {name for name, _ in results()})
        self.assertEqual(WITHOUT_SEED, {name for name, data in results() if name not in WITHOUT_COMMIT
                                        and "seed" not in data and "seeds" not in data})


if __name__ == "__main__":
    unittest.main()
