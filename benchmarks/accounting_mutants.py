"""Print the page of accounting bugs: `python -m benchmarks.accounting_mutants [--record]`.

Each bug is planted in our code, a declaration, a run or a certificate; the table says what caught it, and what
dp-accounting answers on the input where it shows. With --record the catchers of code defects are written to
tests/mutation/caught.json, from which the test tries them again, and the page to
docs/measured/accounting_bugs.md. Takes a few minutes.
"""

import json
import signal
import sys
import textwrap
import time
from functools import cache
from importlib import metadata
from pathlib import Path

from benchmarks.accounting_peer import peer_answer
from tests.mutation.battery import CHECKS
from tests.mutation.declared_mutants import DECLARED, FORGED, complaints, objections
from tests.mutation.inputs import INPUTS
from tests.mutation.mutants import table
from tests.mutation.planting import planted
from tests.mutation.survivors import SURVIVORS

ROOT = Path(__file__).parent.parent
CODE = table("accounting", "code")
PARTS = {
    "code": {mutant.name for mutant in CODE},
    "declared": {mutant.name for mutant in DECLARED},
    "forged": {mutant.name for mutant in FORGED},
}
ABOUT = """Numbers beginning with B are bugs that other libraries shipped, rebuilt in our code; the rest are wrong
pieces of formulas, declarations that do not describe their run, and certificates that were changed after signing. The
page is written by `python -m benchmarks.accounting_mutants --record`, and `tests/mutation` plants every bug again.

Three things are behind the wrong answers of dp-accounting. Its Renyi accountant reads the replacement of a record as
its removal, so that noise counts twice. Its loss distributions count a self-composed randomised response once,
whatever the number (thirty listed one by one are right). And a Renyi curve gives no finite epsilon at delta = 0, where
a pure mechanism has one. That a sound answer is looser is no defect."""

PATIENCE = 15
"""Seconds for one check; a planted defect can make a search endless, which counts as caught."""


def catcher(defect) -> str:
    with planted(defect):
        for name, check in CHECKS.items():
            signal.alarm(PATIENCE)
            try:
                check()
            except (Exception, SystemExit, BaseException) as failure:
                if isinstance(failure, KeyboardInterrupt):
                    raise
                return name
            finally:
                signal.alarm(0)
    return ""


def too_long(*_) -> None:
    raise TimeoutError("the check did not end")


@cache
def peer(name: str) -> str:
    if name not in INPUTS:
        return "no declaration shows it"
    signal.alarm(60)
    try:
        return f"*{name}*: {peer_answer(*INPUTS[name])}"
    except TimeoutError:
        return f"*{name}*: no answer within a minute"
    finally:
        signal.alarm(0)


def main() -> int:
    signal.signal(signal.SIGALRM, too_long)
    for check in CHECKS.values():
        check()  # what fails on the sound code would "catch" everything
    started, rows, caught = time.perf_counter(), [], {}
    for mutant in CODE:
        found = catcher(mutant.defect)
        if found:
            caught[mutant.name] = found
        rows.append((mutant.name, mutant.says, found, peer(*mutant.on or ("",))))
    for mutant in DECLARED:
        said = peer_of(mutant.defective)
        rows.append((mutant.name, mutant.says, next(iter(objections(mutant.defective)), ""), said))
    for mutant in FORGED:
        found = "the checker" if complaints(mutant) else ""
        rows.append((mutant.name, mutant.says, found, "has no certificates"))
    print(page(rows))
    number = sum(bool(found) for _, _, found, _ in rows)
    print(f"{number} of {len(rows)} caught ({number / len(rows):.1%}) in {time.perf_counter() - started:.0f} s.")
    if "--record" in sys.argv:
        target = ROOT / "tests" / "mutation" / "caught.json"
        target.write_text(json.dumps(caught, indent=1, sort_keys=True) + "\n")
        (ROOT / "docs" / "measured" / "accounting_bugs.md").write_text(page(rows))
    return int(number < 0.95 * len(rows))


def page(rows) -> str:
    """Return the documentation page: a summary, then a row for every bug."""
    by = {part: sum(bool(row[2]) for row in rows if row[0] in names) for part, names in PARTS.items()}
    wrong = {
        said.split("*")[1] for *_, said in rows if said.startswith("*") and ("below" in said or "infinite" in said)
    }
    asked = {said.split("*")[1] for *_, said in rows if said.startswith("*")}
    number = sum(by.values())
    version = metadata.version("dp_accounting")
    where = ": " + ", ".join(sorted(wrong)) if wrong else ""
    summary = (
        f"{number} of {len(rows)} planted accounting bugs are caught: {by['code']} defects of our own code by laws of "
        "composition, known values and the overlap of independent engines; "
        f"{by['declared']} wrong declarations and runs by the rule that names them; "
        f"{by['forged']} forged certificates by the independent checker. "
        f"On the {len(asked)} inputs on which the defects of the code show, dp-accounting {version} is below the "
        f"truth, or infinite where the truth is finite, on {len(wrong)}{where}; some it cannot express, and each of "
        "its answers is in the last column."
    )
    table = []
    for name, says, found, said in rows:
        caught = found or "survives: " + SURVIVORS.get(name, "no reason known")
        table.append(f"| {name} | {cell(says)} | {cell(caught)} | {cell(said)} |")
    return "\n".join(
        [
            "# Accounting bugs, planted and caught",
            "",
            *textwrap.wrap(summary, 120),
            "",
            *(line for part in ABOUT.split("\n\n") for line in (*textwrap.wrap(part, 120), "")),
            "| bug | what went wrong | caught by | dp-accounting |",
            "|---|---|---|---|",
            *table,
            "",
        ]
    )


def cell(text: str) -> str:
    """Return text that does not end its cell."""
    return text.replace("|", "\\|")


def peer_of(scene) -> str:
    signal.alarm(60)
    try:
        return peer_answer(scene.declaration, scene.claim)
    except Exception as error:
        return f"nothing ({type(error).__name__})"
    finally:
        signal.alarm(0)


if __name__ == "__main__":
    sys.exit(main())
