"""One budget for a suite, whatever is repeated; evidence belongs to the code that earned it."""

import importlib.util
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array
from dpaudit.pytest_plugin.budget import KeptBudget, SessionBudget, share_of
from dpaudit.pytest_plugin.fixture import PrivacyChecks
from dpaudit.pytest_plugin.settings import Settings
from dpaudit.pytest_plugin.store import EvidenceStore
from dpaudit.runtime.sources import digest_of_sources
from tests.narrowing import present


def bets(boldness: float) -> Callable[..., Array]:
    """A score that bets this much where one Laplace release at scale 1 says most, and nothing elsewhere."""

    def score(x: Array) -> Array:
        ratio = np.abs(x) - np.abs(x - 1)
        return np.where(np.abs(ratio) > 0.999, boldness * ratio, 0.0)

    return score


def suite(
    settings: Settings, tests: int, runs: int, scale: float = 1.0, boldness: float = 3.0, told: list[Any] | None = None
) -> int:
    """How many of `tests` tests of a Laplace release fail."""
    failed = 0
    for test in range(tests):
        dp = PrivacyChecks(
            test=f"test_{test}",
            mark=pytest.mark.dp(epsilon=1.0, neighbours="replace_one", runs=runs).mark,
            folder=Path(),
            settings=settings,
            tell=lambda *held: None if told is None else told.append(held),
        )
        try:
            dp.check_function(
                lambda data, rng, n_runs: data + rng.laplace(0, scale, n_runs), (0.0, 1.0), score=bets(boldness)
            )
        except pytest.fail.Exception:
            failed += 1
    return failed


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the betting to the given score, and the digest of sources to one reading."""
    monkeypatch.setattr("audits.procedures.anytime.learners_of", lambda state, rng: (None, None, None))
    monkeypatch.setattr("dpaudit.pytest_plugin.fixture.digest_of_sources", lambda subject: "same")


def test_shares_sum_to_the_budget_however_many_checks_there_are() -> None:
    """Of a session: at most the significance over tests and their checks; of a file: over all places."""
    budget = SessionBudget(significance=0.01, tests=7)
    spent = sum(budget.allot(f"t{t}", "c", n, ()).significance for t in range(7) for n in range(1, 200))
    assert 0.0099 < spent <= 0.01
    assert sum(share_of(place) for place in range(1, 100_000)) < 1
    assert sum(share_of(place) for place in range(1, 100)) > 0.98


def test_without_a_file_the_same_suite_has_the_same_outcome(quick: None) -> None:
    """Seeds follow from names: three suites tell the same numbers, one with a seed of its own tells others."""
    base = Settings(profile="fast", significance=0.5, evidence=None, seed=None)
    told: list[list[Any]] = [[], [], [], []]
    for held in told[:3]:
        suite(base, 3, 40, told=held)
    suite(replace(base, seed=1), 3, 40, told=told[3])
    assert told[0] == told[1] == told[2] != told[3]


def test_another_identity_is_another_check_with_its_own_share(tmp_path: Path) -> None:
    """Claim or code changed: a new place, no past; the same again: the same place and its evidence."""
    budget = KeptBudget(store=EvidenceStore(path=tmp_path / "e.sqlite", significance=0.1))
    first = budget.allot("t", "c", 1, ["claim", "code"])
    assert budget.keep(first, [1.0], runs=10, refuted="")
    again, other = budget.allot("t", "c", 1, ["claim", "code"]), budget.allot("t", "c", 1, ["claim", "new code"])
    assert (again.state, other.state) == ([1.0], None)
    assert (first.significance, again.significance) == (0.05, 0.05)
    assert other.significance == pytest.approx(0.1 / 6)
    assert len({first.seed, again.seed, other.seed}) == 3


def test_two_sessions_at_once_never_overwrite_each_other(tmp_path: Path) -> None:
    """Both read the same past; the second to finish is told that its evidence was not kept."""
    budget = KeptBudget(store=EvidenceStore(path=tmp_path / "e.sqlite", significance=0.1))
    one, two = budget.allot("t", "c", 1, ()), budget.allot("t", "c", 1, ())
    assert budget.keep(one, [1.0], runs=1, refuted="")
    assert not budget.keep(two, [2.0], runs=1, refuted="")
    assert budget.allot("t", "c", 1, ()).state == [1.0]


def test_sixteen_writers_get_sixteen_places(tmp_path: Path) -> None:
    """Threads that register at once share no place."""
    budget = KeptBudget(store=EvidenceStore(path=tmp_path / "e.sqlite", significance=0.1))
    shares = []
    threads = [
        threading.Thread(target=lambda n=n: shares.append(budget.allot(f"t{n}", "c", 1, ()).significance))
        for n in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(shares) == pytest.approx(sorted(0.1 * share_of(place) for place in range(1, 17)))


def test_a_file_keeps_the_budget_that_it_was_started_with(tmp_path: Path) -> None:
    """Another significance for the same file would change shares that were already spent."""
    EvidenceStore(path=tmp_path / "e.sqlite", significance=0.1).entry("k", "n")
    with pytest.raises(ConfigError, match="a budget holds for the life of its file"):
        EvidenceStore(path=tmp_path / "e.sqlite", significance=0.2).entry("k", "n")


def test_the_sources_of_a_function_are_the_modules_it_reaches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change in a module that the function's module imports changes the digest; one in a stranger does not."""

    def load(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, tmp_path / f"{name}.py")
        module = importlib.util.module_from_spec(present(spec))
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    (tmp_path / "dp_helper.py").write_text("def noise():\n    return 1\n", encoding="utf-8")
    (tmp_path / "dp_user.py").write_text(
        "import dp_helper\ndef run():\n    return dp_helper.noise()\n", encoding="utf-8"
    )
    (tmp_path / "dp_stranger.py").write_text("x = 1\n", encoding="utf-8")
    load("dp_helper")
    run = load("dp_user").run
    load("dp_stranger")
    before = digest_of_sources(run)
    (tmp_path / "dp_stranger.py").write_text("x = 2\n", encoding="utf-8")
    assert digest_of_sources(run) == before
    (tmp_path / "dp_helper.py").write_text("def noise():\n    return 2\n", encoding="utf-8")
    assert digest_of_sources(run) != before
