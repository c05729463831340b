"""Ways to make the gate green without a right claim: each is told, and none passes."""

import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from dpaudit import Claim
from dpaudit.gate.baseline import Accepted, Baseline
from dpaudit.gate.catalogue import RULES
from dpaudit.gate.document import CheckDocument
from dpaudit.gate.running import run_checks
from dpaudit.gate.terms import Terms
from dpaudit.wording.claims import excess_of
from tests.command_line import Write, dpaudit
from tests.gate.conftest import WRITTEN
from tests.gate.test_hostile_text import EXITING
from tests.gate.test_pytest_plugin import FUNCTIONS, project  # noqa: F401 - a fixture

pytest_plugins = ("pytester",)
TODAY = date(2025, 6, 1)
ROOT = Path(__file__).parents[2]
FALSE_CLAIM = """\
[claim]
epsilon = 1.0
neighbours = "replace_one"
unit = "one person"

[declaration]
node = "release"
label = "x"
mechanism = { name = "laplace", scale = 0.5, l1_sensitivity = 1.0 }
"""
ALGORITHM_ALONE = """\
[algorithm]
name = "pucb"
epsilon = 1.0
episodes = 100
steps = 2
"""


def checked(name: str, baseline: Baseline | None = None) -> CheckDocument:
    """Return the check of one configuration without audits."""
    return run_checks((Path(name),), baseline or Baseline(), TODAY, attack=False)


def accepting(document: CheckDocument, accepted: date, expires: date, **ceilings: float) -> Baseline:
    """Return a baseline that accepts every issue of a check, with some ceilings written by hand."""
    entries = []
    for issue in document.open:
        assert issue.terms is not None
        up_to = tuple((dict(issue.terms.up_to) | ceilings).items())
        entries.append(
            Accepted(
                fingerprint=issue.fingerprint,
                rule=issue.rule,
                config=issue.config,
                subject=issue.subject,
                reason="known",
                accepted=accepted,
                expires=expires,
                terms=replace(issue.terms, up_to=up_to),
            )
        )
    return Baseline(entries=tuple(entries))


def test_an_acceptance_of_a_day_to_come_accepts_nothing(write: Write) -> None:
    """Accepted in the year 9998, it would last for ever; accepted today, it holds."""
    document = checked(write(FALSE_CLAIM))
    assert document.exit_code == 1
    ahead = checked("release.toml", accepting(document, date(9998, 12, 31), date(9999, 12, 31)))
    assert ahead.exit_code == 1
    assert "after today" in ahead.unused[0].line
    assert checked("release.toml", accepting(document, TODAY, date(2025, 12, 31))).exit_code == 0


@pytest.mark.parametrize(("name", "ceiling"), [("proved_epsilon", float("inf")), ("refuted_epsilon", 1e308)])
def test_a_ceiling_that_bounds_nothing_accepts_nothing(write: Write, name: str, ceiling: float) -> None:
    """A ceiling written by hand as inf, or beyond every ratio of probabilities, accepts no smaller number."""
    document = checked(write(FALSE_CLAIM))
    raised = checked("release.toml", accepting(document, TODAY, TODAY, **{name: ceiling}))
    assert raised.exit_code == 1
    assert "bounds nothing" in raised.unused[0].line


def test_a_ceiling_of_delta_1_holds_for_delta_1_alone() -> None:
    """So does an infinite epsilon for an infinite one: what was measured as such stays accepted."""
    claim = Claim(epsilon=1.0, neighbours="replace_one")
    ceilings = (("proved_delta", 1.0), ("proved_epsilon", float("inf")))
    terms = Terms(claim=claim, up_to=ceilings, runs=0, significance=1.0, seen="")
    assert not terms.lapsed(terms)
    assert "bounds nothing" in terms.lapsed(replace(terms, up_to=(("proved_delta", 0.5), terms.up_to[1])))


def test_an_audit_that_is_asked_for_and_cannot_run_is_no_pass(write: Write) -> None:
    """[algorithm] and [audit] without [problem]: exit 2 and what is missing; without [audit] it says `not attacked`."""
    ended = dpaudit("check", write(f"{ALGORITHM_ALONE}\n[audit]\nruns = 1000\n"))
    assert ended.exit_code == 2, ended.output
    assert "[problem]" in ended.stdout
    ended = dpaudit("check", write(FALSE_CLAIM.replace("0.5", "1.5") + "\n[audit]\nruns = 1000\n"))
    assert ended.exit_code == 2, ended.output
    ended = dpaudit("check", write(FALSE_CLAIM.replace("0.5", "1.5")))
    assert (ended.exit_code, "1 of 1 was not attacked" in ended.stdout) == (0, True)


STATED_PART = (
    '\n[[declaration.parts]]\nnode = "stated"\nepsilon = 0.01\nsource = "a vendor"\nneighbours = "replace_one"\n'
)


