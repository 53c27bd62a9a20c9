"""The package as a host sees it: threads, signals, processes, lifetimes, memory, its README."""
import gc
import multiprocessing
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from conftest import RACE, ROOT

import facet
from facet import _runtime



def test_the_version_is_that_of_the_source():
    text = (ROOT / "CMakeLists.txt").read_text()
    assert facet.version() == facet.__version__ == re.search(r"facet VERSION ([0-9.]+)", text)[1]


def test_sampling_releases_the_interpreter(policy):
    inside = threading.Event()
    worker = threading.Thread(
        target=lambda: (inside.set(), policy.sample("race2/wide", count=100, steps=4)))
    worker.start()
    inside.wait()
    time.sleep(0.01)
    ticks = 0
    while worker.is_alive():
        ticks += 1
        time.sleep(0.001)
    assert ticks > 20


def test_threads_may_sample_from_one_policy(policy):
    alone = policy.sample("race2/wide", count=20, steps=3, threads=1)
    results = [None] * 4

    def work(i):
        results[i] = policy.sample("race2/wide", count=20, steps=3, threads=1 + i % 2)

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(result, alone) for result in results)


class Stop(Exception):
    pass


@pytest.fixture
def alarm():
    def stop(*_):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    yield lambda: signal.setitimer(signal.ITIMER_REAL, 0.3)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def test_a_signal_stops_a_long_sampling(policy, alarm):
    alarm()
    begin = time.monotonic()
    with pytest.raises(Stop):
        policy.sample("race2/wide", count=20000)
    assert time.monotonic() - begin < 30
    assert policy.sample("race2/wide", steps=3).shape == (1, 32, 4)


def test_a_signal_stops_a_search_of_speeds(course, alarm):
    alarm()
    with pytest.raises(Stop):
        while True:
            course.speeds(threads=2)


def test_a_forked_process_samples(policy):
    wanted = policy.sample("race2/wide", steps=3, threads=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(
        target=lambda: queue.put(policy.sample("race2/wide", steps=3, threads=2)))
    child.start()
    assert np.array_equal(queue.get(timeout=60), wanted)
    child.join(60)
    assert child.exitcode == 0


def test_plans_outlive_their_policy():
    plans = facet.load(RACE).sample("race2/wide", steps=3)
    before = plans.copy()
    gc.collect()
    assert np.array_equal(plans, before)


def test_a_runner_keeps_its_policy():
    handle = _runtime.policy_load(bytes(RACE))
    task = _runtime.policy_task(handle, "race2/wide")
    runner = _runtime.runner_create(handle, 1, 1)
    del handle
    gc.collect()
    plan = np.empty((1, 32, 4))
    _runtime.runner_sample(plan, runner, task, None, None, np.ones(1, np.uint64), None,
                           "composed", "ddim", 3, 0.0)
    assert np.array_equal(plan, facet.load(RACE).sample("race2/wide", steps=3))


def test_the_extension_checks_handles_and_sizes(course):
    handle = _runtime.policy_load(bytes(RACE))
    runner = _runtime.runner_create(handle, 1, 1)
    with pytest.raises(ValueError):
        _runtime.policy_about(course._handle)
    with pytest.raises(ValueError, match="actions: expected 1024 bytes, found 1016"):
        _runtime.runner_sample(np.empty(127), runner, _runtime.policy_task(handle, "race2/wide"),
                               None, None, np.ones(1, np.uint64), None, "composed", "ddim", 3,
                               0.0)


def resident():
    """Memory of this process, MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


def grows(work, times):
    """By how much memory and objects grow when work is done again and again. The heap finds its
    size first."""
    for _ in range(times):
        work()
    gc.collect()
    memory, blocks = resident(), sys.getallocatedblocks()
    for _ in range(times):
        work()
    gc.collect()
    return resident() - memory, sys.getallocatedblocks() - blocks


def test_nothing_leaks(policy, course):
    plan = course.expert("race8", 6.0)

    def fail():
        with pytest.raises(facet.Error):
            policy.sample("nowhere/wide")

    for work, times, room in [  # a policy has 17 MB, and a flight's record 0.1 MB
        (lambda: policy.sample(["race2/wide", {"track": "race3"}], steps=1, seed=[1, 2]), 100, 4.0),
        (lambda: facet.fly(plan, course, "race8/wide"), 100, 4.0),
        (lambda: facet.Course.load(), 100, 4.0),
        (lambda: facet.load(RACE).sample("race2/wide", steps=1), 10, 60.0),
        (fail, 100, 4.0),
    ]:
        memory, blocks = grows(work, times)
        assert memory < room
        assert blocks < times / 2


def test_the_readme_runs_as_it_is():
    text = (ROOT / "python/README.md").read_text()
    example = re.search(r"```python\n(.*?)```", text, re.S)[1]
    assert len(example.splitlines()) <= 20
    ran = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "10 of 10 gates" in ran.stdout or "9 of 10 gates" in ran.stdout
    assert "bad argument - task 'race9/wide': no track 'race9'" in ran.stdout
