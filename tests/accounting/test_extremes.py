"""Nothing crashes and nothing hangs: an answer or one clear line, within 20 s of processor time and a gibibyte."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dpaudit import bracket_delta
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines.gaussian import gaussian_delta, total_mu
from dpaudit.engines.pairs.mixture import mixture_cells
from dpaudit.model.losses import Composition, DiscreteLoss, GaussianLoss, LaplaceLoss, SampledGaussianLoss
from tests.accounting import oracle
from tests.accounting.extremes import CASES, GIBIBYTE, SLOW

ROOT = Path(__file__).parents[2]
SECONDS = 20.0
LINES = {
    "deviation 1e308": "Expected stddev=1e+308 in [1e-140, 1e140]",
    "deviation 1e-308": "Expected stddev=1e-308 in [1e-140, 1e140]",
    "deviation 5e-324": "Expected stddev=5e-324 in [1e-140, 1e140]",
    "scale 1e308": "Expected scale=1e+308 in [1e-140, 1e140]",
    "scale 1e-308": "Expected scale=1e-308 in [1e-140, 1e140]",
    "scale 5e-324": "Expected scale=5e-324 in [1e-140, 1e140]",
    "thirty repeats of 1e9": "A release that is met 1.00e+153 times is not covered",
    "four hundred nodes deep": "nested too deeply",
    "three hundred nested trees": "Expected leaf=",
    "discrete Laplace moved by 1e6": "Expected scale=1.0 to be at least l1_sensitivity / 500",
    "a node that is a table": "unknown node={}",
    "a step that is a list": "expected a list of texts",
}
"""What ends in a line, and a piece of that line; everything else has an answer."""
TRUE_VERDICTS = {
    "ten thousand steps at rate .1": "refuted",
    "rate .5, deviation 300": "certified",
    "rate .5, deviation 1e5": "certified",
    "sampled, deviation .03": "refuted",
    "sampled, deviation .001": "refuted",
    "sampled, deviation 1e-6": "refuted",
    "rate 1e-300": "certified",
    "rate 1e-12, 1e9 times": "certified",
    "a Laplace loss of 1e6": "refuted",
    "a Laplace loss of 1e6, ten times": "refuted",
    "mu 1e-140": "certified",
    "mu 1e140": "refuted",
    "mu 1e140 beside noise": "refuted",
    "randomised response 1e-12, 1e9 times": "certified",
    "discrete Gaussian 100 at epsilon 12": "certified",
    "discrete Gaussian calibrated for epsilon 16": "certified",
    "1e4 Laplace scales": "certified",
    "1e5 Gaussian scales": "certified",
}


def outcomes(*names: str) -> dict[str, dict[str, Any]]:
    """The rows of some cases, from one process with a limit on memory."""
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(Path(__file__).with_name("extremes.py")), *names],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS * 10,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    return {row["name"]: row for row in map(json.loads, ended.stdout.splitlines())}


def held(rows: dict[str, dict[str, Any]]) -> None:
    """Every row is an answer with ordered ends, or its line, within the limits."""
    for name, row in rows.items():
        assert row["seconds"] <= SECONDS, row
        assert row["peak"] <= GIBIBYTE, row
        if name in LINES:
            assert LINES[name] in row["error"], row
            assert "\n" not in row["error"], row
            continue
        low, high, less, more = (float(end) for end in row["ends"])
        assert 0 <= low <= high, row
        assert 0 <= less <= more <= 1, row
        assert row["verdict"] == TRUE_VERDICTS.get(name, row["verdict"]), row


def test_every_quick_extreme_has_an_answer_or_a_line() -> None:
    names = [name for name in CASES if name not in SLOW]
    rows = outcomes(*names)
    assert list(rows) == names
    held(rows)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_a_slow_extreme_has_an_answer_within_the_limits(name: str) -> None:
    held(outcomes(name))


def test_a_row_beyond_the_limits_is_caught() -> None:
    """The twin: each way to miss the bar fails the check of rows."""
    good = {"name": "mu 1e-140", "verdict": "certified", "ends": [0.0, 0.0, 0.0, 5e-324], "seconds": 1.0, "peak": 1}
    held({"mu 1e-140": good})
    for changed in ({"seconds": 21.0}, {"peak": 2 * GIBIBYTE}, {"verdict": "refuted"}, {"ends": [1.0, 0.0, 0.0, 1.0]}):
        with pytest.raises(AssertionError):
            held({"mu 1e-140": good | changed})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mu", "rate", "times", "epsilon"), [(1 / 300, 0.5, 1000, 0.1), (1e-3, 0.5, 1000, 0.03), (1e-2, 0.9, 50, 0.1)]
)
def test_samples_with_little_loss_are_bracketed_around_the_truth(
    mu: float, rate: float, times: int, epsilon: float
) -> None:
    """By the contour integral in both orders; the panels of the first cells had no limit here."""
    for order in ("remove", "add"):
        composition = Composition.of(SampledGaussianLoss(mu=mu, rate=rate, order=order)) * times
        truth = float(oracle.true_delta(composition, epsilon, digits=30))
        form = NormalForm(upper=(composition,), lower=(composition,))
        bracket = bracket_delta(form, epsilon)
        assert bracket.upper >= truth * (1 - 1e-9)
        if order == "remove":  # the larger of the two, which the bracket is about
            assert bracket.lower <= truth * (1 + 1e-9)
            assert bracket.upper <= truth * 1.01


@pytest.mark.parametrize("rate", [1.0, 0.5, 1e-3])
@pytest.mark.parametrize("mu", [1e-6, 0.03, 1.0, 30.0, 2000.0])
@pytest.mark.parametrize("width", [1e-9, 1e-3, 10.0])
def test_cells_hold_all_mass_and_stay_within_their_limits(mu: float, rate: float, width: float) -> None:
    """Probabilities of all cells and of what lies outside sum to 1."""
    cells = mixture_cells(mu, rate, width, 1e-20)
    assert len(cells.up) <= (1 << (17 if rate == 1 else 20)) + 1
    total = float(cells.up.sum() + cells.down.sum()) + cells.above + cells.below
    assert total == pytest.approx(1.0, abs=1e-9 + cells.error)


def test_mu_far_beyond_floating_point_is_bounded_by_what_fits() -> None:
    """Square roots of sums that neither overflow nor hang, and a curve that stays in order."""
    tiny = Composition.of(GaussianLoss(mu=1e-200), GaussianLoss(mu=1e-170))
    low, high = total_mu(tiny)
    assert 1e-170 * (1 - 1e-15) <= low <= high <= math.nextafter(1e-170, 1)
    assert total_mu(Composition.of(GaussianLoss(mu=1e160)))[1] == math.inf
    for mu in (1e-200, 1e-3, 1e3, 1e9, 1e150, math.inf):
        for epsilon in (0.0, 1.0, 1e9):
            below, above = gaussian_delta(mu, epsilon)
            assert 0 <= below <= above <= 1
    assert gaussian_delta(1e150, 1.0)[0] > 1 - 1e-9
    one = Composition.of(LaplaceLoss(shift=1.0), GaussianLoss(mu=1e-170))
    form = NormalForm(upper=(one,), lower=(one,))
    exact = -math.expm1(-0.25)  # of the Laplace loss alone, at epsilon .5
    bracket = bracket_delta(form, 0.5)
    assert bracket.lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= bracket.upper <= exact * (1 + 1e-6)


SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accounting_memory.py"
KIBIBYTES = 1 << 20  # of a GiB, as Linux counts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["40 exponential choices", "1000 Laplace", "tree, three participations"])
def test_a_heavy_declaration_is_certified_and_verified_below_a_gibibyte(name: str) -> None:
    """The largest resident set of the child; the rest of the declarations are in the benchmark."""
    ended = subprocess.run([sys.executable, str(SCRIPT), name], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    peak, *_, accepted = ended.stdout.split()
    assert accepted == "True"
    assert int(peak) < KIBIBYTES


def test_renyi_moments_of_many_atoms_are_taken_in_pieces() -> None:
    """Four thousand orders of a loss with ten thousand atoms: never a table of both at once."""
    import tracemalloc

    from dpaudit.engines.renyi import _POWERS, log_moment
    from dpaudit.model.losses import DiscreteLoss

    atoms = tuple((i / 5000 - 1.0, 1.0) for i in range(10_001))
    total = sum(p for _, p in atoms)
    loss = balanced(DiscreteLoss, [(v, p / total) for v, p in atoms])
    tracemalloc.start()
    log_moment(loss, _POWERS[:1000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20 < 1000 * len(atoms) * 8


def balanced(kind: type[DiscreteLoss], atoms: list[tuple[float, float]]) -> DiscreteLoss:
    """Return a loss whose probabilities sum to 1 under both laws: P and its mirror image, in proportion."""
    from math import cosh, exp

    weights = [(v, p * exp(v / 2) / cosh(v / 2)) for v, p in atoms]
    forward = sum(p for _, p in weights)
    return kind(atoms=tuple((v, p / forward) for v, p in weights))
