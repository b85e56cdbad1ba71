"""Learn from a broker so that each message counts once, whatever crashes: the offsets are saved in the file of the model.

    python examples/exactly_once.py [--model learnt.model] [--messages 50000] [--crash 0.1]

The broker here is a function that makes messages; docs/exactly_once.md has the same loop for Kafka, and the one for Spark. With
--crash the process is killed after so many seconds; start it again, and it goes on where the model is. The file that is there in
the end is, byte for byte, the one of a run without a crash.
"""

import argparse
import os
import random
import signal
import sys
import threading

import onlinecls
from onlinecls.text import HashingVectorizer

BATCH = 100
WORDS = {"ham": "lunch noon meeting the a project report you".split(), "spam": "cheap pills win prize the a free you".split()}


def messages(offset, end):
    """Yield (offset behind the batch, texts, labels), as a broker does: what comes at an offset is always the same."""
    while offset < end:
        texts, labels = [], []
        for at in range(offset, min(offset + BATCH, end)):
            draw = random.Random(at)
            labels.append(draw.choice(list(WORDS)))
            texts.append(" ".join(draw.choices(WORDS[labels[-1]], k=8)))
        offset += len(texts)
        yield offset, texts, labels


def learn(path, poll, every=2000):
    """Learn what `poll(offset)` yields, from the offset in the model's file on; save both together every so many messages."""
    try:
        learner, metadata = onlinecls.load(path, return_metadata=True)
    except FileNotFoundError:
        learner, metadata = onlinecls.AROWClassifier(dtype="float32"), {"offset": 0}
    vectorizer = HashingVectorizer(n_features=2**18, dtype="float32")
    offset = saved = start = metadata["offset"]
    for offset, texts, labels in poll(start):
        learner.partial_fit(vectorizer.transform(texts), labels, classes=list(WORDS))
        if offset - saved >= every:
            learner.save(path, {"offset": offset})  # the old file is replaced when the new one is whole
            saved = offset
    if offset > saved:
        learner.save(path, {"offset": offset})
    return learner, offset


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="learnt.model")
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("--crash", type=float, metavar="SECONDS", help="kill this process after so many seconds")
    options = parser.parse_args()
    if options.crash is not None:
        threading.Timer(options.crash, os.kill, (os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))).start()
    learner, offset = learn(options.model, lambda offset: messages(offset, options.messages))
    print(f"{learner.t_:,} messages learnt, offset {offset:,}, {learner.n_mistakes_ / learner.t_:.2%} mistakes")
    sys.stdout.flush()
    os._exit(0)  # (without waiting for the timer)


if __name__ == "__main__":
    main()
