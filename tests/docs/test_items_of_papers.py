"""Every item of the four papers has a row, and every row names a test, a proof step or an argument."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.docs.test_docs import anchors

ROOT = Path(__file__).resolve().parents[2]
ITEMS = ROOT / "docs" / "papers" / "items"
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_LINK = re.compile(r"\]\(([^)#]*)(?:#([^)]*))?\)")


def _numbered(kind: str, *numbers: str) -> set[str]:
    return {f"{kind} {number}" for number in numbers}


def _range(kind: str, first: int, last: int) -> set[str]:
    return _numbered(kind, *map(str, range(first, last + 1)))


EXPECTED = {
    "capri": _numbered("Definition", "2.2", "2.6", "2.7", "2.8")
    | _numbered("Assumption", "2.3", "2.4", "2.5")
    | _numbered("Theorem", "2.1", "4.1", "6.7")
    | _numbered("Lemma", "3.1", "6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "7.1")
    | {"Claim 6.8", "Algorithm 1"},
    "dueling": _range("Definition", 1, 3)
    | _range("Remark", 1, 4)
    | _range("Theorem", 1, 3)
    | _range("Lemma", 1, 11)
    | _range("Corollary", 1, 2)
    | _range("Algorithm", 1, 2)
    | {"Properties (1) and (2)"},
    "lplr": _range("Algorithm", 1, 6)
    | _numbered("Definition", "1.1", "3.1")
    | _numbered("Theorem", "2.1", "2.2", "3.2", "4.7")
    | _numbered("Lemma", "4.2", "4.3", "4.4", "4.6", "6.1", "7.1", "8.1", "8.5")
    | _numbered("Remark", "4.5", "4.8")
    | _numbered("Question", "5.1", "5.2", "5.3")
    | _numbered("Corollary", "8.3", "8.7")
    | _range("Figure", 1, 2)
    | {"Proposition 4.1"},
    "linear_rl": _range("Assumption", 1, 2)
    | _range("Definition", 3, 4)
    | _range("Corollary", 5, 6)
    | _range("Theorem", 7, 9)
    | _range("Corollary", 10, 11)
    | _range("Lemma", 12, 25)
    | _range("Claim", 26, 32)
    | _range("Remark", 1, 8)
    | _range("Algorithm", 1, 3)
    | _numbered("Appendix", *(f"F.{number}" for number in range(1, 8)))
    | {"Table 1"},
}
"""The items as the papers number them, written down from the papers."""


def _rows(text: str) -> dict[str, str]:
    """Return what holds each item of a page."""
    cells = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    found = [(row[0].strip(), row[2].strip()) for row in cells if row[0].strip() != "item"]
    assert len(dict(found)) == len(found)
    return dict(found)


@cache
def _tests_in(path: str) -> frozenset[str]:
    """Return the test functions of a file; none where there is no file."""
    if not (ROOT / path).is_file():
        return frozenset()
    nodes = ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))


def _faults(page: Path, held: str) -> list[str]:
    """Return what is wrong with what a row names: a test that is not there, a dead link, or nothing at all."""
    tests, links = _TEST.findall(held), _LINK.findall(held)
    missing = [f"{path}::{name}" for path, name in tests if name not in _tests_in(path)]
    for place, anchor in links:
        target = (page.parent / place).resolve() if place else page
        if not target.is_file() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            missing.append(f"{place}#{anchor}")
    argued = held.startswith("argued: ") and len(held) > 40
    other = re.fullmatch(r"the row of \w+ [\d.]+", held)
    return missing if tests or links or argued or other else ["nothing"]


@pytest.mark.parametrize("paper", EXPECTED)
def test_every_item_of_a_paper_has_a_row_that_names_what_holds_it(paper: str) -> None:
    """The rows are the paper's items, each once; tests exist by name, links lead somewhere; the count is the page's."""
    page = ITEMS / f"{paper}.md"
    text = page.read_text(encoding="utf-8")
    rows = _rows(text)
    assert set(rows) == EXPECTED[paper]
    assert f"{len(rows)} items." in text
    assert {item: faults for item, held in rows.items() if (faults := _faults(page, held))} == {}


GAPS = {
    "noisy determinant rule of Ngo, Vietri and Wu, and of Sahu": "breaks",
    "LSVI-UCB, a doubled determinant at a small shift": "breaks",
    '"noise invalidates sqrt(K)"': "too strong",
    "LSVI-UCB, Algorithm 2 with its static schedule": "holds",
    "Algorithms 1 to 3, values below 0": "breaks",
    "UCRL-VTR": "does not concern",
    "one episode in the vectors of B releases": "holds",
    "CAPRI, Eqs. (22) to (30)": "breaks",
    "dueling, Lemma 11": "breaks",
    'dueling, "order optimal K / epsilon"': "breaks",
    "LPLR, the constant of Lemma 6.1": "holds with a better constant",
    "2605.07049, its Appendix E.1": "does not concern",
    "local privacy of linear processes": "open",
}
"""Every place at which a proof could have a gap, with its verdict."""


def test_every_gap_is_decided_and_names_what_decides_it() -> None:
    """The page has exactly these places with these verdicts, and each names a test, a page or an argument."""
    page = ROOT / "docs" / "theory" / "gaps.md"
    text = page.read_text(encoding="utf-8")
    cells = [line.strip("|").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    assert {row[0].strip(): row[1].split(":")[0].strip() for row in cells} == GAPS
    assert {
        item: faults for item, held in _rows(text).items() if item != "place" and (faults := _faults(page, held))
    } == {}


def test_there_are_127_items() -> None:
    """116 are numbered theorems; a pair of properties, two figures, a table and seven tools are not."""
    assert [len(items) for items in EXPECTED.values()] == [20, 26, 30, 51]


@pytest.mark.parametrize(
    "held",
    [
        "",
        "argued: yes",
        "`tests/docs/test_items_of_papers.py::test_that_is_not_there`",
        "`tests/nowhere.py::test_x`",
        "[a proof](../../proofs/Nothing.v)",
        "[a page](../capri.md#no-such-heading)",
    ],
)
def test_a_row_that_names_nothing_is_seen(held: str) -> None:
    """No words, too few words, a test that does not exist, and dead links."""
    assert _faults(ITEMS / "capri.md", held)
