"""The pytest plugin, run as users run it, on a project of its own; with workers in processes of their own."""

import re
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import mechanisms
from dpaudit.pytest_plugin.fixture import PrivacyChecks
from dpaudit.pytest_plugin.settings import Settings

pytest_plugins = ("pytester",)
ROOT = Path(__file__).parents[2]

FUNCTIONS = """\
import numpy as np
import pytest
from mechanisms import Gaussian, Laplace

DATA = (np.array([0.0, 0.2]), np.array([0.0, 1.2]))
REAL = {'arithmetic': 'exact'}
NOISE = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")


def good(data, rng, n_runs):
    return data.sum() + rng.laplace(0, 1.0, n_runs)


def half(data, rng, n_runs):
    return data.sum() + rng.laplace(0, 0.5, n_runs)


claim = pytest.mark.dp(epsilon=1.0, neighbours="replace_one")
"""

THREE_LINES = {
    "function": "@claim\ndef test_it(dp):\n    dp.check_function({function}, DATA, **REAL)\n",
    "release": "@claim\ndef test_it(dp):\n    dp.check_release({function}, DATA, mechanism=NOISE, query=np.sum)\n",
    "mechanism": "@claim\ndef test_it(dp):\n    dp.check_mechanism({mechanism})\n",
    "declaration": "@claim\ndef test_it(dp):\n    dp.certify({mechanism})\n",
    "config": 'def test_it(dp):\n    dp.check_config("{config}")\n',
}

CONFIG = """\
[claim]
epsilon = {epsilon}
neighbours = "replace_one"
unit = "one record"

[declaration]
node = "release"
label = "x"
mechanism = {{ name = "laplace", scale = 1.0, l1_sensitivity = 1.0 }}
"""


