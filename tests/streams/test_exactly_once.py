"""Position and model in one file: a loop over a broker that is killed at random ends with the file of a run that was not."""

import random
import subprocess
import sys
import time

import onlinecls

N = 30_000
LOOP = """
import sys
import numpy as np
import onlinecls

path, n = sys.argv[1], int(sys.argv[2])
try:
    learner, metadata = onlinecls.load(path, return_metadata=True)
except FileNotFoundError:
    learner, metadata = onlinecls.AROWClassifier(), {"offset": 0}
for offset in range(metadata["offset"], n, 100):
    rows = np.random.default_rng(offset).standard_normal((100, 10))  # what comes at an offset is always the same
    learner.partial_fit(rows, rows[:, 0] > 0, classes=[False, True])
    if offset % 2000 == 1900:
        learner.save(path, {"offset": offset + 100})
"""


def test_a_killed_loop_ends_with_the_file_of_one_that_was_not(tmp_path):
    whole, killed = tmp_path / "whole.model", tmp_path / "killed.model"
    command = [sys.executable, "-c", LOOP, str(killed), str(N)]
    draw, kills = random.Random(0), 0
    for _ in range(5):
        process = subprocess.Popen(command)
        before = killed.stat().st_mtime_ns if killed.exists() else 0
        while process.poll() is None and (killed.stat().st_mtime_ns if killed.exists() else 0) == before:
            time.sleep(0.001)
        time.sleep(draw.random() * 0.01)  # somewhere after the first checkpoint, perhaps in the middle of one
        kills += process.poll() is None
        process.kill()
        process.wait()
    assert kills, "no process lived long enough to be killed"
    subprocess.run(command, check=True)
    subprocess.run([*command[:-2], str(whole), str(N)], check=True)
    assert killed.read_bytes() == whole.read_bytes()
    assert onlinecls.load(killed, return_metadata=True)[1] == {"offset": N}
