#!/usr/bin/env python3
"""Trains and evaluates factored policies on Meta-World's reach, push and pick-place.

run.sh makes what this needs and calls it in the repository's folder. It goes on where it stopped.
"""
import argparse
import os
import sys

import evaluate
import fold
import table
import tasks
from methods import MAIN, METHODS, UPDATES
from work import (Clock, Failed, about_run, cell_jobs, evaluate_jobs, make_demonstrations, missing,
                  read_cells, read_training, train_policies)

DEMOS, EPISODES = 50, 50  # a pair


def policy_path(options, method, seed):
    return os.path.join(options.out, "policies", f"{method.policy or method.id}-{seed}.safetensors")


def expert_jobs(options):
    return cell_jobs("expert", 0, None, None, None, tasks.pairs(), options.episodes)


def asked_pairs(method):
    """All but the training pairs that it was not shown."""
    return [pair for pair in tasks.pairs() if pair not in method.hidden]


def policy_jobs(options, method, seed):
    """Of a policy that is there."""
    return cell_jobs(method.id, seed, policy_path(options, method, seed), method.mode, method.steps,
                     asked_pairs(method), options.episodes, method.told)


def gather(options, about):
    """Every cell that there is of policies that there are, and what their trainings said."""
    cells, trainings = read_cells(options.out, expert_jobs(options)) or [], {}
    for method in METHODS.values():
        for seed in range(1, 100):
            policy = policy_path(options, method, seed)
            found = os.path.exists(policy) and read_cells(options.out,
                                                          policy_jobs(options, method, seed))
            if not found:
                continue
            cells += found
            trainings[method.id, seed] = {"seed": seed, **read_training(policy)}
    return table.document(cells, trainings, {
        **about, "episodes": options.episodes, "limit": evaluate.LIMIT,
        "factors": tasks.FACTORS, "held_out": [tasks.text(pair) for pair in tasks.held_out()]})


def write_results(options, about):
    results = gather(options, about)
    evaluate.write_json(options.results, results)
    with open(os.path.join(options.out, "metaworld.md"), "w", encoding="utf-8") as text:
        text.write(table.markdown(results))
    return results


def run_study(options):
    about = about_run(options)
    make_demonstrations(options)
    wanted = [METHODS[name] for name in options.method]
    policies = {policy_path(options, method, seed) for method in wanted for seed in options.seed}
    clock = Clock({"training": sum(not os.path.exists(path) for path in policies), "cell": 0})
    jobs = expert_jobs(options)
    clock.left["cell"] = missing(options.out, jobs) + unfinished(options, wanted)
    evaluate_jobs(options, options.out, jobs, about, clock)
    for seed in options.seed:
        trainings = {policy_path(options, method, seed): method for method in wanted}
        train_policies(options, [
            (method, seed, method.updates or options.updates, path,
             [*tasks.held_out(), *method.hidden]) for path, method in trainings.items()], clock)
        for method in wanted:
            evaluate_jobs(options, options.out, policy_jobs(options, method, seed), about, clock)
            write_results(options, about)
    print(table.markdown(write_results(options, about)))


def unfinished(options, wanted):
    """Cells of policies that are still to be made or evaluated."""
    count = 0
    for method in wanted:
        for seed in options.seed:
            there = os.path.exists(policy_path(options, method, seed))
            count += (missing(options.out, policy_jobs(options, method, seed)) if there
                      else len(asked_pairs(method)))
    return count


# ---- Command line --------------------------------------------------------------------------------

def arguments(words=None):
    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__.splitlines()[0],
                                     epilog="example: run.sh --seed 1 --method ours told")
    parser.add_argument("--facet", metavar="PROGRAM", default="build/facet")
    parser.add_argument("--out", metavar="DIR", default="out/metaworld",
                        help="where demonstrations, policies and cells are kept")
    parser.add_argument("--results", metavar="FILE", help="default: DIR/metaworld.json")
    parser.add_argument("--method", metavar="NAME", nargs="+", choices=tuple(METHODS),
                        default=list(MAIN),
                        help=f"of {' '.join(METHODS)} (default: the first {len(MAIN)})")
    parser.add_argument("--seed", metavar="N", nargs="+", type=int, default=[1, 2, 3],
                        help="of training (default: 1 2 3)")
    parser.add_argument("--episodes", metavar="N", type=int, default=EPISODES,
                        help=f"a pair and seed (default {EPISODES})")
    parser.add_argument("--updates", metavar="N", type=int, default=UPDATES,
                        help=f"of a training (default {UPDATES})")
    parser.add_argument("--count", metavar="N", type=int, default=DEMOS,
                        help=f"demonstrations a pair (default {DEMOS})")
    parser.add_argument("--demo-seed", metavar="N", type=int, default=1)
    parser.add_argument("--jobs", metavar="N", type=int, default=2,
                        help="trainings, and processes of an evaluation, at once (default 2)")
    parser.add_argument("--threads", metavar="N", type=int, default=1,
                        help="of a training, 0 for one a processor (default 1)")
    parser.add_argument("--demos-only", action="store_true", help="make demonstrations and stop")
    parser.add_argument("--fold", action="store_true",
                        help="choose the recipe, without the held-out pairs")
    names = [method.id for method in fold.CANDIDATES]
    parser.add_argument("--candidate", metavar="NAME", nargs="+", choices=names, default=names,
                        help="with --fold, those to try (default: all of fold.py)")
    options = parser.parse_args(words)
    options.demos = os.path.join(options.out, "demos.h5")
    options.results = options.results or os.path.join(
        options.out, "metaworld-fold.json" if options.fold else "metaworld.json")
    if min(options.episodes, options.updates, options.count, options.jobs, *options.seed) < 1:
        parser.error("numbers must be 1 or more")
    if options.episodes > 1000:
        parser.error(f"argument --episodes: at most 1000, found {options.episodes}")
    return options


def main():
    options = arguments()
    try:
        if options.demos_only:
            make_demonstrations(options)
        elif options.fold:
            fold.run(options)
        else:
            run_study(options)
    except (Failed, OSError, ImportError) as error:
        sys.exit(f"metaworld: {error}")
    except KeyboardInterrupt:
        sys.exit("metaworld: stopped; the same command goes on from here")


if __name__ == "__main__":
    main()
