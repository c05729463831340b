"""What is left out of a law counts as mass at the largest loss, or at infinity: no forged end lives on it."""

import json
import math
from collections import Counter
from functools import lru_cache
from typing import Any

import mpmath
import numpy as np
import pytest

from dpaudit import Certificate, Claim, Local, Release, Shuffle, certify, verify
from dpaudit.engines.single import single_delta
from dpaudit.model.certificate import digest_of
from dpaudit.model.losses import MixtureLoss, binomial_shifts
from dpaudit.verifier import checking, curve, losses, pairs, schemes, together
from dpaudit.verifier.shuffled import sides
from mechanisms import Laplace

REPORT = Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one")
SHUFFLED = Shuffle(part=Local(part=Release(label="report", mechanism=REPORT)), users=1000)


def claimed(epsilon: float, delta: float = 0.0) -> Claim:
    """A claim about replaced data."""
    return Claim(epsilon=epsilon, delta=delta, neighbours="replace_one")


@lru_cache(maxsize=1)
def honest() -> Certificate:
    """Return what is proved of the shuffle at the epsilon of a report."""
    return certify(SHUFFLED, claimed(1.0))


def forged(epsilon: float) -> str:
    """Return a certificate that says a shuffle of 1,000 reports of epsilon 1 costs less, at delta 0."""
    data: dict[str, Any] = json.loads(honest().to_json())
    data["claim"]["epsilon"] = data["tight"]["epsilon"]["upper"] = epsilon
    data["tight"]["delta"]["upper"] = 0.0
    told = f"The declared releases are proved to cost at most epsilon {epsilon:g} at delta 0, within the claimed"
    data["reasons"][0] = f"{told} {epsilon:g}."
    del data["digest"]
    return json.dumps(data | {"digest": digest_of(data)})


def test_what_a_shuffle_leaves_out_is_met_at_the_largest_loss() -> None:
    """Under either law."""
    node = {"node": "shuffle", "part": {"node": "stated", "epsilon": 1.0, "delta": 0.0}, "users": 1000}
    kind, above, _ = sides.shuffled_above(node, Counter([losses.black_box(1.0)]), "replace_one")
    assert kind == "between"
    assert losses.supremum(above) == 1
    assert above[1][-1][1] >= 1e-36
    assert above[1][0][0] == -1
    assert above[1][0][1] >= 1e-36 / math.e


def test_a_group_counts_the_rarest_numbers_of_sampled_records() -> None:
    """Five records at a rate of 1e-11: all of them together decide at an epsilon of 200."""
    loss = MixtureLoss(above=binomial_shifts(5, 1e-11, 5.0), below=((0.0, 1.0),))
    low, high = single_delta(loss, 200.0)
    with mpmath.workdps(60):
        q = mpmath.mpf("1e-11")
        weights = [mpmath.binomial(5, j) * q**j * (1 - q) ** (5 - j) for j in range(6)]

        def tail(z: Any) -> Any:
            return mpmath.erfc(z / mpmath.sqrt(2)) / 2

        def gain(z: Any) -> Any:
            return sum(w * tail(z - 5 * j) for j, w in enumerate(weights)) - mpmath.exp(200) * tail(z)

        exact = max(gain(24 + mpmath.mpf(n) / 400) for n in range(800))
        assert low <= exact * (1 + mpmath.mpf("1e-4"))
        assert exact <= high
    assert high == pytest.approx(1.2275e-50, rel=1e-4)
    (part,) = schemes.of_a_person(losses.on_sample("gaussian", 5.0, 1e-11), 5)[2:3]
    assert part[-1][0] == 25


def test_draws_that_are_rare_are_counted() -> None:
    """A checker's draws with replacement lose everything where they are rarer than 1e-22."""
    node = {"batch_size": 40, "population": 1000, "scheme": "with_replacement", "rate": 0.04}
    ((kind, (_, inner, *_), *_),) = schemes._drawn(node, Counter([("gaussian", 1.0)]), low=False)
    assert kind == "halves"
    ((average, _),) = inner
    weights = [weight for weight, _ in average[1]]
    assert losses.leak(average) > 0
    assert math.fsum(weights) == pytest.approx(1, rel=1e-13)


def test_outcomes_that_are_not_listed_are_counted() -> None:
    """Two releases, each with an outcome of 1e-40: both at once is not listed, and may lose everything."""
    masses = np.array([1e-40, 1 - 1e-40])
    one: together.Seen = ((masses, np.zeros(2), np.zeros(2)), 0.0)
    (outcomes, unseen) = together._joined(one, one)
    assert unseen == pytest.approx(1e-80)
    assert outcomes[0].sum() == pytest.approx(1)
    assert together._joined((one[0], 0.25), (one[0], 0.5))[1] == pytest.approx(0.75)


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("steps", [3, 206])
def test_a_secret_step_of_which_no_label_is_known_is_bounded_from_above_alone(steps: int, order: str) -> None:
    """An honest certificate of 300 sparse vectors at a secret step was rejected: the least of no labels was asked."""
    box = pairs.pair(losses.black_box(0.5), pairs.LOOK)
    none = np.zeros(0)
    blind = box._replace(told=none, p=none, q=none, p_high=none, q_low=none)
    seen, unseen = (pairs._at_one_step(inner, steps, 2**14, order) for inner in (box, blind))
    assert not (unseen.p > 1e-300).any()
    assert unseen.masses == pytest.approx(seen.masses, rel=1e-12)


def test_what_the_checker_cannot_compute_is_unconfirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure of its arithmetic says nothing against a certificate whose form and derivation were found right."""

    def broken(*given: object) -> object:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")

    monkeypatch.setattr(checking, "Worst", broken)
    verified = verify(honest().to_json())
    assert not verified.accepted
    assert verified.complaints == ()
    assert verified.unconfirmed == ("the declaration is beyond this checker's arithmetic: ValueError",)


def test_nearly_equal_ratios_at_a_secret_step_keep_their_mass() -> None:
    """Three releases of a vendor at one of 19 steps: rounding below a law high up in its window added .2 %."""
    box = losses.black_box(0.0038264279489072122, 7.028206171389645e-05)
    found = pairs.pair(("allocated", ((box, 3),), 19, "remove"), 2**14)
    assert 1 - 1e-9 <= math.fsum(found.masses) + found.lost <= 1 + 1e-6
    told = math.fsum(found.masses[found.at > 0] * -np.expm1(-found.at[found.at > 0])) + found.lost
    assert 0.0006 < told < 0.00082


def test_the_largest_atom_of_a_sum_stays_within_its_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice two secret steps of Laplace noise: an atom of mass .3 stands at the largest loss, on every lattice.

    The broken twin ends the window at that atom's place on the coarse lattice; the atom of a fine one lies above it.
    """
    twice = [Counter({("allocated", ((("laplace", 1.7574692442882252), 1),), 2, "remove"): 2})]
    low, high = curve.Worst(twice).delta(1.0)
    assert high - low <= 1e-4 * high

    def at_the_atom(at: Any, masses: Any, seldom: float) -> float:
        order = np.argsort(at)
        beyond = np.cumsum(masses[order][::-1])[::-1]
        return float(at[order][beyond > seldom].max())

    monkeypatch.setattr(curve, "_top", at_the_atom)
    low, high = curve.Worst(twice).delta(1.0)
    assert high - low > 0.1 * high
