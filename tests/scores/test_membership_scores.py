"""LiRA, RMIA and the loss: against slow formulas record by record, and on a leak of known size."""

import math

import numpy as np
import pytest

from audits.attacks.membership_scores import (
    loss_scores,
    offline_scores,
    online_scores,
    relative_scores,
    scaled_confidence,
)
from audits.bounds.area import area_under_roc
from dpaudit.model.mechanism import Array


def simulated(shift: float, seed: int = 0) -> tuple[Array, Array, Array, Array, Array, Array]:
    """Return a target, its members, shadows and a population: members' scaled confidence is higher by `shift`."""
    rng = np.random.default_rng(seed)
    records, models, others = 400, 40, 300
    hardness = rng.normal(0, 2, records)
    included = rng.random((models + 1, records)) < 0.5
    phi = hardness + shift * included + rng.normal(size=(models + 1, records))
    population = rng.normal(0, 2, others) + rng.normal(size=(models + 1, others))
    p, z = 1 / (1 + np.exp(-phi)), 1 / (1 + np.exp(-population))
    return p[0], included[0], p[1:], included[1:], z[0], z[1:]


def test_scores_are_those_of_formulas_record_by_record() -> None:
    """Means, deviations and shares by loops over records, to 1e-9."""
    target, _, shadows, included, population, others = simulated(1.0)
    online, offline = online_scores(target, shadows, included), offline_scores(target, shadows, included)
    relative = relative_scores(target, shadows, included, population, others)
    for record in range(0, 400, 37):
        phi, values = math.log(target[record] / (1 - target[record])), scaled_confidence(shadows[:, record])
        ins, outs = values[included[:, record]], values[~included[:, record]]
        m1, m0 = ins.mean(), outs.mean()
        variance = (((ins - m1) ** 2).sum() + ((outs - m0) ** 2).sum()) / len(values)
        assert online[record] == pytest.approx(((phi - m0) ** 2 - (phi - m1) ** 2) / (2 * variance), abs=1e-9)
        assert offline[record] == pytest.approx((phi - m0) / outs.std(), abs=1e-9)
        p = shadows[:, record]
        average = (p[included[:, record]].mean() + p[~included[:, record]].mean()) / 2
        rises = population / others.mean(axis=0)
        assert relative[record] == pytest.approx((target[record] / average > rises).mean(), abs=1e-9)


def test_shadows_sharpen_an_attack_and_no_leak_shows_none() -> None:
    """At a shift of 2 both kinds of LiRA and RMIA beat the loss; without a shift all areas are near one half.

    The areas of 400 records have a deviation below .03; six of them are allowed.
    """
    areas = {}
    for shift in (0.0, 2.0):
        target, members, shadows, included, population, others = simulated(shift, 1)
        scores = {
            "online": online_scores(target, shadows, included),
            "offline": offline_scores(target, shadows, included),
            "relative": relative_scores(target, shadows, included, population, others),
            "loss": loss_scores(target),
        }
        areas[shift] = {n: area_under_roc(s[members], s[~members], 0.05).value for n, s in scores.items()}
    assert all(abs(area - 0.5) < 0.18 for area in areas[0.0].values())
    assert min(areas[2.0][name] for name in ("online", "offline", "relative")) > areas[2.0]["loss"] + 0.05
    assert areas[2.0]["online"] > 0.85


def test_records_without_a_shadow_on_one_side_and_sure_models_stay_finite() -> None:
    """Confidences of 0 and 1, equal shadows, a record that every shadow has."""
    target, shadows = np.array([1.0, 0.0, 0.5]), np.array([[1.0, 0.0, 0.5]] * 3)
    included = np.array([[True, True, True], [True, False, False], [True, True, False]])
    scores = [
        online_scores(target, shadows, included),
        offline_scores(target, shadows, included),
        relative_scores(target, shadows, included, target, shadows),
        loss_scores(target),
    ]
    assert all(np.isfinite(each).all() for each in scores)
    assert online_scores(target, shadows, included)[0] == 0
    assert offline_scores(target, shadows, included)[0] == 0
