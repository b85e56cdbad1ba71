"""The tutorial's part IV: mail into folders, DA1, DA2, DA3, two regularizers whose parameters are chosen by one rule."""

import sys
from pathlib import Path

from common import OUT, claim, keep

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import email_folders
from common import DATA


def main():
    OUT.mkdir(exist_ok=True)
    if not any(DATA.glob("enron-folders-*.tsv.gz")):
        keep("mail", "the tutorial, part IV", [], {}, "the mail of the users (enron-folders-USER.tsv.gz) is not there")
        return
    mail = email_folders.streams(DATA)
    results = {user: email_folders.run(messages) for user, messages in mail.items()}
    email_folders.draw(results, OUT / "mail.png")
    errors = {user: {name: 100 * float(one.progressive_error) for name, one in found.items()} for user, found in results.items()}

    def means(kind):
        return {update: sum(one[f"{kind} {update}"] for one in errors.values()) / len(errors) for update in email_folders.UPDATES}

    claims, found = [], {kind: means(kind) for kind in email_folders.REGULARIZERS}
    for kind, mean in found.items():
        shown = ", ".join(f"{update} {value:.1f} %" for update, value in mean.items())
        claims.append(claim(
            f"{kind}: the more an update raises the dual, the fewer the mistakes: DA3, then DA2, then DA1 (mean of the users).",
            shown, mean["DA3"] <= mean["DA2"] <= mean["DA1"],
            "DA3 is first; with a σ chosen for the stream the subgradient's step, DA1, is as good as the best one, DA2"))
    keep("mail", "the tutorial, part IV (five users, in order of date)", claims, errors)


if __name__ == "__main__":
    sys.exit(main())
