"""Brackets of samples, averages, secret places, groups and choices lie around the truth of losses of the same curve."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpaudit import bracket_delta
from dpaudit.accounting.accountant import narrowest
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.engines import QUICK
from dpaudit.engines.tilted.engine import TILTED
from dpaudit.model.bracket import Bracket
from dpaudit.model.losses import Composition, DiscreteLoss, GaussianLoss, SampledLoss
from tests.accounting import oracle
from tests.accounting.drawing_nodes import NODES, draw_nodes


def contradicts(bracket: Bracket, simple: Composition, delta: float) -> bool:
    """Return whether the truth of `simple` contradicts a bracket of epsilon."""
    above = oracle.true_delta(simple, bracket.upper, 20).real if 0 < bracket.upper < math.inf else 0.0
    below = oracle.true_delta(simple, bracket.lower, 20).real if bracket.lower > 0 else 1.0
    return bool(above > delta * (1 + 1e-8) or below < delta * (1 - 1e-8))


def one_order(form: NormalForm, delta: float) -> Bracket:
    """Return what the quick engines say together of one order of the neighbours."""
    return narrowest(form.upper[0], QUICK, lambda engine, held, precision: engine.epsilon(held, delta, precision))


@pytest.mark.parametrize("kind", NODES)
def test_a_node_is_bracketed_around_the_truth(kind: str) -> None:
    """One draw of each kind, by the quick engines, which are as sound as the others."""
    rng = np.random.default_rng(41)
    while True:
        name, composition, simple, delta = draw_nodes(rng)
        if name == kind and 3 < composition.events < 60:
            break
    form = NormalForm(upper=(composition,), lower=(composition,))
    assert not contradicts(one_order(form, delta), simple, delta)


def test_a_sample_of_a_tenth_more_is_seen() -> None:
    """The broken twin: the same draw with a rate a tenth higher leaves the truth outside."""
    rng = np.random.default_rng(43)
    while True:
        name, composition, simple, delta = draw_nodes(rng)
        if name == "sampled response" and composition.events < 60:
            break
    parts = tuple(
        (replace(loss, rate=loss.rate * 1.1) if isinstance(loss, SampledLoss) else loss, times)
        for loss, times in composition.parts
    )
    assert contradicts(TILTED.epsilon(Composition(parts=parts), delta), simple, delta)


def test_the_oracle_goes_on_to_the_integrands_returns() -> None:
    """Two equal atoms many times and little Gaussian noise: its integrand is nothing for long, and then returns."""
    epsilon, count, mu = 0.5, 160, 0.5
    law = [(math.exp(a) / (1 + math.exp(epsilon)), a) for a in (epsilon, 0.0)]
    atoms = tuple((2 * a - epsilon, p) for p, a in law)
    simple = Composition(parts=((GaussianLoss(mu=mu), 1), (DiscreteLoss(atoms=atoms), count)))
    at, exact = 40.0, 0.0
    for k in range(count + 1):
        weight = math.comb(count, k) * atoms[0][1] ** k * atoms[1][1] ** (count - k)
        exact += weight * GaussianLoss(mu=mu).hockey_stick(at - k * atoms[0][0] - (count - k) * atoms[1][0])
    assert float(oracle.true_delta(simple, at, 30).real) == pytest.approx(exact, rel=1e-9)


def test_both_writings_of_a_node_have_one_delta() -> None:
    """Brackets on delta of the node and of its simple losses meet, at an epsilon of 1."""
    rng = np.random.default_rng(47)
    for _ in range(6):
        _, *both, _ = draw_nodes(rng)
        forms = [NormalForm(upper=(one,), lower=(one,)) for one in both]
        first, second = (bracket_delta(form, 1.0, QUICK) for form in forms)
        assert first.lower <= second.upper
        assert second.lower <= first.upper
