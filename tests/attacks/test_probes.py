"""Probes before an audit: dependent, seeded and unrepeatable runs get the right verdict and one clear sentence."""

import logging
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audits import audit
from audits.experiment.function_case import function_case
from audits.experiment.probes import probe
from dpaudit import AuditResult, Claim
from dpaudit.model.mechanism import Array

ONE = Claim(epsilon=1.0, neighbours="replace_one")


def honest(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + rng.laplace(0, 1.0, n_runs)


def fixed_seed(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + np.random.default_rng(1).laplace(0, 1.0, n_runs)


def one_draw(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return np.full(n_runs, data + rng.laplace(0, 1.0))


def correlated(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + rng.laplace(0, 1.0) + rng.laplace(0, 0.3, n_runs)


def by_block_size(data: Array, rng: np.random.Generator, n_runs: int) -> Any:
    return data + rng.laplace(0, 1.0, n_runs) / np.sqrt(n_runs)


def own_entropy(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + np.random.default_rng().laplace(0, 1.0, n_runs)


def global_state(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
    return data + np.random.laplace(0, 1.0, n_runs)  # noqa: NPY002 - the trap


def run(function: Callable[..., Any], runs: int = 4000, seed: int = 0) -> AuditResult:
    return audit(
        function, neighbours=(0.0, 1.0), claim=ONE, runs=runs, rng=np.random.default_rng(seed), significance=0.001
    )


@pytest.mark.parametrize(
    ("function", "verdicts", "sentence"),
    [
        (fixed_seed, {"inconclusive", "violation"}, "ignores its random generator"),
        (one_draw, {"not_refuted", "inconclusive"}, "draws its noise once a call"),
        (correlated, {"not_refuted", "inconclusive"}, "depend on each other"),
        (by_block_size, {"inconclusive"}, "depends on n_runs"),
        (own_entropy, {"not_refuted"}, "cannot be repeated"),
        (global_state, {"not_refuted"}, "numpy's global generator"),
    ],
)
def test_a_trap_gets_its_verdict_and_its_sentence(
    function: Callable[..., Any], verdicts: set[str], sentence: str
) -> None:
    """Three audits each: the same sentence, and never consistent."""
    for seed in range(2):
        result = run(function, seed=seed)
        assert result.verdict in verdicts
        assert any(sentence in remark for remark in result.remarks), result.remarks
        assert result.seed is None or function not in (own_entropy, global_state)


def test_honest_functions_get_no_remark() -> None:
    """Thirty functions that differ in their law: no remark on any."""
    for number in range(30):
        scale, width = 0.5 + number / 10, 1 + number % 4

        def function(
            data: Array, rng: np.random.Generator, n_runs: int, scale: float = scale, width: int = width
        ) -> Any:
            noisy = data + rng.laplace(0, scale, (n_runs, width))
            return np.round(noisy) if width == 3 else noisy

        assert probe(function_case(lambda d, r, n, f=function: f(d, r, n), (0.0, 1.0), ONE), 4000).remarks == ()


def test_rare_answers_are_no_fixed_seed() -> None:
    """Yes-or-no answers of an honest function agree on eight runs of two streams by chance: no remark."""
    for threshold in np.linspace(-3, 3, 25):

        def function(data: float, rng: np.random.Generator, n_runs: int, threshold: float = threshold) -> Any:
            return data + rng.laplace(size=n_runs) > threshold

        assert probe(function_case(lambda d, r, n, f=function: f(d, r, n), (0.0, 1.0), ONE), 400).remarks == ()


LAST: dict[str, float] = {}


def _kept(data: float) -> None:
    LAST["raw"] = data


def keeping(data: float, rng: np.random.Generator) -> float:
    _kept(data)
    return data + rng.laplace()


def printing(data: float, rng: np.random.Generator) -> float:
    sys.stdout.write(f"raw {data}")
    return data + rng.laplace()


def complaining(data: float, rng: np.random.Generator) -> float:
    sys.stderr.write(f"raw {data}")
    return data + rng.laplace()


def warning(data: float, rng: np.random.Generator) -> float:
    with warnings.catch_warnings():
        warnings.warn(f"raw {data}", stacklevel=1)
    return data + rng.laplace()


def logging_it(data: float, rng: np.random.Generator) -> float:
    logging.getLogger("trap").warning("raw %s", data)
    return data + rng.laplace()


def exporting(data: float, rng: np.random.Generator) -> float:
    os.environ["DPAUDIT_TEST_RAW"] = str(data)
    return data + rng.laplace()


def counting(data: float, rng: np.random.Generator) -> float:
    LAST["calls"] = LAST.get("calls", 0.0) + 1
    sys.stdout.write(f"call {LAST['calls']}")
    return data + rng.laplace()


@pytest.mark.parametrize(
    ("function", "channel"),
    [
        (keeping, "the global 'LAST'"),
        (printing, "printed text"),
        (complaining, "printed text"),
        (warning, "warnings"),
        (logging_it, "log records"),
        (exporting, "the environment"),
    ],
)
def test_data_beside_the_output_never_pass(
    function: Callable[..., Any], channel: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The returned value is honest, the data stand elsewhere: undecided, and the remark names the channel."""
    monkeypatch.setenv("DPAUDIT_TEST_RAW", "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = run(function, runs=400)
    assert result.verdict == "inconclusive"
    assert any(f"The data show in {channel}" in remark for remark in result.remarks), result.remarks
    capsys.readouterr()


def test_counters_and_their_texts_are_no_leak(capsys: pytest.CaptureFixture[str]) -> None:
    """A counter and a progress line change with every call, not with the data; what is printed is passed on."""
    LAST.clear()
    assert probe(function_case(counting, (0.0, 1.0), ONE), 400).remarks == ()
    assert "call 1.0" in capsys.readouterr().out


def test_data_that_a_function_changes_are_noted() -> None:
    """The next run would not see the same data."""

    def changing(data: Array, rng: np.random.Generator, n_runs: int) -> Array:
        data += 1.0
        return rng.laplace(0, 1.0, n_runs)

    case = function_case(changing, (np.zeros(2), np.ones(2)), ONE)
    probed = probe(case, 4000)
    assert not probed.sound
    assert any("changes the data" in remark for remark in probed.remarks)
