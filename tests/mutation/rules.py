"""Formulas and premises of the rules that papers cite: each against its own value, and broken once."""

import math
from typing import Any

import pytest

import dpaudit as dp
from dpaudit.engines import TILTED
from dpaudit.model import losses
from dpaudit.model.declaration import Declaration
from dpaudit.printed.argument import replay
from dpaudit.rules import RULES, Budget, Step
from tests.mutation.inputs import CLAIM, INPUTS, gaussian, laplace, release


def step(
    rule: str,
    epsilon: float,
    delta: float,
    parts: list[Any],
    slots: float | None = None,
    node: Declaration | None = None,
) -> Step:
    """Return one inference of a printed argument."""
    printed = dp.Printed(rule=rule, epsilon=epsilon, delta=delta, slots=slots)
    held = node or dp.Sequential(parts=(dp.Stated(epsilon=1.0, source="x"),) * max(1, len(parts)), printed=printed)
    return Step(node=held, printed=printed, parts=tuple((Budget(epsilon=e, delta=d), n) for e, d, n in parts))


def rules_conclude_what_their_theorems_say() -> None:
    """Each formula against its own value, and no theorem concludes less than optimal composition."""
    e, k = 0.1, 1000
    values = {
        "basic": (step("basic", 100, 0, [(e, 0, k)]), 100.0),
        "advanced": (step("advanced", 26, 1e-5, [(e, 0, k)]), 25.691),
        "advanced_refined": (step("advanced_refined", 21, 1e-5, [(e, 0, k)]), 20.170),
        "advanced_short": (
            step("advanced_short", 1, 1e-5, [(1 / math.sqrt(8 * k * math.log(2e5)), 0, k)]), 1.0),
        "optimal": (step("optimal", 21, 1e-5, [(e, 0, k)]), 20.170),
        "optimal, few small parts": (step("optimal", 1, 0.1, [(0.01, 0, 10)]), 0.0005 + math.sqrt(
            0.002 * math.log(math.e + math.sqrt(0.001) / 0.1))),
        "parallel": (step("parallel", 1, 0, [(0.5, 0, 1), (0.9, 0, 1)]), 0.9),
        "classic_gaussian": (
            step("classic_gaussian", 0.9, 1e-5, [], node=release(gaussian(5.0))), math.sqrt(2 * math.log(1.25e5)) / 5),
        "classic_gaussian_2": (
            step("classic_gaussian_2", 0.99, 1e-5, [], node=release(gaussian(5.0))), math.sqrt(2 * math.log(2e5)) / 5),
        "laplace": (step("laplace", 0.5, 0, [], node=release(laplace(2.0))), 0.5),
    }  # fmt: skip
    for name, (inference, value) in values.items():
        assert RULES[inference.printed.rule].conclude(inference) == pytest.approx(value, rel=2e-4), name
    for delta in (0.0, 1e-7):
        truth = TILTED.epsilon(losses.Composition.of(losses.ApproximateLoss(epsilon=0.1, delta=delta)) * 200, 1e-4)
        for name in ("basic", "advanced", "advanced_refined", "optimal"):
            concluded = RULES[name].conclude(step(name, 9, 1e-4, [(0.1, delta, 200)]))
            assert concluded >= truth.lower, name
            assert concluded <= 20 + 1e-9
    slots = step("basic", 9, 1e-5, [(0.1, 0, 5)], slots=9.2)
    assert RULES["basic"].conclude(slots) == pytest.approx(0.92)
    spent = step("advanced", 9, 1e-5, [(0.1, 1e-8, 100)])
    assert RULES["advanced"].conclude(spent) == pytest.approx(
        0.1 * math.sqrt(200 * math.log(1 / 9e-6)) + 10 * math.expm1(0.1), rel=1e-9
    )


def rules_know_their_premises() -> None:
    """Each premise is broken once, and named; kept, it is silent."""
    gauss, part = release(gaussian(5.0)), dp.Stated(epsilon=0.1, source="x")
    broken = {
        "the classic Gaussian needs epsilon < 1": step("classic_gaussian", 1.0, 1e-5, [], node=gauss),
        "parts fit the slots": step("basic", 9, 1e-5, [(0.1, 0, 5)], slots=4.5),
        "deltas fit, basic": step("basic", 9, 1e-5, [(0.1, 3e-6, 5)]),
        "deltas fit, slots": step("basic", 9, 1e-5, [(0.1, 3e-6, 2)], slots=5),
        "some delta is left, advanced": step("advanced", 9, 1e-5, [(0.1, 2e-6, 10)]),
        "some delta is left, refined": step("advanced_refined", 9, 1e-5, [(0.1, 2e-6, 10)]),
        "the shorthand needs epsilon <= 1": step("advanced_short", 2, 1e-5, [(0.001, 0, 10)]),
        "the shorthand halves delta": step("advanced_short", 1, 1e-5, [(0.001, 8e-7, 10)]),
        "deltas fit, parallel": step("parallel", 1, 1e-6, [(0.1, 1e-5, 1)]),
        "deltas fit, group": step(
            "group", 1, 1e-6, [(0.1, 1e-6, 1)], node=dp.Group(part=dp.Stated(epsilon=0.1, source="x"), size=3)
        ),
        "a pure rule knows mass at infinity": step("wishart", 1, 0, [], node=INPUTS["wishart"][0]),
    }
    for says, inference in broken.items():
        assert RULES[inference.printed.rule].premises(inference), says
    kept = (
        step("classic_gaussian", 0.99, 1e-5, [], node=gauss),
        step("basic", 9, 1e-5, [(0.1, 2e-6, 5)]),
        step("basic", 9, 1e-5, [(0.1, 0, 5)], slots=5.5),
        step("advanced", 9, 1e-5, [(0.1, 1e-7, 10)]),
        step("advanced_short", 1, 1e-5, [(0.001, 5e-7, 10)]),
        step("parallel", 1, 1e-5, [(0.1, 1e-5, 1)]),
        step("laplace", 1, 0, [], node=release(laplace(1.0))),
    )
    for inference in kept:
        assert RULES[inference.printed.rule].premises(inference) == (), inference
    for node in (
        dp.Sequential(parts=(part,), printed=dp.Printed(rule="billboard", epsilon=1.0, delta=1e-5)),
        dp.Sequential(parts=(part,), printed=dp.Printed(rule="local", epsilon=1.0, delta=1e-5)),
        dp.Sequential(parts=(part,), printed=dp.Printed(rule="laplace", epsilon=1.0, delta=1e-5)),
        release(laplace(5.0), printed=dp.Printed(rule="classic_gaussian", epsilon=0.5, delta=1e-5)),
    ):
        assert not replay(node, CLAIM).valid
    unproved = step("classic_gaussian", 3.0, 1e-5, [], node=release(gaussian(2.0)))
    assert "true although unproved" in RULES["classic_gaussian"].premises(unproved)[0]
    false = step("classic_gaussian", 9.0, 1e-5, [], node=release(gaussian(math.sqrt(2 * math.log(1.25e5)) / 9)))
    assert "false" in RULES["classic_gaussian"].premises(false)[0]
