"""What LPLR declares and what the accountant makes of it: every closed form, as printed and as repaired."""

import math
from dataclasses import replace
from typing import Any

import pytest

from algorithms.lplr import Lplr
from algorithms.lplr.accounting import delta_floor, printed_confidence_loss, printed_update_loss
from dpaudit import Claim, bracket_delta, bracket_epsilon, certify, fold, smallest_noise
from dpaudit.model.bracket import Bracket
from dpaudit.model.declaration import Declaration
from tests.narrowing import stddev_of

EPSILONS = (0.1, 0.5, 1.0, 4.0)
FLOORS = (0.011050, 0.054041, 0.105161, 0.358820)


def config(variant: str = "paper", epsilon: float = 1.0, dimension: int = 2, **more: Any) -> Lplr:
    return Lplr(epsilon=epsilon, horizon=10**6, dimension=dimension, actions=2, variant=variant, **more)


def update(made: Lplr) -> Any:
    return made.declaration().parts[0]


def without_matrix(made: Lplr) -> Any:
    """The update message without its matrix: counts and vectors alone."""
    cells = update(made).part
    inside, touched = (replace(part, parts=part.parts[:2]) for part in (cells.inside, cells.touched))
    return replace(cells, inside=inside, touched=touched)


def brackets(tree: Declaration, epsilon: float) -> Bracket:
    """What the pair of the settings' own condition attains, and the upper bound."""
    return bracket_delta(fold(tree, "replace_one", config().conditions()), epsilon)