@pytest.fixture(scope="module", autouse=True)
def _warm() -> None:
    """Import here what the sessions inside need, as they forget their own imports at their end."""
    dp = PrivacyChecks(
        test="t",
        mark=pytest.mark.dp(epsilon=1.0, neighbours="replace_one", runs=250).mark,
        folder=Path(),
        settings=Settings(profile="fast", significance=0.001, evidence=None, seed=None),
        tell=lambda *_: None,
    )
    dp.check_mechanism(mechanisms.Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"))
    dp.check_function(lambda data, rng, n_runs: data + rng.laplace(0, 1, n_runs), (0.0, 1.0))
    dp.check_config(ROOT / "examples" / "ci" / "privacy" / "weekly.toml")


@pytest.fixture
def project(pytester: pytest.Pytester) -> Callable[..., Any]:
    """Return a function that writes test files and runs pytest on them."""
    installed = any(point.value == "dpaudit.pytest_plugin" for point in entry_points(group="pytest11"))
    plugin = () if installed else ("-p", "dpaudit.pytest_plugin")
    pytester.makeini("[pytest]\naddopts = --strict-markers -p no:cacheprovider\n")
    for epsilon in ("1.0", "0.5"):
        (pytester.path / f"claim{epsilon}.toml").write_text(CONFIG.format(epsilon=epsilon), encoding="utf-8")

    def run(*arguments: Any, **files: Any) -> Any:
        if files:
            pytester.makepyfile(**{name: FUNCTIONS + "\n\n" + text for name, text in files.items()})
        return pytester.runpytest_inprocess(*plugin, *arguments)

    return run


def test_three_lines_certify_and_audit_each_kind_of_subject(project: Callable[..., Any]) -> None:
    """Correct subjects pass, their broken twins fail with the reason, in one session of ten tests."""
    good = {"function": "good", "mechanism": "NOISE", "config": "claim1.0.toml"}
    bad = {"function": "half", "mechanism": "NOISE.scaled(0.5)", "config": "claim0.5.toml"}
    files = {
        f"test_{kind}_{name}": text.format(**held)
        for kind, text in THREE_LINES.items()
        for name, held in (("good", good), ("bad", bad))
    }
    ended = project("-v", **files)
    assert ended.ret == 1, ended.stdout.str()
    found = dict(re.findall(r"^test_(\w+)\.py::test_it (\w+)", ended.stdout.str(), flags=re.M))
    assert found == {
        f"{kind}_{name}": {"good": "PASSED", "bad": "FAILED"}[name] for kind in THREE_LINES for name in ("good", "bad")
    }
    assert "VIOLATION  half" in ended.stdout.str()
    assert "0.5 times that noise explains them best" in ended.stdout.str()
    assert "REFUTED  laplace" in ended.stdout.str()
    assert "differential privacy ===" in ended.stdout.str()
    assert re.search(
        r"Each test flags correct code with probability at most 0\.001, with fixed seeds", ended.stdout.str()
    )
    assert "fixture.py" not in ended.stdout.str()


def test_a_query_that_moves_further_than_its_sensitivity_fails_the_release(project: Callable[..., Any]) -> None:
    """The noise is the declared one and the claim is certified; the query is not clipped to the stated bound."""
    body = (
        "from mechanisms import {0}\n\n@pytest.mark.dp(rho=0.5, neighbours='replace_one', runs=250)\ndef test_it(dp):\n"
        "    noise = {0}({1}=1.0, {2}_sensitivity={3}, neighbours='replace_one')\n"
        "    dp.check_release(lambda data, rng, n: noise.release(np.tile(data, (n, 1)), rng),"
        " (np.zeros(2), np.array([0.6, 0.8])), mechanism=noise, query=np.asarray)\n"
    )
    ended = project(
        "-v",
        test_right=body.format("Gaussian", "stddev", "l2", 1.0),
        test_far=body.format("Gaussian", "stddev", "l2", 0.9),
        test_norm=body.format("Laplace", "scale", "l1", 1.0),
    )
    found = dict(re.findall(r"^test_(\w+)\.py::test_it (\w+)", ended.stdout.str(), flags=re.M))
    assert (found["far"], found["norm"]) == ("FAILED", "FAILED")
    assert found["right"] != "FAILED"
    assert "The query moves by 1 between the two data sets; gaussian states l2_sensitivity=0.9." in ended.stdout.str()
    assert "The query moves by 1.4 between the two data sets; laplace states l1_sensitivity=1." in ended.stdout.str()


def test_a_wrong_call_is_told_in_one_line_and_a_test_without_a_check_is_none(project: Callable[..., Any]) -> None:
    """No traceback into the library; a marked test that checks nothing is skipped, and fails strictly."""
    calls = {
        "nothing": "dp.check_function(good)",
        "function": "dp.certify(good)",
        "runs": "dp.check_function(good, DATA, runs=100)",
        "empty": "pass",
    }
    text = "".join(f"@claim\ndef test_{name}(dp):\n    {call}\n\n" for name, call in calls.items())
    ended = project("-v", "-rs", test_it=f"{text}@claim\ndef test_bare():\n    pass\n")
    shown = ended.stdout.str()
    found = dict(re.findall(r"^test_it\.py::test_(\w+) (\w+)", shown, flags=re.M))
    failed = dict.fromkeys(("nothing", "function", "runs"), "FAILED")
    assert found == failed | dict.fromkeys(("empty", "bare"), "SKIPPED"), shown
    assert "Traceback" not in shown
    assert "fixture.py" not in shown
    for said in (
        "give two data sets, neighbours=(one, other), or one data set",
        "dp.certify takes a declaration or a mechanism, got function good",
        "Runs are set by the marker, dp(..., runs=N), or by --dp-profile (fast 5,000, ci 50,000",
        "the test called no check of dp",
        "take the fixture dp",
    ):
        assert said in shown
    assert project("--dp-strict", "-k", "empty or bare").ret == 1


def test_doubt_is_a_skip_and_wrong_use_is_told(project: Callable[..., Any]) -> None:
    """Too few runs: skipped as inconclusive, exit code 0. No claim, a wrong claim: the error says what to write."""
    ended = project(
        "-rs",
        test_few="@pytest.mark.dp(epsilon=1.0, neighbours='replace_one', runs=9)\ndef test_it(dp):\n"
        "    dp.check_function(good, DATA, **REAL)\n",
    )
    assert ended.ret == 0
    assert re.search(r"SKIPPED \[1\] .*inconclusive: good", ended.stdout.str())
    ended = project("--dp-strict", "test_few.py")
    assert ended.ret == 1
    assert "inconclusive: good" in ended.stdout.str()
    ended = project(
        "test_wrong.py",
        test_wrong="def test_none(dp):\n    dp.check_function(good, DATA, **REAL)\n\n"
        "@pytest.mark.dp(epsilon=-1.0, neighbours='replace_one')\n"
        "def test_bad(dp):\n    dp.check_function(good, DATA, **REAL)\n",
    )
    assert ended.ret == 1
    assert "mark the test with @pytest.mark.dp(epsilon=" in ended.stdout.str()
    assert "Traceback" not in ended.stdout.str()
    assert "fixture.py" not in ended.stdout.str()
    assert "Expected epsilon=-1.0" in ended.stdout.str()
    for option in ("--dp-profile=huge", "--override-ini=dp_significance=2", "--dp-seed=-1"):
        assert project(option).ret == 4


def test_workers_give_the_same_outcome_and_the_section_comes_once(
    project: Callable[..., Any], pytester: pytest.Pytester
) -> None:
    """With xdist: same verdicts, seeds and shares as without, one section, and JUnit has the properties."""
    files = {
        "test_one": THREE_LINES["function"].format(function="good") + "\n\n@claim\ndef test_two(dp):\n"
        "    dp.check_function(half, DATA, **REAL)\n",
        "test_two": THREE_LINES["release"].format(function="good"),
    }
    alone = project(**files)
    workers = project("-n", "2", "--junitxml", "workers.xml")
    assert alone.ret == workers.ret == 1
    line = re.compile(
        r"^(?:test_\w+\.py:\d+: )?(?:VIOLATION|CONSISTENT|NOT REFUTED|NOISE|CERTIFIED|INCONC).*$|; seed .*$", flags=re.M
    )
    rows = [sorted(line.findall(ended.stdout.str())) for ended in (alone, workers)]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 5 + 4 + 1, "five checks, four seeds, and the message of the failure"
    assert workers.stdout.str().count("= differential privacy =") == 1
    root = ElementTree.parse(pytester.path / "workers.xml").getroot()  # noqa: S314 - our own file
    case = next(held for held in root.iter("testcase") if held.get("classname") == "test_two")
    held = {prop.get("name"): prop.get("value") for prop in case.iter("property")}
    assert [held[f"dp.{n}.verdict"] for n in (1, 2, 3)] == ["certified", "noise", "consistent"]
    assert held["dp.1.word"] == "CERTIFIED WITH CAVEATS", "the word of certify and check"
    assert any(row.startswith(held["dp.1.word"]) for row in rows[0])
    facts = {name.removeprefix("dp.3.") for name in held if name.startswith("dp.3.")}
    assert {"check", "claimed", "lower", "significance", "seed", "runs"} <= facts


def test_evidence_is_carried_from_night_to_night(project: Callable[..., Any]) -> None:
    """Each night adds its runs, with a fresh seed; another budget for the same file is refused."""
    line = ("--dp-evidence", "kept/evidence.sqlite")
    first = project(*line, test_one=THREE_LINES["function"].format(function="good"))
    second = project(*line)
    assert first.ret == second.ret == 0, second.stdout.str()
    seeds = [re.search(r"; seed (\d+), (\d+) runs(.*)", ended.stdout.str()).groups() for ended in (first, second)]
    assert seeds[0][0] != seeds[1][0]
    assert seeds[1][2].startswith(" (with 5000 runs before)")
    assert "for every run that shares" in second.stdout.str()
    other = project(*line, "-o", "dp_significance=0.01")
    assert other.ret == 1
    assert "a budget holds for the life of its file" in other.stdout.str()


@pytest.mark.slow
def test_workers_may_share_a_file_of_evidence(project: Any) -> None:
    """Eight tests on two workers, twice: every check keeps its place, and nothing is lost."""
    text = "@claim\n@pytest.mark.parametrize('i', range(8))\ndef test_it(dp, i):\n"
    text += "    dp.check_function(good, DATA, **REAL)\n"
    line = ("-n", "2", "--dp-evidence", "e.sqlite")
    project(*line, test_many=text)
    ended = project(*line)
    assert ended.ret == 0, ended.stdout.str()
    assert ended.stdout.str().count("(with 5000 runs before)") == 8


def test_a_failure_names_file_and_line_and_the_suite_is_told_apart(project: Callable[..., Any]) -> None:
    """The line of the test, in the form that editors follow; one finding also stands for a suite of 200 checks."""
    ended = project("-o", "dp_suite_size=200", test_one=THREE_LINES["function"].format(function="half"))
    text = ended.stdout.str()
    line = FUNCTIONS.count("\n")
    number = re.search(r"^test_one\.py:(\d+): VIOLATION  half$", text, flags=re.M).group(1)
    assert abs(int(number) - line) <= 3
    assert "Findings: 1. Significant for the whole suite of 200 checks" in text


@pytest.mark.parametrize(
    ("key", "meant"), [("epsilno=1.0", "epsilon"), ("neighbors='replace_one'", "neighbours"), ("run=9", "runs")]
)
def test_a_misspelt_key_of_the_marker_is_told(project: Callable[..., Any], key: str, meant: str) -> None:
    """Did you mean; with file and line, and no traceback."""
    ended = project(test_one=f"@pytest.mark.dp({key})\ndef test_it(dp):\n    dp.check_function(good, DATA, **REAL)\n")
    assert re.search(rf"^test_one\.py:\d+: .*did you mean '{meant}'", ended.stdout.str(), flags=re.M)


def test_a_claim_in_its_own_measure_is_checked(project: Callable[..., Any]) -> None:
    """A marker with rho: proved of a mechanism, tested on a function, and refuted where there is less noise."""
    body = (
        "@pytest.mark.dp(rho=0.5, neighbours='replace_one')\ndef test_it(dp):\n"
        "    from mechanisms import Gaussian\n    noise = {0}\n"
        "    dp.certify(Gaussian(stddev={1}, l2_sensitivity=1.0, neighbours='replace_one'))\n"
        "    dp.check_function(lambda data, rng, n_runs: data.sum() + rng.normal(0, noise, n_runs), DATA)\n"
    )
    files = {
        "test_right": body.format(1.0, 1.0),
        "test_less": body.format(0.2, 1.0),
        "test_false": body.format(1.0, 0.9),
        "test_broken": body.format("'1'", 1.0).replace("data.sum()", "data.total()"),
    }
    ended = project("-v", **files)
    found = dict(re.findall(r"^test_(\w+)\.py::test_it (\w+)", ended.stdout.str(), flags=re.M))
    assert found == {"right": "PASSED", "less": "FAILED", "false": "FAILED", "broken": "SKIPPED"}, ended.stdout.str()
    assert "not replayed" not in ended.stdout.str()
    assert "AttributeError: 'numpy.ndarray' object has no attribute 'total'" in ended.stdout.str()
    assert "shows rho of at least" in ended.stdout.str()
    assert "rho at most 0.5 is proved, rho = 0.5 claimed" in ended.stdout.str()


def test_the_table_of_a_project_is_read(project: Callable[..., Any], pytester: pytest.Pytester) -> None:
    """[tool.dpaudit] in pyproject.toml sets what pytest's own file does not; an unknown key is told."""
    (pytester.path / "pyproject.toml").write_text('[tool.dpaudit]\nprofile = "ci"\nsuite_size = 7\n', encoding="utf-8")
    one = THREE_LINES["function"].format(function="half")
    text = project(test_one=one).stdout.str()
    assert "Profile ci." in text
    assert "suite of 7 checks" in text
    assert "Profile fast." not in text
    (pytester.path / "pyproject.toml").write_text('[tool.dpaudit]\nprofil = "ci"\n', encoding="utf-8")
    ended = project(test_one=one)
    assert ended.ret == pytest.ExitCode.USAGE_ERROR
    assert "did you mean 'profile'" in ended.stderr.str()
    for line, told in (
        ("strict = 1", "true or false"),
        ("profile = true", "text or a number"),
        ('require = "all"', "one of: not_refuted, declared"),
    ):
        (pytester.path / "pyproject.toml").write_text(f"[tool.dpaudit]\n{line}\n", encoding="utf-8")
        ended = project(test_one=one)
        assert (ended.ret, told in ended.stderr.str()) == (pytest.ExitCode.USAGE_ERROR, True), line
    (pytester.path / "pyproject.toml").write_text("[tool.dpaudit]\nstrict = true\n", encoding="utf-8")
    few = "@pytest.mark.dp(epsilon=1.0, neighbours='replace_one', runs=9)\ndef test_it(dp):\n"
    ended = project("-q", "test_few.py", test_few=f"{few}    dp.check_function(good, DATA, **REAL)\n")
    assert ended.ret == pytest.ExitCode.TESTS_FAILED


def test_the_suite_is_accused_by_holms_rule() -> None:
    """Step down: the second smallest is held against a level for one check less; one too large ends it."""
    from dpaudit.pytest_plugin.section import Accusation, standing

    def names(*probabilities: float, checks: int = 10) -> list[str]:
        accused = [Accusation(name=str(p), probability=p) for p in probabilities]
        return [one.name for one in standing(accused, checks, 0.01)]

    assert names(0.001, 0.00111, 0.5) == ["0.001", "0.00111"]
    assert names(0.0011, 0.0001) == ["0.0001", "0.0011"]
    assert names(0.0012, 0.0001) == ["0.0001"]
    assert names(0.0011) == []
    assert names(0.01, checks=1) == ["0.01"]


def test_scores_that_a_test_computed_are_a_check(project: Any) -> None:
    """A leak fails the test, a leak within the claim passes, equal laws leave it undecided."""
    body = (
        "@claim\ndef test_it(dp):\n    rng = np.random.default_rng(0)\n"
        "    dp.check_scores(rng.normal({}, 1, 900), rng.normal(0, 1, 900), sampling='runs')\n"
    )
    ended = project("-v", test_leak=body.format(4.0), test_within=body.format(0.7), test_equal=body.format(0.0))
    found = dict(re.findall(r"^test_(\w+)\.py::test_it (\w+)", ended.stdout.str(), flags=re.M))
    assert found == {"leak": "FAILED", "within": "PASSED", "equal": "SKIPPED"}
    assert "VIOLATION  scores" in ended.stdout.str()


def test_a_release_of_another_library_is_a_check_at_its_own_claim(project: Any) -> None:
    """No marker: the claim is the library's. The right noise passes, less of it fails."""
    body = (
        "from dpaudit import Claim\nfrom dpaudit.adapters import LibraryRelease\n"
        "from dpaudit.adapters.calls import Calls\nfrom dpaudit.model.declaration import Stated\n\n"
        "NOISE = np.random.default_rng(0)\n\n\ndef noisy(data):\n"
        "    return int(data + NOISE.geometric(1 - np.exp(-1 / {0})) - NOISE.geometric(1 - np.exp(-1 / {0})))\n\n\n"
        "def test_it(dp):\n    dp.check_library(LibraryRelease(\n"
        "        library='demo', version='1', text='a count', claim=Claim(epsilon=1.0, neighbours='add_remove'),\n"
        "        source='count', declaration=Stated(epsilon=1.0, source='demo', neighbours='add_remove'),\n"
        "        function=Calls(call=noisy), pair=(3, 4), reproducible=False))\n"
    )
    ended = project("-v", test_right=body.format(1.0), test_less=body.format(0.3))
    found = dict(re.findall(r"^test_(\w+)\.py::test_it (\w+)", ended.stdout.str(), flags=re.M))
    assert found == {"right": "PASSED", "less": "FAILED"}, ended.stdout.str()
    assert "VIOLATION  demo: a count" in ended.stdout.str()
