"""A Poisson sample that its bound hardly ever cuts costs what the Poisson sample costs."""

from dataclasses import replace

import numpy as np
import pytest

from dpaudit import Release, Repeat, Subsample, bracket_epsilon, fold
from dpaudit.accounting.derivation import maps
from dpaudit.accounting.schemes import truncated_shares
from dpaudit.engines.pairs.derived import pair_above
from dpaudit.model.losses import ApproximateLoss, Composition, GaussianLoss
from mechanisms import Gaussian

NOISE = Release(label="gradient", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove"))
OFTEN = Subsample(part=NOISE, rate=0.3, scheme="truncated_poisson", population=12, batch_bound=4)
SELDOM = Subsample(part=NOISE, rate=1e-3, scheme="truncated_poisson", population=100_000, batch_bound=200)


@pytest.mark.parametrize("often", [OFTEN, replace(OFTEN, batch_bound=6), replace(OFTEN, rate=0.05, batch_bound=1)])
def test_showing_every_record_that_replaces_another_one_is_above_the_average(
    often: Subsample, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lemma at rates where it costs much, in both orders; twin: the Poisson sample alone is below the average."""
    part = Composition.of(GaussianLoss(mu=1.0))
    average = maps.cut(part, often)
    monkeypatch.setattr(maps, "_HARDLY", 1.0)
    shown = maps.cut(part, often)
    below = 0
    for way in (lambda held: held, Composition.reversed):
        (whole, _), *_ = way(average).parts
        exact = pair_above(whole, 1e-4, 1e-20)
        seen = next(loss for loss, _ in way(shown).parts if isinstance(loss, ApproximateLoss))
        sampled = next(loss for loss, _ in way(shown).parts if loss != seen)
        alone = pair_above(sampled, 1e-4, 1e-20)
        assert seen.delta == pytest.approx(sum(w for w, _, room in truncated_shares(often) if not room) * often.rate)
        for epsilon in np.linspace(-0.3, 4.0, 44):
            truth, without = exact.delta_above(epsilon), alone.delta_above(epsilon)
            assert seen.delta + (1 - seen.delta) * without >= truth - 1e-7
            below += without < truth - 1e-5
    assert below >= 5


def test_a_bound_of_ten_deviations_costs_nothing() -> None:
    steps = Repeat(part=replace(SELDOM, scheme="poisson", population=None, batch_bound=None), times=1000)
    poisson = bracket_epsilon(fold(steps, "add_remove"), 1e-6)
    cut = bracket_epsilon(fold(replace(steps, part=SELDOM), "add_remove"), 1e-6)
    assert poisson.lower <= cut.upper <= poisson.upper * 1.001
