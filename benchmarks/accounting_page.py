"""The page of accounting bugs: what went wrong in our code, a declaration, a run or a certificate, and what caught it.

The last column says what dp-accounting answers on the input where a bug shows.
"""

import json
import signal
import textwrap
from functools import cache
from importlib import metadata
from pathlib import Path

from benchmarks.accounting_peer import peer_answer
from tests.mutation.declared_mutants import DECLARED, FORGED, complaints, objections
from tests.mutation.inputs import INPUTS
from tests.mutation.mutants import table
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
page is written by `python -m benchmarks.mutants table --record`, and `tests/mutation` plants every bug again.

Three things are behind the wrong answers of dp-accounting. Its Renyi accountant reads the replacement of a record as
its removal, so that noise counts twice. Its loss distributions count a self-composed randomised response once,
whatever the number (thirty listed one by one are right). And a Renyi curve gives no finite epsilon at delta = 0, where
a pure mechanism has one. That a sound answer is looser is no defect."""


def too_long(*_) -> None:
    raise TimeoutError("the check did not end")


@cache
def peer(declaration, claim) -> str:
    signal.alarm(60)
    try:
        return peer_answer(declaration, claim)
    except TimeoutError:
        return "no answer within a minute"
    except Exception as error:
        return f"nothing ({type(error).__name__})"
    finally:
        signal.alarm(0)


def shown_by(name: str = "") -> str:
    return f"*{name}*: {peer(*INPUTS[name])}" if name in INPUTS else "no declaration shows it"


def record(caught: dict[str, str], *, write: bool) -> tuple[int, int]:
    """Print the page, and write it and what catches defects of the code; return how many survive, and of how many."""
    signal.signal(signal.SIGALRM, too_long)
    rows = [(mutant.name, mutant.says, caught[mutant.name], shown_by(*mutant.on)) for mutant in CODE]
    for mutant in DECLARED:
        scene = mutant.defective
        rows.append((mutant.name, mutant.says, next(iter(objections(scene)), ""), peer(scene.declaration, scene.claim)))
    by = {True: "the checker", False: ""}
    rows += [(forged.name, forged.says, by[bool(complaints(forged))], "has no certificates") for forged in FORGED]
    print(page(rows))
    if write:
        named = {name: found for name, found in caught.items() if found}
        (ROOT / "tests" / "mutation" / "caught.json").write_text(json.dumps(named, indent=1, sort_keys=True) + "\n")
        (ROOT / "docs" / "measured" / "accounting_bugs.md").write_text(page(rows))
    return sum(not found for _, _, found, _ in rows), len(rows)


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
