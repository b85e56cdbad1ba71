"""A loop over a broker that is killed at random moments ends with the file of a run that was not."""

import importlib.util
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "exactly_once.py"
N = 30_000

pytestmark = pytest.mark.skipif(not EXAMPLE.exists(), reason="needs examples/, which an installed package does not have")


@pytest.fixture(scope="module")
def example():
    specification = importlib.util.spec_from_file_location("exactly_once", EXAMPLE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_a_killed_loop_ends_with_the_file_of_one_that_was_not(example, tmp_path):
    whole, killed = tmp_path / "whole.model", tmp_path / "killed.model"
    example.learn(str(whole), lambda offset: example.messages(offset, N))
    command = [sys.executable, str(EXAMPLE), "--model", str(killed), "--messages", str(N)]
    draw, kills = random.Random(0), 0
    for _ in range(5):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        before = killed.stat().st_mtime_ns if killed.exists() else 0
        while process.poll() is None and (killed.stat().st_mtime_ns if killed.exists() else 0) == before:
            time.sleep(0.005)
        time.sleep(draw.random() * 0.1)  # somewhere behind the first checkpoint, perhaps in the middle of one
        kills += process.poll() is None
        process.kill()
        process.communicate()
    assert kills, "no process lived long enough to be killed"
    end = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    assert f"{N:,} messages learnt, offset {N:,}" in end
    assert killed.read_bytes() == whole.read_bytes()


def test_a_loop_that_is_stopped_between_saves_learns_the_rest_again(example, tmp_path):
    whole, stopped = str(tmp_path / "whole.model"), str(tmp_path / "stopped.model")

    def crashing(offset):
        for n, batch in enumerate(example.messages(offset, N)):
            if n == 57:
                raise ConnectionError
            yield batch

    polls = []
    for _ in range(20):
        try:
            example.learn(stopped, lambda offset: polls.append(offset) or crashing(offset))
            break
        except ConnectionError:
            pass
    example.learn(whole, lambda offset: example.messages(offset, N))
    assert polls[:3] == [0, 4000, 8000] and Path(stopped).read_bytes() == Path(whole).read_bytes()
