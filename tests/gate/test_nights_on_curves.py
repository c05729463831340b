"""Bets against trade-offs in the pytest plugin: too little Gaussian noise falls within two weeks of nights."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audits.bounds import GaussianTradeOff
from dpaudit.pytest_plugin.fixture import PrivacyChecks
from dpaudit.pytest_plugin.settings import Settings

NIGHTS, RUNS = 14, 5_000
MU = {(0.5, 0.05): 0.49183298, (1.0, 1e-5): 0.26805112}
"""The mu at which a Gaussian function has exactly that epsilon and delta."""


def nights(folder: Path, claim: tuple[float, float], factor: float, declared: Any, most: int, seed: int) -> int | None:
    """Return the night in which a Gaussian function with a factor of its noise falls, or None."""
    from audits import function_case
    from dpaudit import Claim

    mu = MU[claim]

    def noisy(data: float, rng: np.random.Generator, n_runs: int) -> object:
        return data * mu + factor * rng.normal(size=n_runs)

    keys: dict[str, Any] = {"epsilon": claim[0], "delta": claim[1], "neighbours": "replace_one"}
    for night in range(1, most + 1):
        checks = PrivacyChecks(
            test=f"test {seed}",
            mark=SimpleNamespace(args=(), kwargs=keys | {"runs": RUNS}),  # type: ignore[arg-type]
            folder=folder,
            settings=Settings(profile="fast", significance=1e-3, evidence=folder / f"e{seed}.sqlite", seed=None),
            tell=lambda *_: None,
        )
        case = function_case(noisy, (0.0, 1.0), Claim(**keys))
        try:
            checks._bet_on_curve(case, declared, (noisy,))
        except pytest.fail.Exception:
            return night
    return None


@pytest.fixture
def seeded(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the nights draw their seeds from one seed, and read the sources once."""
    monkeypatch.setattr("dpaudit.pytest_plugin.fixture.digest_of_sources", lambda subject: "same")
    monkeypatch.setattr(PrivacyChecks, "_address", lambda self, case, claim: "same")

    def fixed(seed: int) -> None:
        stream = np.random.default_rng(seed)
        monkeypatch.setattr("secrets.randbits", lambda bits: int(stream.integers(2**bits)))

    return fixed


@pytest.mark.parametrize("claim", MU)
def test_a_fifth_less_noise_falls_within_two_weeks(
    claim: tuple[float, float], tmp_path: Path, seeded: Callable[[int], None]
) -> None:
    """5,000 runs a night at .001 for all of them: (0.5, 0.05) by its claim, (1, 1e-5) by its declared curve."""
    seeded(1)
    declared = None if claim[1] > 1 / RUNS else GaussianTradeOff(mu=MU[claim])
    assert nights(tmp_path, claim, 0.8, declared, NIGHTS, 1) is not None


@pytest.mark.parametrize("suites", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_right_noise_does_not_fall(tmp_path: Path, seeded: Callable[[int], None], suites: int) -> None:
    """Suites of three nights at .001: none is accused; the seeds are fixed."""
    seeded(2)
    assert {nights(tmp_path, (0.5, 0.05), 1.0, None, 3, seed) for seed in range(suites)} == {None}


def test_a_small_delta_needs_a_declared_curve(tmp_path: Path, seeded: Callable[[int], None]) -> None:
    """At delta 1e-5 and 5,000 runs the claim alone is left to the guesses: nothing is bet."""
    seeded(3)
    assert nights(tmp_path, (1.0, 1e-5), 0.1, None, 1, 0) is None
    assert not (tmp_path / "e0.sqlite").exists()