def test_a_release_beside_a_stated_part_does_not_hide_the_suppliers_word(write: Write) -> None:
    """One dummy release switched DPA105 off; now every stated part is an issue, and no report says certified."""
    assert "DPA105" not in dpaudit("check", write(WRITTEN)).stdout
    ended = dpaudit("check", write(WRITTEN + STATED_PART))
    assert (ended.exit_code, "DPA105" in ended.stdout) == (1, True)
    assert "a vendor" in ended.stdout
    dpaudit("report", "release.toml", "-o", "out")
    assert '"verdict": "STATED"' in Path("out/report.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(("epsilon", "delta"), [("inf", "0"), ("1e308", "0"), ("20.1", "0"), ("1.0", "0.9999")])
def test_a_claim_that_limits_nothing_is_an_issue(write: Write, epsilon: str, delta: str) -> None:
    """The claim is proved, as it says nothing; DPA107 says so until somebody accepts it."""
    text = WRITTEN.replace("epsilon = 1.0", f"epsilon = {epsilon}").replace("delta = 1e-5", f"delta = {delta}")
    ended = dpaudit("check", write(text))
    assert (ended.exit_code, "DPA107" in ended.stdout) == (1, True), ended.output
    assert RULES["DPA107"].level == "error"
    document = checked("release.toml")
    assert checked("release.toml", accepting(document, TODAY, TODAY)).exit_code == 0


def test_a_claim_of_epsilon_20_and_delta_one_hundredth_is_no_issue() -> None:
    """The broken twin of the rule: usual claims are left alone."""
    assert not excess_of(Claim(epsilon=20.0, delta=0.01, neighbours="replace_one"))
    assert not excess_of(Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one"))


def test_code_that_replaces_sys_exit_does_not_change_the_exit_code(write: Write) -> None:
    """A false claim stays exit 1 if the code that is run makes `sys.exit` do nothing."""
    write(EXITING.format("sys.exit = lambda *a: None"), "silent.py")
    config = write('[algorithm]\nname = "silent"\nepsilon = 0.5\n')
    start = (
        "import sys; sys.path.insert(0, '.'); import silent, dpaudit.configuration.config as c; "
        "c.find_plugin = lambda kind, name: silent.Silent; from dpaudit.cli import main; main()"
    )
    ended = subprocess.run([sys.executable, "-c", start, "check", config], capture_output=True, text=True, check=False)
    assert ended.returncode == 1, ended.stdout + ended.stderr


CAUGHT = """
@claim
def test_it(dp):
    {before}
    try:
        dp.check_function(half, DATA, **REAL)
    except BaseException:
        {after}


@pytest.mark.xfail(reason="a known leak, stated in the source")
@claim
def test_known(dp):
    dp.check_function(half, DATA, **REAL)


@claim
def test_good(dp):
    dp.check_function(good, DATA, **REAL)
"""
FIXTURE = """
@pytest.fixture
def checked(dp):
    try:
        dp.check_function(half, DATA, **REAL)
    except BaseException:
        pass


@claim
def test_it(checked):
    pass
"""


@pytest.mark.parametrize("after", ["pass", "pytest.skip('not today')", "return"])
def test_a_finding_that_a_test_catches_fails_it(project: Callable[..., Any], after: str) -> None:  # noqa: F811
    """`except BaseException` swallows the exception and not the finding; an expected failure stays one."""
    ended = project("-v", test_caught=CAUGHT.format(before="", after=after))
    assert ended.ret == 1, ended.stdout.str()
    found = dict(re.findall(r"^test_caught\.py::test_(\w+) (\w+)", ended.stdout.str(), flags=re.M))
    assert found == {"it": "FAILED", "known": "XFAIL", "good": "PASSED"}
    assert "VIOLATION  half" in ended.stdout.str()


def test_a_finding_that_a_fixture_catches_is_an_error(project: Callable[..., Any]) -> None:  # noqa: F811
    """A check in a fixture counts like one in a test."""
    assert "half" in FUNCTIONS
    ended = project("-v", test_fixture=FIXTURE)
    assert ended.ret == 1, ended.stdout.str()
    assert "VIOLATION  half" in ended.stdout.str()


def test_every_rule_that_is_named_is_in_the_table_and_on_the_page() -> None:
    """Code, documents and tests name no other rule; each rule has a row of the page with its fact, and is named."""
    page = (ROOT / "docs" / "how_to" / "check_in_a_pipeline.md").read_text(encoding="utf-8")
    for rule in RULES.values():
        warning = " (warning)" if rule.level == "warning" else ""
        assert f"| `{rule.id}` | {rule.name}{warning} | {rule.short} |" in page
    folders = ("dpaudit", "audits", "algorithms", "mechanisms", "benchmarks", "docs", "examples")
    files = [file for folder in folders for kind in ("*.py", "*.md") for file in (ROOT / folder).rglob(kind)]
    named = {name: file for file in files for name in re.findall(r"\bDPA\d{3}\b", file.read_text(encoding="utf-8"))}
    assert {name: file for name, file in named.items() if name not in RULES} == {}
    assert named.keys() == RULES.keys()
    assert len(RULES) <= 26, "a new rule replaces one: remove the entry, the check and the row of another"
