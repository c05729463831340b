"""The pytest plugin, run as users run it: in a process of its own, on a project of its own."""

import re
from xml.etree import ElementTree

import pytest

FUNCTIONS = """\
import numpy as np
import pytest
from mechanisms import Gaussian, Laplace

DATA = (np.array([0.0, 0.2]), np.array([0.0, 1.2]))
NOISE = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")


def good(data, rng, n_runs):
    return data.sum() + rng.laplace(0, 1.0, n_runs)


def half(data, rng, n_runs):
    return data.sum() + rng.laplace(0, 0.5, n_runs)


claim = pytest.mark.dp(epsilon=1.0, neighbours="replace_one")
"""

THREE_LINES = {
    "function": "@claim\ndef test_it(dp):\n    dp.check_function({function}, DATA)\n",
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


@pytest.fixture
def project(tmp_path, shell):
    """Return a function that writes test files and runs pytest on them."""

    def run(line="pytest", **files):
        folder = tmp_path / "project"
        folder.mkdir(exist_ok=True)
        (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n", encoding="utf-8")
        for name, text in files.items():
            (folder / f"{name}.py").write_text(FUNCTIONS + "\n\n" + text, encoding="utf-8")
        for epsilon in ("1.0", "0.5"):
            (folder / f"claim{epsilon}.toml").write_text(CONFIG.format(epsilon=epsilon), encoding="utf-8")
        return shell(line, folder)

    return run


def test_three_lines_certify_and_audit_each_kind_of_subject(project):
    """Correct subjects pass, their broken twins fail with the reason, in one session of ten tests."""
    good = {"function": "good", "mechanism": "NOISE", "config": "claim1.0.toml"}
    bad = {"function": "half", "mechanism": "NOISE.scaled(0.5)", "config": "claim0.5.toml"}
    files = {
        f"test_{kind}_{name}": text.format(**held)
        for kind, text in THREE_LINES.items()
        for name, held in (("good", good), ("bad", bad))
    }
    ended = project("pytest -v", **files)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    found = dict(re.findall(r"^test_(\w+)\.py::test_it (\w+)", ended.stdout, flags=re.M))
    assert found == {
        f"{kind}_{name}": {"good": "PASSED", "bad": "FAILED"}[name] for kind in THREE_LINES for name in ("good", "bad")
    }
    assert "VIOLATION  half" in ended.stdout
    assert "OTHER NOISE  half" in ended.stdout
    assert "0.5 times that noise explains them best" in ended.stdout
    assert "REFUTED  laplace" in ended.stdout
    assert "differential privacy ===" in ended.stdout
    assert re.search(r"Correct code is accused with probability at most 0\.001, with fixed seeds", ended.stdout)
    assert "fixture.py" not in ended.stdout


def test_doubt_is_a_skip_and_wrong_use_is_told(project):
    """Too few runs: skipped as inconclusive, exit code 0. No claim, a wrong claim: the error says what to write."""
    ended = project(
        "pytest -rs",
        test_few="@pytest.mark.dp(epsilon=1.0, neighbours='replace_one', runs=9)\ndef test_it(dp):\n"
        "    dp.check_function(good, DATA)\n",
    )
    assert ended.returncode == 0
    assert re.search(r"SKIPPED \[1\] .*inconclusive: good", ended.stdout)
    ended = project(
        "pytest test_wrong.py",
        test_wrong="def test_none(dp):\n    dp.check_function(good, DATA)\n\n"
        "@pytest.mark.dp(epsilon=-1.0, neighbours='replace_one')\n"
        "def test_bad(dp):\n    dp.check_function(good, DATA)\n",
    )
    assert ended.returncode == 1
    assert "mark the test with @pytest.mark.dp(epsilon=" in ended.stdout
    assert "Expected epsilon=-1.0" in ended.stdout
    for option in ("--dp-profile huge", "-o dp_significance=2", "--dp-seed=-1"):
        assert project(f"pytest {option}").returncode == 4


def test_workers_give_the_same_outcome_and_the_section_comes_once(project, tmp_path):
    """With xdist: same verdicts, seeds and shares as without, one section, and JUnit has the properties."""
    files = {
        "test_one": THREE_LINES["function"].format(function="good") + "\n\n@claim\ndef test_two(dp):\n"
        "    dp.check_function(half, DATA)\n",
        "test_two": THREE_LINES["release"].format(function="good"),
    }
    alone = project("pytest", **files)
    workers = project("pytest -n 2 --junitxml workers.xml")
    assert alone.returncode == workers.returncode == 1
    rows = [
        sorted(re.findall(r"^(?:VIOLATION|CONSISTENT|NOISE|CERTIFIED|INCONC).*$|; seed .*$", ended.stdout, flags=re.M))
        for ended in (alone, workers)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 5 + 4 + 1, "five checks, four seeds, and the message of the failure"
    assert workers.stdout.count("= differential privacy =") == 1
    root = ElementTree.parse(tmp_path / "project" / "workers.xml").getroot()  # noqa: S314 - our own file
    case = next(held for held in root.iter("testcase") if held.get("classname") == "test_two")
    held = {prop.get("name"): prop.get("value") for prop in case.iter("property")}
    assert [held[f"dp.{n}.verdict"] for n in (1, 2, 3)] == ["certified", "noise", "consistent"]
    facts = {name.removeprefix("dp.3.") for name in held if name.startswith("dp.3.")}
    assert {"check", "claimed", "lower", "significance", "seed", "runs"} <= facts


def test_evidence_is_carried_from_night_to_night(project, tmp_path):
    """Each night adds its runs, with a fresh seed; another budget for the same file is refused."""
    line = "pytest --dp-evidence kept/evidence.sqlite"
    first = project(line, test_one=THREE_LINES["function"].format(function="good"))
    second = project(line)
    assert first.returncode == second.returncode == 0, second.stdout
    seeds = [re.search(r"; seed (\d+), (\d+) runs(.*)", ended.stdout).groups() for ended in (first, second)]
    assert seeds[0][0] != seeds[1][0]
    assert seeds[1][2].startswith(" (with 5000 runs before)")
    assert "for every run that shares" in second.stdout
    other = project(f"{line} -o dp_significance=0.01")
    assert other.returncode == 1
    assert "a budget holds for the life of its file" in other.stdout


def test_what_was_refuted_stays_so_until_the_code_changes(project, tmp_path):
    """Night two fails at once on the stored finding; the corrected code starts anew with a smaller share."""
    line = "pytest --dp-evidence e.sqlite"
    first = project(line, test_one=THREE_LINES["function"].format(function="half"))
    second = project(line)
    assert (first.returncode, second.returncode) == (1, 1)
    assert "Found in an earlier run, and the code is the same since" in second.stdout
    fixed = project(line, test_one=THREE_LINES["function"].format(function="good"))
    assert fixed.returncode == 0, fixed.stdout


@pytest.mark.slow
def test_workers_may_share_a_file_of_evidence(project):
    """Eight tests on two workers, twice: every check keeps its place, and nothing is lost."""
    text = "@claim\n@pytest.mark.parametrize('i', range(8))\ndef test_it(dp, i):\n    dp.check_function(good, DATA)\n"
    line = "pytest -n 2 --dp-evidence e.sqlite"
    project(line, test_many=text)
    ended = project(line)
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.count("(with 5000 runs before)") == 8