@pytest.mark.parametrize(("epsilon", "floor"), list(zip(EPSILONS, FLOORS, strict=True)))
def test_the_delta_floor_is_one_minus_e_to_the_minus_a_ninth(epsilon: float, floor: float) -> None:
    """The closed form, the stored value and the accountant's curve far beyond the last finite loss agree."""
    assert delta_floor(epsilon) == pytest.approx(floor, abs=5e-7)
    for dimension in (1, 2, 5):
        found = brackets(update(config(epsilon=epsilon, dimension=dimension)), 50 * epsilon)
        assert found.lower == pytest.approx(delta_floor(epsilon), abs=1e-6)
        assert found.upper == pytest.approx(delta_floor(epsilon), abs=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_printed_messages_lose_what_the_closed_forms_say(epsilon: float) -> None:
    """4/3 for an update, 2 for a confidence message, 7/9 for a record against none; all times epsilon."""
    made = config(epsilon=epsilon)
    found = brackets(update(made), printed_update_loss(epsilon))
    assert found.upper == pytest.approx(delta_floor(epsilon), abs=1e-6)
    assert brackets(update(made), 0.97 * printed_update_loss(epsilon)).lower > delta_floor(epsilon) + 1e-9
    confidence = bracket_epsilon(fold(made.declaration().parts[1], "replace_one", made.conditions()), 0.0)
    assert confidence.lower == pytest.approx(printed_confidence_loss(epsilon), rel=1e-9)
    alone = fold(update(made).part.touched, "add_remove").upper[0]
    finite = max(sum(loss.supremum * n for loss, n in order.parts) for order in (alone, alone.reversed()))
    assert finite == pytest.approx(7 * epsilon / 9, rel=1e-9)


@pytest.mark.parametrize(
    ("epsilon", "dimension", "laplace", "at_3", "at_5", "full"),
    [
        (0.1, 2, 5.4e-4, 0.094, 0.133, 0.0116),
        (1, 2, 7.0e-3, 1.273, 1.333, 0.1114),
        (4, 10, 1.0e-3, 4.005, 4.717, 0.3595),
    ],
)
def test_the_spread_pair_attains_the_stored_curve(
    epsilon: float, dimension: int, laplace: float, at_3: float, at_5: float, full: float
) -> None:
    """The lower bracket is the exact curve of records with equal entries; stored to the digits shown."""
    made = config(epsilon=epsilon, dimension=dimension)
    parts = fold(without_matrix(made), "replace_one", made.conditions())
    assert bracket_delta(parts, epsilon).lower == pytest.approx(laplace, rel=0.05)
    assert bracket_epsilon(parts, 1e-3).lower == pytest.approx(at_3, abs=6e-4)
    assert bracket_epsilon(parts, 1e-5).lower == pytest.approx(at_5, abs=6e-4)
    assert brackets(update(made), epsilon).lower == pytest.approx(full, abs=6e-5)
    assert bracket_epsilon(fold(update(made), "replace_one"), 1e-3).lower == math.inf


def two_laplace_delta(each: float, epsilon: float) -> float:
    """Return delta(epsilon) of two Laplace releases of shift `each` met together, for epsilon of 0 or more.

    A loss lies z below its largest value, z = 0 with probability 1/2 and else of density e^(-z / 2) / 4 up to 2 each;
    the expectation of (1 - e^(epsilon - sum))_+ is integrated over both in turn.
    """
    gap = max(0.0, 2 * each - epsilon)
    root = math.exp(-gap / 2)
    both_at_top = -math.expm1(-gap) / 4
    one_at_top = (1 - root) ** 2 / 2
    none_at_top = (4 - 4 * root**2 - 4 * gap * root) / 16
    return both_at_top + one_at_top + none_at_top


@pytest.mark.parametrize(("epsilon", "stored"), [(0.1, 0.0250), (0.5, 0.1238), (1.0, 0.2418)])
def test_a_printed_confidence_message_has_the_stored_delta(epsilon: float, stored: float) -> None:
    """Two Laplace releases of shift epsilon: closed form, stored value and accountant."""
    found = brackets(config(epsilon=epsilon).declaration().parts[1], epsilon)
    assert two_laplace_delta(epsilon, epsilon) == pytest.approx(stored, abs=5e-5)
    assert found.lower <= two_laplace_delta(epsilon, epsilon) <= found.upper
    assert found.upper - found.lower < 1e-6


@pytest.mark.parametrize(
    ("epsilon", "calibration"),
    [
        *((epsilon, "tight") for epsilon in EPSILONS),
        (1.0, "uneven"),
        *(pytest.param(epsilon, "uneven", marks=pytest.mark.slow) for epsilon in (0.1, 0.5, 4.0)),
    ],
)
def test_the_repaired_message_costs_exactly_epsilon(epsilon: float, calibration: str) -> None:
    """Certified, with a bracket that closes on the claim; ten parts in 10^9 less noise and it is refuted."""
    made = config("fixed", epsilon, calibration=calibration)
    certificate = certify(made.declaration(), made.claim(), conditions=made.conditions())
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.upper <= epsilon
    assert certificate.tight.epsilon.lower == pytest.approx(epsilon, rel=1e-11)
    assert smallest_noise(made.declaration(), made.claim()) == pytest.approx(1, rel=1e-6)
    less = replace(made.claim(), epsilon=epsilon * (1 - 1e-8))
    assert certify(made.declaration(), less, conditions=made.conditions()).verdict == "refuted"


def test_the_printed_message_is_refuted_for_each_reason_by_itself() -> None:
    """Support of the matrix noise, two cells of an update, two cells of a confidence message, a flipped reward."""
    made = config()
    certificate = certify(made.declaration(), made.claim())
    assert certificate.verdict == "refuted"
    assert certificate.tight.epsilon.lower == math.inf
    found = {(problem.node, problem.rule): problem.message for problem in certificate.printed.problems}
    assert "the rule gives epsilon 2, the paper has 1" in found["root.0.0", "cells"]
    assert "the rule gives epsilon 2, the paper has 1" in found["root.1.0", "cells"]
    messages = [problem.message for problem in certificate.printed.problems]
    assert any("delta is at least 0.105161 at every epsilon" in message for message in messages)
    assert sum("empties one cell and fills another" in message for message in messages) == 2
    assert any("the rule gives epsilon 0.666667, the paper has 0.333333" in message for message in messages)


def test_record_against_none_the_printed_noise_costs_what_the_paper_says_but_for_the_floor() -> None:
    """Under add_remove: (epsilon, floor), so the lost factor two is all about replacement."""
    made = config()
    cells = [part.part for part in made.declaration().parts]
    claim = Claim(epsilon=1.0, delta=delta_floor(1) * (1 + 1e-6), neighbours="add_remove")
    for part in cells:
        assert certify(part.touched, claim).verdict == "certified"


@pytest.mark.parametrize(
    ("epsilon", "delta", "joint"),
    [(0.1, 1e-3, 42.6), (0.1, 1e-5, 75.3), (0.5, 1e-3, 11.3), (1, 1e-3, 6.31), (1, 1e-5, 9.14), (4, 1e-5, 2.65)],
)
def test_gaussian_noise_for_comparison(epsilon: float, delta: float, joint: float) -> None:
    """One joint release of sensitivity sqrt 6 at any dimension."""
    made = Lplr(epsilon=epsilon, delta=delta, noise="gaussian", horizon=10**6, dimension=3, actions=2)
    assert stddev_of(made.plan().leaves.of("message")) == pytest.approx(joint, rel=3e-3)
    certificate = certify(made.declaration(), made.claim(), conditions=made.conditions())
    assert certificate.verdict == "certified"
    assert certificate.tight.epsilon.lower == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"horizon": 1000}, "no epoch|nothing is ever estimated"),
        ({"delta": 0.1}, "noise is 'pure'"),
        ({"noise": "gaussian"}, "noise is 'gaussian'"),
        ({"noise": "gaussian", "delta": 1e-5, "variant": "paper"}, "no Gaussian noise"),
    ],
)
def test_a_config_that_makes_no_sense_names_the_field_and_the_remedy(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Lplr(**({"epsilon": 1.0, "horizon": 10**6, "dimension": 2, "actions": 2} | changed))
