"""What the checker derives of a loss, a printed node or a strategy: closed values, each of one function."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import mpmath
import numpy as np
import pytest

from tests.checker.modules import checker
from tests.checker.proofs.folds import attained, fold, with_derivation
from tests.checker.truths import Data, allocate, gaussian, laplace, release, sample, sequence, times

ANSWER: Any = ("discrete", ((-0.4, 1 / (1 + math.exp(0.4))), (0.4, 1 / (1 + math.exp(-0.4)))), 0.0, 0.0)
LEAKING: Any = ("discrete", ((-0.4, 0.3), (0.7, 0.5)), 0.2, 0.1)
UNEVEN: Any = ("discrete", ((-0.9, 0.2), (0.3, 0.8)), 0.0, 0.0)
BOX: Data = {"node": "stated", "epsilon": 0.5, "delta": 0.0, "source": "a vendor"}


def test_the_largest_loss_of_each_kind_is_in_closed_form() -> None:
    """On a sample ln(1 - rate + rate e^s), the other way round -ln(1 - rate + rate e^-s); over steps as at one."""
    supremum, one = checker("losses").supremum, ((ANSWER, 2),)
    mixture: Any = ("mixture", "laplace", ((0.0, 0.7), (0.5, 0.3)), ((0.0, 1.0),))
    back: Any = ("mixture", "laplace", ((0.0, 1.0),), ((-0.5, 0.3), (0.0, 0.7)))
    clear: Any = (("discrete", (), 1.0, 1.0), 1)
    rows = [
        (ANSWER, 0.4),
        (("discrete", (), 1.0, 1.0), 0.0),
        (("laplace", 0.4), 0.4),
        (("gaussian", 0.4), math.inf),
        (("gaussian", 0.0), 0.0),
        (("choice", frozenset([ANSWER, ("laplace", 0.6)])), 0.6),
        (("average", ((0.5, ANSWER), (0.5, ("laplace", 0.3)))), 0.4),
        (("between", ANSWER, LEAKING), 0.4),
        (("halves", LEAKING, ANSWER), 0.7),
        (mixture, math.log(0.7 + 0.3 * math.exp(0.5))),
        (back, -math.log(0.7 + 0.3 * math.exp(-0.5))),
        (("mixture", "gaussian", ((0.0, 0.7), (0.5, 0.3)), ((0.0, 1.0),)), math.inf),
        (("mixture", "gaussian", ((0.0, 1.0),), ((-0.5, 0.3), (0.0, 0.7))), -math.log(0.7)),
        (("map", one, 0.3, "remove"), math.log(0.7 + 0.3 * math.exp(0.8))),
        (("map", one, 0.3, "add"), -math.log(0.7 + 0.3 * math.exp(-0.8))),
        (("map", one, 0.95, "add"), -math.log(0.05 + 0.95 * math.exp(-0.8))),
        (("map", one, 1e-9, "add"), -math.log1p(1e-9 * math.expm1(-0.8))),
        (("map", ((ANSWER, 2), clear), 0.3, "add"), -math.log(0.7)),
        (("map", ((ANSWER, 2), clear), 0.9, "add"), -math.log(0.1)),
        (("map", ((("laplace", 800.0), 1),), 0.3, "remove"), 800.0 + math.log(0.3)),
        (("map", ((("laplace", 690.0), 1),), 0.3, "remove"), 690.0 + math.log(0.3)),
        (("allocated", one, 5, "remove"), 0.8),
        (("allocated", one, 5, "add", 3), 2.4),
        (("map", ((LEAKING, 1),), 0.3, "add"), -math.log(0.7)),
    ]
    for loss, expected in rows:
        assert supremum(loss) == pytest.approx(expected, rel=1e-12), loss


def test_what_is_told_for_certain_is_in_closed_form() -> None:
    leak, one = checker("losses").leak, ((LEAKING, 2),)
    rows = [
        (LEAKING, 0.2),
        (("laplace", 0.4), 0.0),
        (("choice", frozenset([ANSWER, LEAKING])), 0.2),
        (("average", ((0.25, LEAKING), (0.75, ANSWER))), 0.05),
        (("between", LEAKING, ANSWER), 0.2),
        (("halves", LEAKING, ANSWER), 0.2),
        (("map", one, 0.3, "remove"), 0.3 * (1 - 0.8**2)),
        (("map", one, 0.3, "add"), 0.0),
        (("allocated", one, 3, "remove"), 1 - 0.8**2),
        (("allocated", one, 3, "add"), (1 - 0.9**2) ** 3),
    ]
    for loss, expected in rows:
        assert leak(loss) == pytest.approx(expected, rel=1e-12), loss
    largest, lost = checker("losses").most(Counter({LEAKING: 3, ANSWER: 2}))
    assert (largest, lost) == (2.9, pytest.approx(1 - 0.8**3, rel=1e-14))


def test_a_largest_loss_is_met_by_noise_with_a_known_law_only() -> None:
    reached = checker("losses").reached
    rows = [
        (ANSWER, True),
        (("laplace", 0.4), True),
        (("gaussian", 0.4), False),
        (("range", 0.4), False),
        (("mixture", "laplace", (), ()), True),
        (("mixture", "gaussian", (), ()), False),
        (("map", ((ANSWER, 1), (("laplace", 0.3), 1)), 0.5, "remove"), True),
        (("map", ((ANSWER, 1), (("laplace", 0.3), 1)), 0.5, "add"), False),
        (("map", ((LEAKING, 1),), 0.5, "remove"), False),
        (("map", ((ANSWER, 1), (("range", 0.3), 1)), 0.5, "remove"), False),
    ]
    for loss, expected in rows:
        assert reached(loss) is expected, loss


def test_a_sum_of_decimals_is_exact_and_of_very_many_is_rounded() -> None:
    total = checker("losses")._total
    assert total([(0.1, 3), (0.2, 1)]) == 0.5
    assert total([(0.5, 3), (math.inf, 1)]) == math.inf
    assert total([(0.5, 3)] * 401) == 601.5
    assert total([(1e299, 100)]) == math.inf


def test_the_larger_curve_of_both_orders_is_that_of_one_symmetric_loss() -> None:
    """At every epsilon, also where the curves of both orders cross; of few exact rows, and of one finite loss."""
    losses, polygons = checker("losses"), checker("polygons")
    rows = [(0.5, 0.2), (0.05, 0.3), (0.3, 0.32), (0.15, 0.18)]
    exact = [(Fraction(p).limit_denominator(1000), Fraction(q).limit_denominator(1000)) for p, q in rows]
    ((found, _),) = polygons.larger(exact, Fraction(0), Fraction(0)).items()
    finite = losses.discrete([(math.log(p / q), p) for p, q in rows])
    ((other, _),) = polygons.either(Counter([finite])).items()
    wide = polygons.larger(
        [(Fraction(1, 2), Fraction(1, 5)), (Fraction(1, 4), Fraction(4, 5))], Fraction(1, 4), Fraction(0)
    )
    ((leaking, _),) = wide.items()
    for loss in (found, other):
        assert losses.reverse(loss) is loss or losses.reverse(loss)[1] == pytest.approx(loss[1])
    for epsilon in (0.0, 0.1, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.2, 1.7, 1.9):
        x = math.exp(epsilon)
        orders = (math.fsum(max(0.0, a - x * b) for a, b in side) for side in (rows, [(q, p) for p, q in rows]))
        expected = max(orders)
        for loss in (found, other):
            delta = math.fsum(-p * math.expm1(epsilon - v) for v, p in loss[1] if v > epsilon) + loss[2]
            assert delta == pytest.approx(expected, abs=1e-12), epsilon
        expected = max(
            0.25 + max(0.0, 0.5 - 0.2 * x) + max(0.0, 0.25 - 0.8 * x),
            max(0.0, 0.2 - 0.5 * x) + max(0.0, 0.8 - 0.25 * x),
        )
        delta = math.fsum(-p * math.expm1(epsilon - v) for v, p in leaking[1] if v > epsilon) + leaking[2]
        assert delta == pytest.approx(expected, abs=1e-12), epsilon
    symmetric = Counter([ANSWER])
    assert polygons.either(symmetric) is symmetric


def test_the_flags_of_a_curve_follow_from_its_losses() -> None:
    """Whether it is derived, coarse, closed or Gaussian, its largest loss, and the largest that is met."""
    worst, inf = checker("curve").Worst, math.inf
    kinds = [("laplace", 0.1 + i / 100) for i in range(9)]
    choice: Any = ("choice", frozenset([ANSWER, ("laplace", 0.6)]))
    mapped: Any = ("map", ((ANSWER, 1),), 0.5, "remove")
    rows: list[tuple[Any, tuple[bool, bool, bool, bool, float]]] = [
        ({("gaussian", 0.3): 2}, (False, False, True, True, inf)),
        ({("laplace", 0.3): 1}, (False, False, True, False, 0.3)),
        ({("laplace", 0.3): 2}, (False, False, False, False, 0.6)),
        ({ANSWER: 1}, (False, False, True, False, 0.4)),
        ({("range", 0.3): 1}, (False, False, False, False, 0.3)),
        (dict.fromkeys(kinds[:8], 1), (False, False, False, False, 1.08)),
        (dict.fromkeys(kinds, 1), (False, True, False, False, 1.26)),
        ({choice: 1}, (False, True, False, False, 0.6)),
        ({LEAKING: 1}, (False, False, True, False, inf)),
        ({mapped: 1}, (True, True, False, False, math.log(0.5 + 0.5 * math.exp(0.4)))),
        ({}, (False, False, True, True, 0.0)),
    ]
    for finite, (derived, coarse, closed, is_gaussian, largest) in rows:
        found = worst([Counter(finite)])
        assert (found.derived, found.coarse, found.closed, found.gaussian) == (derived, coarse, closed, is_gaussian)
        assert found.largest == pytest.approx(largest, rel=1e-12)
    assert worst([Counter([ANSWER]), Counter([("laplace", 0.3)])]).reached == 0.4
    assert worst([Counter([("range", 0.4)])]).reached == 0.0
    assert [worst([Counter([LEAKING])]).never(delta) for delta in (0.15, 0.2, 0.25)] == [True, False, False]
    assert [worst([Counter([("gaussian", 0.4)])]).never(delta) for delta in (0.0, 1e-9)] == [True, False]


def test_a_finite_loss_on_a_sample_and_one_of_several_records() -> None:
    poisson = fold(sample(gaussian(0.5), 0.2), "add_remove")
    cut = {"scheme": "truncated_poisson", "population": 20, "batch_bound": 25}
    assert fold(sample(gaussian(0.5), 0.2, **cut), "add_remove") == poisson
    several = {"node": "group", "part": {"node": "parallel", "parts": [BOX, BOX | {"epsilon": 0.3}], "key": "a day"}}
    assert fold(several | {"size": 3}, "replace_one") == [Counter([checker("losses").black_box(1.5)])]
    mixed = times({"node": "parallel", "parts": [gaussian(0.3), laplace(0.2)], "key": "a day"}, 2)
    with pytest.raises(checker("refusals").Rejection):
        fold(sample(mixed, 0.1), "add_remove")


def test_a_ball_has_at_least_the_root_of_its_dimension_and_that_of_a_square_exactly() -> None:
    sides = checker("mechanisms").sides_of
    for dimension in (2, 3, 1000):
        ((upper, _),), ((lower, count),) = (side.items() for side in sides(_ball(dimension), "replace_one"))
        with mpmath.workdps(50):
            root = mpmath.sqrt(dimension)
            assert 0 < upper[1] - root < 2e-15 * root
            assert 0 < 1 / root - lower[1] < 2e-15 / root
        assert count == dimension
    assert sides(_ball(9), "replace_one") == (Counter([("laplace", 3.0)]), Counter({("laplace", 1 / 3): 9}))


def _ball(dimension: int) -> Data:
    """Noise of a query that moves by 1 in l2."""
    return {"name": "ball_laplace", "dimension": dimension, "scale": 1.0, "l2_sensitivity": 1.0}


def test_a_stated_law_holds_in_the_orders_that_it_names() -> None:
    sides, refused = checker("mechanisms").sides_of, checker("refusals").Rejection
    p = [0.7, 0.3]
    law = {"loss": "discrete", "times": 2, "losses": [0.3, math.log(0.3 / (1 - 0.7 * math.exp(-0.3)))]}
    law |= {"probabilities": p, "infinite_mass": 0.0, "reverse_infinite_mass": 0.0}
    stated: Data = {"name": "x", "stated": {"upper": [law | {"one_order": True}], "lower": [law]}}
    ((loss, count),) = sides(stated, "replace_one")[0].items()
    assert (loss[1][1], count) == ((0.3, 0.7), 2)
    stated["stated"]["upper"] = [law]
    with pytest.raises(refused):
        sides(stated, "replace_one")
    even = {"losses": [-0.4, 0.4], "probabilities": [1 / (1 + math.exp(0.4)), 1 / (1 + math.exp(-0.4))]}
    stated["stated"]["upper"] = [law | even]
    assert len(sides(stated, "replace_one")[0]) == 1
    for row in ({"loss": "laplace", "shift": 0.3, "times": 1}, {"loss": "gaussian", "mu": 0.3, "times": 1}):
        stated["stated"]["upper"] = [row]
        assert [*sides(stated, "replace_one")[0]] == [(row["loss"], 0.3)]
    for change in ({"probabilities": [0.7, 0.3 + 1e-12]}, {"infinite_mass": 1e-12}, {"reverse_infinite_mass": 1e-12}):
        stated["stated"]["upper"] = [law | {"one_order": True} | change]
        with pytest.raises(refused):
            sides(stated, "replace_one")


def test_joint_noise_has_its_worst_angle() -> None:
    """2 m (1 - c^2) + 2 v (1 - c), the largest over cosines, by a fine grid."""
    for stddevs in ((4.0, 3.0), (2.0, 5.0), (9.0, 0.5)):
        fields = {"matrix_stddev": stddevs[0], "vector_stddev": stddevs[1], "feature_bound": 2.0, "target_bound": 1.0}
        ((loss, _),) = checker("mechanisms").sides_of({"name": "joint_gaussian", **fields}, "replace_one")[0].items()
        m, v = (4 / stddevs[0]) ** 2, (2 / stddevs[1]) ** 2
        cosines = np.linspace(-1, 1, 200_001)
        assert loss[1] ** 2 == pytest.approx(float((2 * m * (1 - cosines**2) + 2 * v * (1 - cosines)).max()), rel=1e-8)


def test_the_budget_of_a_node_follows_from_its_parts() -> None:
    budget = checker("printed").budget
    one, two = BOX | {"delta": 1e-6}, BOX | {"epsilon": 0.3, "delta": 1e-5}
    rows = [
        (one, (0.5, 1e-6)),
        ({"node": "parallel", "parts": [one, two], "key": "a day"}, (0.5, 1e-5)),
        (sequence(one, two), (0.8, 1.1e-5)),
        (times(one, 3), (1.5, 3e-6)),
        ({"node": "group", "part": one, "size": 2}, (1.0, 1e-6 * (1 + math.exp(0.5)))),
        ({"node": "cells", "inside": one, "touched": two}, (0.6, 2e-5)),
        ({"node": "cells", "inside": one, "touched": two | {"epsilon": 0.2}}, (0.5, 2e-5)),
        (laplace(0.4), (0.4, 0.0)),
        (one | {"printed": {"epsilon": 0.7, "rule": "x"}}, (0.7, 0.0)),
    ]
    for node, expected in rows:
        assert budget(node, "replace_one") == pytest.approx(expected, rel=1e-12), node


def test_a_sampled_choice_is_a_black_box_of_its_worse_order() -> None:
    boxed, box = checker("schemes")._boxed, checker("losses").black_box
    for part in (UNEVEN, checker("losses").reverse(UNEVEN)):
        ((found, _),) = boxed(Counter([part]), 0.25).items()
        expected = box(0.9 + math.log(0.25 + 0.75 * math.exp(-0.9)), 0.0)
        assert np.array(found[1]) == pytest.approx(np.array(expected[1]), rel=1e-14)
        assert found[2:] == (0, 0)
    ((found, _),) = boxed(Counter([LEAKING]), 0.25).items()
    expected = box(0.7 + math.log(0.25 + 0.75 * math.exp(-0.7)), 0.25 * 0.2)
    assert np.array(found[1]) == pytest.approx(np.array(expected[1]), rel=1e-14)
    assert found[2:] == expected[2:]


def test_two_records_of_a_part_are_a_black_box_of_its_worse_order() -> None:
    schemes, losses = checker("schemes"), checker("losses")
    found = schemes._doubled(Counter({LEAKING: 2, ("laplace", 0.3): 1, ("gaussian", 0.4): 3}))
    box = losses.black_box(1.4, losses.group_delta(0.7, 0.2, 2))
    assert found == Counter({box: 2, ("laplace", 0.6): 1, ("gaussian", 0.8): 3})
    assert schemes._doubled(Counter([LEAKING]), 3) == Counter(
        [losses.black_box(3 * 0.7, losses.group_delta(0.7, 0.2, 3))]
    )
    ((boxed, _),) = schemes._doubled(Counter([("discrete", ((-0.5, 0.9),), 0.1, 0.3)])).items()
    assert boxed == losses.black_box(1.0, losses.group_delta(0.5, 0.3, 2))


def secretly(*parts: Data) -> Data:
    """Parts in a secret order."""
    return {"node": "parallel", "parts": list(parts), "key": "an order", "visibility": "secret"}


def test_a_pair_that_nothing_is_known_of_attains_nothing() -> None:
    """A part without a pair, a secret part, and a lone record where a pair needs others."""
    one: Data = {"labels": ["sum"], "plan": [], "attained": "by_definition"}
    for tree, relation in (
        (sample(gaussian(0.4), 0.3, scheme="poisson"), "replace_one"),
        (sample(gaussian(0.4), 0.0), "add_remove"),
    ):
        assert not any(attained(tree, relation, one, [])), (tree, relation)
    assert attained(sample(gaussian(0.4), 0.3), "add_remove", one, []) != [Counter()]
    hidden = secretly(gaussian(0.2), gaussian(0.2))
    with pytest.raises(checker("refusals").Rejection, match="moves no release"):
        attained(hidden, "replace_one", one, [])
    assert attained(hidden, "replace_one", one | {"labels": [], "attained": "assumed"}, []) == [Counter()]
    secret = allocate(gaussian(0.3), 4, per_epoch=2, epochs=3)
    every = one | {"labels": [], "attained": "assumed"}
    assert attained(secret, "replace_one", every, []) == [Counter({("gaussian", 2 * 0.3 * 2 / 2.0): 3})]


def test_a_strategy_of_many_schedules_attains_the_best_evenly_spaced_one() -> None:
    """Too many schedules to count: from above each row with its own worst one, from below evenly spaced ones."""
    strategies, horizon, most = checker("strategies"), 40, 5
    rng = np.random.default_rng(4)
    matrix = np.tril(rng.normal(size=(horizon, horizon)))
    for gap in (1, 3):
        fields = {"strategy": "explicit", "horizon": horizon, "participations": most, "separation": gap}
        low, high = strategies.squared_move(fields | {"entries": matrix.ravel().tolist()})
        gram = matrix.T @ matrix
        ways = [[start + gap * k for k in range(most)] for start in range(horizon - (most - 1) * gap)]
        ways.append([k * ((horizon - 1) // (most - 1)) for k in range(most)])
        best = max([float(gram[np.ix_(way, way)].sum()) for way in ways] + [float(np.diag(gram).max())])
        assert low == pytest.approx(best, rel=1e-12)
        drawn = (np.sort(rng.choice(horizon - (most - 1) * (gap - 1), most, replace=False)) for _ in range(500))
        schedules = [row + (gap - 1) * np.arange(most) for row in drawn]
        signed = max(float(np.abs(gram[np.ix_(schedule, schedule)]).sum()) for schedule in schedules)
        assert signed <= high <= most**2 * float(np.diag(gram).max())
    spread = np.zeros((horizon, horizon))
    spread[-1, [0, 9, 18, 27, 36]] = 1.0
    low, _ = strategies.squared_move(fields | {"separation": 1, "entries": spread.ravel().tolist()})
    assert low == 25.0


def test_a_part_that_can_fail_at_a_secret_step_costs_what_all_outcomes_do() -> None:
    """The upper end is sharp; what one step tells for certain has no label."""
    share = 0.92 / (1 + math.exp(-0.7))
    p, q = [0.08, share, share * math.exp(-0.7), 0.0], [0.0, share * math.exp(-0.7), share, 0.08]
    box = {"node": "stated", "epsilon": 0.7, "delta": 0.08, "source": "a vendor"}
    for epsilon in (0.1, 0.3):
        laws = [
            [(p[i] * q[j] + q[i] * p[j]) / 2 for i in range(4) for j in range(4)],
            [q[i] * q[j] for i in range(4) for j in range(4)],
        ]
        orders = (laws, laws[::-1])
        exact = max(math.fsum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(*o, strict=True)) for o in orders)
        low, high = checker("curve").Worst(fold(allocate(box, 2), "add_remove")).delta(epsilon)
        assert low <= exact <= high <= exact * 1.0001, epsilon


def test_alternatives_that_are_picked_are_one_multiset_above_all() -> None:
    """The largest of Gaussian ones, the larger shift of two alike, and a choice of others, as often as both are met."""
    joined = checker("losses").joined
    g: Any = [Counter({("gaussian", mu): 4}) for mu in (0.3, 0.5, 0.4)]
    assert joined(g) == Counter({("gaussian", 1.0): 1})
    shifts = [Counter({("laplace", 0.3): 3}), Counter({("laplace", 0.5): 2})]
    assert joined(shifts) == Counter({("laplace", 0.5): 2, ("laplace", 0.3): 1})
    choice: Any = ("choice", frozenset([ANSWER, ("laplace", 0.5)]))
    assert joined([Counter({ANSWER: 3}), Counter({("laplace", 0.5): 2})]) == Counter({choice: 2, ANSWER: 1})
    clear = Counter([("discrete", (), 1.0, 1.0)])
    assert joined([Counter({ANSWER: 3}), clear]) is clear
    one = Counter({ANSWER: 2, ("laplace", 0.5): 1})
    assert joined([one, Counter({ANSWER: 1, ("laplace", 0.5): 1})]) == one
    part: Any = ("choice", frozenset([ANSWER, ("gaussian", 0.6 / math.sqrt(3))]))
    assert joined([Counter({ANSWER: 3}), Counter({("gaussian", 0.6): 1})]) == Counter({part: 3})


def test_an_alternative_counts_no_more_where_another_one_exceeds_each_of_its_losses() -> None:
    """A wider shift, range or black box exceeds a narrower one of its family; each loss is exceeded by one of its own.

    The broken twin takes the losses of both alternatives together, which dominates and is not sharp.
    """
    losses = checker("losses")
    small, large, failing = (losses.black_box(*box) for box in ((0.1,), (0.3,), (0.3, 1e-3)))
    long = Counter({("gaussian", 0.5): 1, ("laplace", 0.4): 1, large: 2})
    for short in (
        Counter({("laplace", 0.3): 1}),
        Counter({small: 2, ("laplace", 0.4): 1}),
        Counter({("gaussian", 0.3): 2, small: 1}),
    ):
        assert losses.joined([short, long]) == losses.joined([long, short]) == long, short
        assert losses.joined([short, long]) != short | long
    for other in (Counter({("laplace", 0.3): 2}), Counter({small: 3}), Counter([failing]), Counter([ANSWER])):
        assert losses.joined([other, long]) == long | other, other  # nothing of its own exceeds one of them


def test_finite_laws_have_all_their_mass() -> None:
    """Under both laws: the larger curve of two orders, answers of four kinds, noise on a cone, a zeroed record."""
    losses, sides = checker("losses"), checker("mechanisms").sides_of
    ((four, _),) = sides({"name": "randomised_response", "epsilon": 0.9, "categories": 4}, "replace_one")[0].items()
    ((table, _),) = sides({"name": "finite", "first": [0.6, 0.3, 0.1, 0.0], "second": [0.2, 0.3, 0.3, 0.2]}, "x")[
        0
    ].items()
    cone = {"name": "one_sided_wishart", "trace_sensitivity": 1.0, "dimension": 2, "scale": 2.0}
    ((both, _),) = sides(cone, "replace_one")[0].items()
    ((alone, _),) = sides(cone, "add_remove")[0].items()
    zeroed = checker("integers").zeroed(1.0, 0.3)
    assert zeroed[0] == "between"
    for loss, lost, other in (
        (four, 0.0, 0.0),
        (table, 0.2, 0.2),
        (both, 1 - math.exp(-0.25), 1 - math.exp(-0.25)),
        (alone, 1 - math.exp(-0.25), 0.0),
        (zeroed[1][1], 0.0, 0.0),
        (zeroed[2], 0.0, 0.0),
        (losses.black_box(0.4, 0.1), 0.1, 0.1),
    ):
        assert loss[2:] == (pytest.approx(lost, abs=1e-15), pytest.approx(other, abs=1e-15))
        assert math.fsum(p for _, p in loss[1]) + lost == pytest.approx(1.0, abs=1e-9)
        assert math.fsum(p * math.exp(-v) for v, p in loss[1]) + other == pytest.approx(1.0, abs=1e-9)
    assert [v for v, _ in both[1]] == [0.0]
    assert [v for v, _ in alone[1]] == [-0.25]
    part = checker("schemes")._on(Counter([("discrete", (), 1.0, 1.0)]), 0.3)
    assert part == ("discrete", ((math.log1p(-0.3), 0.7),), 0.3, 0.0)


def test_a_stated_law_sums_to_one_but_for_the_rounding_of_its_losses() -> None:
    """1e-14, and four units times the losses: of 30 nats, more than half as much again."""
    sides = checker("mechanisms").sides_of
    row: Data = {"loss": "discrete", "times": 1, "losses": [30.0, -30.0 + math.log(2)], "one_order": True}
    row |= {"probabilities": [1.0 - 2e-13, 2e-13], "infinite_mass": 0.0}
    other = 1 - math.fsum(p * math.exp(-v) for v, p in zip(row["losses"], row["probabilities"], strict=True))
    for off, fits in ((0.0, True), (2e-14, True), (5e-14, False), (-2e-14, True), (-5e-14, False)):
        stated = row | {"infinite_mass": off, "reverse_infinite_mass": other}
        fields = {"name": "x", "stated": {"upper": [stated], "lower": [stated]}}
        if fits:
            assert sides(fields, "replace_one")[0].total() == 1
        else:
            with pytest.raises(checker("refusals").Rejection):
                sides(fields, "replace_one")


def test_only_alternating_signs_are_read_with_leaves_that_are_not_gaussian() -> None:
    sides = checker("mechanisms").sides_of
    leaf = {"name": "laplace", "scale": 1.0, "l1_sensitivity": 0.3}
    tree = {"name": "tree_aggregation", "horizon": 8, "leaf": leaf, "separation": 1}
    for signs in ([1], [1, -1], [1, -1, 1], [-1, 1]):
        assert sides(tree | {"signs": signs}, "replace_one")[0].keys() == {("laplace", 0.3)}
    for signs in ([1, 1], [1, -1, -1], [1, 1, -1], [-1, -1, 1]):
        with pytest.raises(checker("refusals").Rejection):
            sides(tree | {"signs": signs}, "replace_one")


def test_printed_rules_hold_at_their_very_end() -> None:
    """The optimal composition of parts that fail often, and the classic Gaussian below 1 only."""
    printed = checker("printed")
    lost = -math.expm1(3 * math.log1p(-0.05) + 3 * math.log1p(-0.02))
    spare = (0.6 - lost) / (1 - lost)
    square, drift = 3 * (0.2**2 + 0.1**2), 3 * (0.2 * math.tanh(0.1) + 0.1 * math.tanh(0.05))
    expected = drift + math.sqrt(2 * square * math.log(min(1 / spare, math.e + math.sqrt(square) / spare)))
    assert printed._optimal([(0.2, 0.05), (0.1, 0.02)], 3, 0.6) == pytest.approx(min(0.9, expected), rel=1e-14)
    assert printed._optimal([(0.2, 0.05), (0.1, 0.02)], 3, lost) == pytest.approx(0.9)
    assert printed._optimal([(0.2, 0.05), (0.1, 0.02)], 3, lost * 0.999) == math.inf
    noise = {"name": "gaussian", "stddev": 100.0, "l2_sensitivity": 1.0}
    for epsilon, delta, holds in ((1.0, 1e-5, False), (0.999, 1e-5, True), (0.999, 0.0, False)):
        step = {"rule": "classic_gaussian", "epsilon": epsilon, "delta": delta}
        node = {"node": "release", "label": "x", "mechanism": noise, "printed": step}
        assert (printed._concluded("classic_gaussian", node, "replace_one") < math.inf) is holds
        assert printed.breaks(node, "replace_one") is not holds
    parts = [BOX | {"epsilon": 0.2, "delta": 1e-6}, BOX | {"epsilon": 0.3, "delta": 1e-7}]
    for rule, epsilon, delta, holds in (
        ("parallel", 0.3, 1e-6, True),
        ("parallel", 0.299, 1e-6, False),
        ("parallel", 0.3, 0.99e-6, False),
    ):
        step = {"rule": rule, "epsilon": epsilon, "delta": delta}
        assert printed.breaks({"node": "parallel", "parts": parts, "printed": step}, "replace_one") is not holds
    limited: Data = {"rule": "parallel", "epsilon": 0.3, "delta": 1e-6, "largest_epsilon": 0.3}
    assert not printed.breaks({"node": "parallel", "parts": parts, "printed": limited}, "replace_one")
    tighter = limited | {"largest_epsilon": 0.299}
    assert printed.breaks({"node": "parallel", "parts": parts, "printed": tighter}, "replace_one")


def test_a_whole_sample_that_is_cut_holds_the_record_by_its_share() -> None:
    """Four records of which three are kept: the record is one with three chances in four, and moves twice as far."""
    delta = 0.75 * _gaussian_delta(1.0, math.log1p(math.expm1(0.3) / 0.75))
    cut = {"scheme": "truncated_poisson", "population": 4, "batch_bound": 3}
    low, high = checker("curve").Worst(fold(sample(gaussian(0.5), 1.0, **cut), "add_remove")).delta(0.3)
    assert low <= delta * (1 + 1e-9)
    assert delta * (1 - 1e-9) <= high <= delta * (1 + 1e-4)


def _gaussian_delta(mu: float, epsilon: float) -> float:
    """Balle and Wang (2018), Theorem 5."""
    return float(mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu))


def test_reports_of_every_kind_are_shuffled_and_too_many_are_refused() -> None:
    answer = release("randomised_response", epsilon=0.4)
    report = times(
        sequence({"node": "local", "part": {"node": "post_process", "part": answer, "steps": ["x"]}}, BOX), 1
    )
    ((loss, _),) = fold({"node": "shuffle", "part": report, "users": 50}, "replace_one")[0].items()
    assert loss[0] == "between"
    with pytest.raises(checker("refusals").Unfollowed):
        fold({"node": "shuffle", "part": BOX, "users": 5_000_000}, "replace_one")
    with pytest.raises(checker("refusals").Rejection):
        fold({"node": "shuffle", "part": {"node": "billboard", "part": answer}, "users": 50}, "replace_one")


def test_orders_are_kept_where_a_run_does_not_change_them() -> None:
    """Of samples of one loss, and of what holds no alternatives; not of replaced samples, groups and parallel parts."""
    parted = {"node": "parallel", "parts": [BOX, BOX], "key": "a day"}
    for node, relation, expected in (
        (BOX, "replace_one", True),
        (sequence(BOX, gaussian(0.3)), "replace_one", True),
        (sample(gaussian(0.3), 0.2), "add_remove", True),
        (sample(gaussian(0.3), 0.2), "replace_one", False),
        (times(sample(gaussian(0.3), 0.2), 3), "add_remove", True),
        (sequence(sample(gaussian(0.3), 0.2), BOX), "add_remove", True),
        (sequence(sample(gaussian(0.3), 0.2), parted), "add_remove", False),
        ({"node": "group", "part": sample(gaussian(0.3), 0.2), "size": 2}, "add_remove", False),
        (sample(parted, 0.2), "add_remove", False),
        (parted, "add_remove", False),
    ):
        rows = checker("proof.derivation").checked_rows(
            with_derivation({"declaration": node, "claim": {"neighbours": relation}})
        )
        found = checker("proof.rules").concluded(rows, node, [])
        assert (found.choice < 2) is expected, (node, relation)


def test_coefficients_that_rise_or_change_their_sign_are_counted_by_all_schedules() -> None:
    """By brute force: the sum of the inner products' sizes from above, one schedule's best signs from below."""
    squared = checker("strategies").squared_move
    for entries in (
        [0.5, 1.0],
        [1.0, -0.5],
        [-1.0, -2.0, -0.5],
        [1.0, 0.5, 0.75, -0.1],
        [1.0, 0.5, 0.25],
        [0.1, 0.0, 1.0],
    ):
        for horizon, most, gap in ((6, 2, 1), (7, 2, 2), (7, 3, 1), (16, 2, 4)):
            matrix = np.array([[_entry(entries, i - j) for j in range(horizon)] for i in range(horizon)])
            gram = matrix.T @ matrix
            ways = [w for w in combinations(range(horizon), most) if all(b - a >= gap for a, b in pairwise(w))]
            ways += [(i,) for i in range(horizon)]
            worst = max(ways, key=lambda w: float(np.abs(gram[np.ix_(w, w)]).sum()))
            inner = gram[np.ix_(worst, worst)]
            signs = np.array(np.meshgrid(*[[1, -1]] * len(worst))).reshape(len(worst), -1).T
            fields = {"strategy": "toeplitz", "entries": entries, "horizon": horizon, "participations": most}
            low, high = squared(fields | {"separation": gap})
            assert high == pytest.approx(float(np.abs(inner).sum()), rel=1e-12), (entries, horizon, most, gap)
            assert low == pytest.approx(max(float(s @ inner @ s) for s in signs), rel=1e-12)


def _entry(entries: list[float], place: int) -> float:
    """An entry of a lower triangular Toeplitz matrix."""
    return entries[place] if 0 <= place < len(entries) else 0.0


def test_evenly_spaced_schedules_are_tried_up_to_the_last_start() -> None:
    strategies, horizon = checker("strategies"), 40
    last = np.zeros((horizon, horizon))
    last[-1, 35:] = 1.0
    fields = {"strategy": "explicit", "horizon": horizon, "participations": 5, "separation": 1}
    low, _ = strategies.squared_move(fields | {"entries": last.ravel().tolist()})
    assert low == 25.0
    many = np.tril(np.where(np.arange(14) % 2, 1.0, -1.0) * np.ones((14, 14)))
    fields = {"strategy": "explicit", "horizon": 14, "participations": 13, "separation": 1}
    low, high = strategies.squared_move(fields | {"entries": many.ravel().tolist()})
    gram = many.T @ many
    way = max(combinations(range(14), 13), key=lambda w: float(np.abs(gram[np.ix_(w, w)]).sum()))
    inner = gram[np.ix_(way, way)]
    assert (low, high) == (max(inner.sum(), np.diag(gram).max()), np.abs(inner).sum())


def test_a_full_tree_holds_evenly_spaced_schedules_of_every_start() -> None:
    """From below the best start or the widest spacing, each by its counts in all blocks; from above full blocks."""
    tree = checker("strategies")._tree
    for horizon, most, gap in ((16, 2, 1), (13, 3, 2), (20, 4, 5), (9, 2, 8), (7, 7, 1)):
        ways = [[start + gap * k for k in range(most)] for start in range(horizon - (most - 1) * gap)]
        ways.append([k * ((horizon - 1) // (most - 1)) for k in range(most)])
        sizes = [1 << level for level in range(horizon.bit_length())]
        best = max(
            sum(sum(b // size == block for b in way) ** 2 for size in sizes for block in range(horizon // size))
            for way in ways
        )
        low, high = tree(horizon, most, gap)
        assert low == best, (horizon, most, gap)
        exact = max(
            sum(sum(b // size == k for b in way) ** 2 for size in sizes for k in range(horizon // size))
            for way in combinations(range(horizon), most)
            if all(b - a >= gap for a, b in pairwise(way))
        )
        assert low <= exact <= high


class Known:
    """A curve with the same bounds everywhere, or with those of each epsilon."""

    closed, coarse, lost = False, False, 0.0

    def __init__(self, low: float, high: float, *, derived: bool = False, largest: float = math.inf) -> None:
        self.bounds, self.derived, self.largest, self.reached = (low, high), derived, largest, largest / 2

    def delta(self, epsilon: float) -> tuple[float, float]:
        """The bounds."""
        return self.bounds


def test_an_end_of_delta_is_judged_by_its_place_beside_the_bracket() -> None:
    """Wrong beyond it, told beyond the tolerance and the width, confirmed where it is proved within a hundredth."""
    judged, claim = checker("stated_ends")._delta, {"epsilon": 1.0, "delta": 1e-5}
    rows = [
        ("upper", 0.099, (0.1, 0.2), "wrong"),
        ("upper", 0.1, (0.1, 0.2), "unconfirmed"),
        ("upper", 0.1979, (0.1, 0.2), "unconfirmed"),
        ("upper", 0.1981, (0.1, 0.2), ""),
        ("upper", 0.31, (0.1, 0.2), ""),
        ("upper", 0.33, (0.1, 0.2), "unconfirmed"),
        ("lower", 0.201, (0.1, 0.2), "wrong"),
        ("lower", 0.2, (0.1, 0.2), "unconfirmed"),
        ("lower", 0.1011, (0.1, 0.2), "unconfirmed"),
        ("lower", 0.1009, (0.1, 0.2), ""),
        ("lower", 0.0, (0.0, 0.2), ""),
        ("lower", 0.0, (0.15, 0.2), "unconfirmed"),
        ("lower", 0.09, (0.15, 0.2), "unconfirmed"),
        ("lower", 0.101, (0.15, 0.2), ""),
    ]
    for side, stated, (low, high), word in rows:
        found = judged(side, stated, claim, Known(low, high), 0.05, sharp=True)
        said = "wrong" if found.wrong else "unconfirmed" if found.unconfirmed else "loose" if found.loose else ""
        assert said == word, (side, stated, low, high, found)
        blunt = judged(side, stated, claim, Known(low, high), 0.05, sharp=False)
        assert bool(blunt.loose) == any("far from" in told for told in found.unconfirmed)


def test_an_end_of_epsilon_at_a_delta_of_0_is_met_at_the_largest_loss() -> None:
    """Below what is attained it is confirmed, between that and the largest loss open, beyond it wrong."""
    judged = checker("stated_ends")._epsilon
    curve = Known(0.0, 0.1, derived=True, largest=1.0)
    for side, epsilon, word in (
        ("lower", 0.4, ""),
        ("lower", 0.8, "unconfirmed"),
        ("lower", 1.1, "wrong"),
        ("upper", 0.4, "wrong"),
        ("upper", 0.8, "unconfirmed"),
        ("upper", 1.0, ""),
    ):
        found = judged(side, epsilon, 0.0, curve, 0.05, sharp=False)
        said = "wrong" if found.wrong else "unconfirmed" if found.unconfirmed else ""
        assert said == word, (side, epsilon, found)


def test_the_basic_rule_counts_slots_and_adds_up_deltas() -> None:
    printed, parts = checker("printed"), [BOX | {"epsilon": 0.2, "delta": 1e-6}, BOX | {"epsilon": 0.3, "delta": 1e-7}]
    for fields, holds in (
        ({"epsilon": 0.5, "delta": 1.1e-6}, True),
        ({"epsilon": 0.499, "delta": 1.1e-6}, False),
        ({"epsilon": 0.5, "delta": 1.09e-6}, False),
        ({"epsilon": 0.6, "delta": 2e-6, "slots": 2}, True),
        ({"epsilon": 0.6, "delta": 1.9e-6, "slots": 2}, False),
        ({"epsilon": 0.6, "delta": 2e-6, "slots": 1.5}, False),
        ({"epsilon": 0.5, "delta": 1e-5, "slots": 1}, False),
        ({"epsilon": 0.5, "delta": 1e-9, "slots": 2}, False),
    ):
        node = {"node": "sequential", "parts": parts, "printed": {"rule": "basic", **fields}}
        assert printed.breaks(node, "replace_one") is not holds, fields


def test_integer_noise_may_lose_what_lies_beyond_all_that_is_counted() -> None:
    """From above only, in both orders; of noise that is cut, what its move leaves is lost for certain."""
    sides = checker("mechanisms").sides_of
    plain = {"name": "discrete_gaussian", "stddev": 0.9, "l2_sensitivity": 1}
    ((upper, _),), ((lower, _),) = (side.items() for side in sides(plain, "replace_one"))
    assert (upper[2:], lower[2:]) == ((1e-106, 1e-106), (0.0, 0.0))
    assert upper[1] == lower[1]
    cut = {"name": "truncated_discrete_gaussian", "stddev": 2.0, "cut": 3.0, "l2_sensitivity": 2}
    ((upper, _),), ((lower, _),) = (side.items() for side in sides(cut, "replace_one"))
    weights = [math.exp(-(k**2) / 8) for k in range(-6, 7)]
    lost = math.fsum(weights[:2]) / math.fsum(weights)
    assert upper[2:] == lower[2:] == (pytest.approx(lost, rel=1e-12), pytest.approx(lost, rel=1e-12))


def test_draws_from_one_record_hold_it() -> None:
    """One draw from one record is the release; several move it as often."""
    worst = checker("curve").Worst
    draws = {"scheme": "with_replacement", "population": 1, "batch_size": 1}
    low, high = worst(fold(sample(gaussian(0.5), 1.0, **draws), "replace_one")).delta(0.3)
    assert low <= _gaussian_delta(0.5, 0.3) <= high <= 1.001 * _gaussian_delta(0.5, 0.3)


def test_a_horizon_beyond_the_range_is_refused() -> None:
    squared = checker("strategies").squared_move
    fields = {"strategy": "toeplitz", "entries": [1.0, 0.5]}
    assert squared(fields | {"horizon": 2**16}) == (1.25, 1.25)
    with pytest.raises(checker("refusals").Rejection):
        squared(fields | {"horizon": 2**16 + 1})


def test_an_unknown_mechanism_is_told_what_states_it() -> None:
    for form, told in (("mechanism", True), ("node", False)):
        with pytest.raises(checker("refusals").Rejection) as refused:
            checker("shape")._check({"name": "x", "node": "x"}, form, "the table")
        assert ("--as-stated" in str(refused.value)) is told


def test_a_sum_whose_spread_is_far_below_its_largest_loss_is_followed() -> None:
    """A loss of 18 nats with a probability of 10^-16, met ten times."""
    stated = [(math.log(1e8), 1e-16), (math.log1p(-1e-16), 1 - 1e-16)]
    found = checker("curve").Worst([Counter({("discrete", tuple(sorted(stated)), 0.0, 0.0): 10})])
    low, high = found.delta(1.0)
    exact = 1e-15 * (1 - math.exp(1 - math.log(1e8)))
    assert low <= exact * 1.001
    assert exact * 0.999 <= high


def test_integer_noise_at_plus_and_minus_a_move_is_told_apart_by_all_outcomes() -> None:
    """Also of a whole sample, where noise of a bounded range misses numbers on either side."""
    fields = {"name": "truncated_discrete_gaussian", "stddev": 2.0, "cut": 3.0, "l2_sensitivity": 2}
    weights = {k: math.exp(-(k**2) / 8) for k in range(-6, 7)}
    whole = math.fsum(weights.values())
    for rate in (1.0, 0.4):
        one, two = (
            [((1 - rate) * weights.get(k, 0.0) + rate * weights.get(k - move, 0.0)) / whole for k in range(-9, 10)]
            for move in (2, -2)
        )
        for low in (True, False):
            loss = checker("integers").opposed(fields, rate, low=low)
            assert loss[2] == loss[3] == pytest.approx(math.fsum(p for p, q in zip(one, two, strict=True) if not q))
            for epsilon in (0.0, 0.5, 2.0):
                exact = math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(one, two, strict=True))
                found = math.fsum(-p * math.expm1(epsilon - v) for v, p in loss[1] if v > epsilon) + loss[2]
                assert found == pytest.approx(exact, rel=1e-12)
    plain = {"name": "discrete_gaussian", "stddev": 2.0, "l2_sensitivity": 2}
    sides = [checker("integers").opposed(plain, 0.4, low=low)[2:] for low in (True, False)]
    assert sides == [(0.0, 0.0), (1e-106, 1e-106)]


def test_a_shuffle_rests_on_the_worse_order_of_its_report_and_has_all_its_mass() -> None:
    above, box = checker("shuffled.sides").shuffled_above, checker("losses").black_box(0.9)
    node = {"node": "shuffle", "part": BOX, "users": 40}
    found = [above(node, Counter([part]), "replace_one") for part in (UNEVEN, checker("losses").reverse(UNEVEN), box)]
    assert found[0] == found[1]
    for epsilon in (0.0, 0.1, 0.4):
        own, any_report = (
            sum(-p * math.expm1(epsilon - v) for v, p in pair[1][1] if v > epsilon) for pair in found[1:]
        )
        assert 0 < own < any_report
    answer = release("randomised_response", epsilon=0.9, categories=3)
    ((part, _),) = fold(answer, "replace_one")[0].items()
    for side in above(node | {"part": answer}, Counter([part]), "replace_one")[1:]:
        assert math.fsum(p for _, p in side[1]) == pytest.approx(1.0, abs=1e-9)
        assert math.fsum(p * math.exp(-v) for v, p in side[1]) == pytest.approx(1.0, abs=1e-4)


def _refused(call: Any, *given: Any) -> bool:
    """Whether a function of the checker refuses its arguments, in a way that it foresees."""
    try:
        call(*given)
    except checker("refusals").Rejection:
        return True
    return False


_LEAF: Data = {"name": "gaussian", "stddev": 1.0, "l2_sensitivity": 0.3}
_TREE: Data = {"name": "tree_aggregation", "horizon": 4}
_STRATEGY: Data = {"name": "matrix", "strategy": "explicit", "leaf": _LEAF}
_WHOLE: Data = {"name": "truncated_discrete_gaussian", "l2_sensitivity": 1}
LIMITS: list[tuple[Data, Data]] = [
    (_TREE | {"leaf": _LEAF, "separation": 100}, _TREE | {"leaf": _LEAF, "separation": 101}),
    (
        _STRATEGY | {"horizon": 512, "entries": np.eye(512).ravel().tolist()},
        _STRATEGY | {"horizon": 513, "entries": np.eye(513).ravel().tolist()},
    ),
    (_STRATEGY | {"horizon": 1, "entries": [1.0]}, _STRATEGY | {"horizon": 2, "entries": [1.0, 0.5, 0.0, 1.0]}),
    (
        _STRATEGY | {"strategy": "toeplitz", "horizon": 2, "entries": [1.0, 0.5]},
        _STRATEGY | {"strategy": "toeplitz", "horizon": 1, "entries": [1.0, 0.5]},
    ),
    (
        _STRATEGY | {"strategy": "toeplitz", "horizon": 2, "entries": [1.0]},
        _STRATEGY | {"strategy": "toeplitz", "horizon": 2, "entries": []},
    ),
    (
        {"name": "discrete_laplace", "scale": 1e5, "l1_sensitivity": 10**5},
        {"name": "discrete_laplace", "scale": 1e5, "l1_sensitivity": 10**5 + 1},
    ),
    (
        {"name": "discrete_gaussian", "stddev": 0.1, "l2_sensitivity": 1},
        {"name": "discrete_gaussian", "stddev": 0.1, "l2_sensitivity": 2},
    ),
    (
        {"name": "discrete_gaussian", "stddev": 0.5, "l2_sensitivity": 5},
        {"name": "discrete_gaussian", "stddev": 0.0999, "l2_sensitivity": 0},
    ),
    (_WHOLE | {"stddev": 10.0, "cut": 0.1}, _WHOLE | {"stddev": 11.0, "cut": 0.099}),
    (_WHOLE | {"stddev": 1.0, "cut": 1000.0}, _WHOLE | {"stddev": 1.0, "cut": 1000.1}),
    (_WHOLE | {"stddev": 1.0, "cut": 0.6}, _WHOLE | {"stddev": 1.0, "cut": 0.4}),
    (_WHOLE | {"stddev": 1000.0, "cut": 100.0}, _WHOLE | {"stddev": 1000.0, "cut": 100.001}),
    (_WHOLE | {"stddev": 1e4, "cut": 1.0}, _WHOLE | {"stddev": 10001.0, "cut": 1.0}),
    (
        {"name": "randomised_response", "epsilon": 0.3, "categories": 2},
        {"name": "randomised_response", "epsilon": 0.3, "categories": 1},
    ),
    (
        {"name": "laplace", "scale": 1e-140, "l1_sensitivity": 1.0},
        {"name": "laplace", "scale": 0.99e-140, "l1_sensitivity": 1.0},
    ),
    (
        {"name": "laplace", "scale": 1.0, "l1_sensitivity": 1e-140},
        {"name": "laplace", "scale": 1.0, "l1_sensitivity": 0},
    ),
]
"""Mechanisms at the last value that is followed, and at the first that is not."""


def test_every_limit_of_a_mechanism_is_where_it_stands() -> None:
    sides, law = checker("mechanisms").sides_of, checker("integers").noise_law
    for kept, refused in LIMITS:
        integers = "discrete" in kept["name"]
        assert not (_refused(law, kept) if integers else _refused(sides, kept, "replace_one")), kept
        assert _refused(law, refused) if integers else _refused(sides, refused, "replace_one"), refused


def test_the_limits_of_a_shuffle_and_of_a_zeroed_record_are_where_they_stand() -> None:
    above, node = checker("shuffled.sides").shuffled_above, {"node": "shuffle", "part": BOX, "users": 1}
    box = checker("losses").black_box
    assert not _refused(above, node, Counter([box(30.0)]), "replace_one")
    assert _refused(above, node, Counter([box(30.001)]), "replace_one")
    assert _refused(above, node, Counter([box(0.3, 1e-9)]), "replace_one")
    assert _refused(above, node | {"users": 0}, Counter([box(0.3)]), "replace_one")
    zeroed = checker("schemes")._zeroed
    for mu, met in ((1e-3, True), (0.99e-3, False), (17.0, True), (17.1, False)):
        assert (next(iter(zeroed(Counter([("gaussian", mu)]), 0.3, low=False)))[0] == "between") is met


def test_a_file_is_read_strictly_up_to_its_limit_of_depth() -> None:
    read, deep = checker("reading").read, "[" * 400 + "]" * 400
    assert not _refused(read, deep)
    assert _refused(read, f"[{deep}]")
    assert not _refused(read, '["[[[", "\\"[", 1e300]')
    for text in ('{"a": 1, "a": 2}', "[NaN]", "[1e999]", "[-1e999]", "[", "[Infinity]"):
        assert _refused(read, text), text


def test_a_binomial_number_has_its_probabilities_without_what_is_negligible() -> None:
    follow = checker("schemes").binomial(4, 0.25, 0.5)
    assert [shift for shift, _ in follow] == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert [w for _, w in follow] == pytest.approx([math.comb(4, j) * 0.25**j * 0.75 ** (4 - j) for j in range(5)])
    assert checker("schemes").binomial(4, 1, 0.5) == ((2.0, 1.0),)
    few = checker("schemes").binomial(1000, 1e-3, 1.0)
    assert math.fsum(w for _, w in few) == pytest.approx(1.0, abs=1e-12)
    assert 1e-305 < min(w for _, w in few) < 1e-299
    assert len(few) < 1000


def test_every_kind_of_value_has_its_form() -> None:
    check = checker("shape")._check
    rows: list[tuple[str, list[Any], list[Any]]] = [
        ("number", [0, -1.5], [True, "1", None]),
        ("extended", [0, -1.5, "inf"], [True, "1", "-inf"]),
        ("amount", [0, 0.0, 2], [-1e-9, "inf", True]),
        ("level", [0, 2.5, "inf"], [-1e-9, "x", True]),
        ("share", [0, 0.5], [1, 1.0, -1e-9, "0"]),
        ("count", [1, 2**63 - 1], [0, 2**63, 1.0, True]),
        ("index", [0, 2**63 - 1], [-1, 2**63, 0.0, False]),
        ("sign", [1, -1], [0, 2, 1.0, True]),
        ("truth", [True, False], [0, 1, "true"]),
        ("text", ["x"], ["", " ", 1]),
        ("rule", ["DPA101"], ["X101", 1]),
        ("digest", ["0" * 64, "a" * 64], ["0" * 63, "g" * 64, "A" * 64, 1]),
        ("field", [1, "x", [1]], [{}]),
        ("versions", [{"python": "3", "dpaudit": "0"}], [{"python": "3"}, {"python": "3", "dpaudit": 0}]),
        ("a|b", ["a", "b"], ["", "c", 1]),
        ("[count]", [[], [1, 2]], [[0], 1, {}]),
        ("+[count]", [[1]], [[], [0], 1]),
        ("entry", [{"path": "root", "part": 0}], [{"path": "root"}, {"path": "root", "part": 0, "x": 1}, {}, []]),
    ]
    for form, kept, refused in rows:
        assert [value for value in kept if _refused(check, value, form, "x")] == [], form
        assert [value for value in refused if not _refused(check, value, form, "x")] == [], form
    row = {"loss": "laplace", "times": 1, "shift": 0.3}
    plugged = {"name": "x", "stated": {"upper": [row], "lower": [row]}, "own": 3, "neighbours": "replace_one"}
    assert not _refused(check, plugged, "mechanism", "x")
    changes: list[Data] = [{"own": {}}, {"neighbours": 1}, {"name": "gaussian"}, {"stated": {}}]
    for change in changes:
        assert _refused(check, plugged | change, "mechanism", "x"), change


def test_each_order_of_a_sampled_part_is_an_alternative_but_of_one_that_is_replaced() -> None:
    """One finite loss that is replaced is taken in both orders at once; a law of one order, and no other, in either."""
    schemes, losses = checker("schemes"), checker("losses")
    fixed, poisson = sample(BOX, 0.3, scheme="without_replacement"), sample(BOX, 0.3, scheme="poisson")
    back = losses.reverse(UNEVEN)
    mapped = [Counter([checker("integers").mapped(Counter([part]), 0.3)]) for part in (UNEVEN, back)]
    sided = {"node": "release", "mechanism": {"name": "x", "stated": {"upper": [{"one_order": True}]}}}
    either = sample(sided, 0.3, scheme="poisson")
    assert schemes.above(either, [Counter([UNEVEN])], "add_remove") == mapped
    assert schemes.above(poisson, [Counter([UNEVEN])], "add_remove") == mapped[:1]
    (one,) = schemes.above(fixed, [Counter([UNEVEN])], "replace_one")
    assert one == schemes._both(checker("polygons").either(Counter([UNEVEN])), 0.3)
    assert len(schemes.above(fixed, [Counter({UNEVEN: 2})], "replace_one")) == 2
    assert len(schemes.above(fixed, [Counter([UNEVEN]), Counter({UNEVEN: 2})], "replace_one")) == 3
    assert len(schemes.above(poisson, [Counter({ANSWER: 2})], "add_remove")) == 1


def test_a_loss_read_from_the_other_neighbour_has_other_masses_unless_it_is_even() -> None:
    reverse = checker("losses").reverse
    uneven: Any = ("discrete", ((-0.5, 0.3), (0.5, 0.6)), 0.1, 0.1)
    assert reverse(ANSWER) is ANSWER
    assert reverse(uneven)[1] == (
        (-0.5, pytest.approx(0.6 * math.exp(-0.5))),
        (0.5, pytest.approx(0.3 * math.exp(0.5))),
    )
    assert reverse(("discrete", ANSWER[1], 0.1, 0.2))[2:] == (0.2, 0.1)
    assert reverse(("discrete", ((-0.5, 0.3), (0.4, 0.6)), 0.1, 0.1))[1][0][0] == -0.4
    assert reverse(("map", ((ANSWER, 1),), 0.3, "add")) == ("map", ((ANSWER, 1),), 0.3, "remove")
    assert reverse(("allocated", ((ANSWER, 1),), 3, "remove", 2)) == ("allocated", ((ANSWER, 1),), 3, "add", 2)
    assert reverse(("halves", UNEVEN, ANSWER)) == ("halves", ANSWER, reverse(UNEVEN))
    mixture: Any = ("mixture", "laplace", ((0.0, 0.7), (0.5, 0.3)), ((0.0, 1.0),))
    assert reverse(mixture) == ("mixture", "laplace", ((0.0, 1.0),), ((-0.5, 0.3), (0.0, 0.7)))
    average: Any = ("average", ((0.5, UNEVEN), (0.5, ANSWER)))
    assert reverse(average) == ("average", ((0.5, reverse(UNEVEN)), (0.5, ANSWER)))


def test_lists_of_many_brackets_side_by_side_are_read() -> None:
    read = checker("reading").read
    assert read("[" + ",".join(["[]"] * 500) + "]") == [[]] * 500
    assert read("[" + ",".join(["{}"] * 500) + "]") == [{}] * 500


def test_a_printed_reading_has_a_basis_and_ends_at_the_budget_of_the_root() -> None:
    complaints = checker("printed").printed_complaints
    claim = {"epsilon": 1.0, "delta": 1e-5, "neighbours": "replace_one"}
    step = {"rule": "basic", "epsilon": 0.8, "delta": 1e-6}
    tree = sequence(BOX, BOX | {"epsilon": 0.3}) | {"printed": step}
    told = {"epsilon": 0.8, "delta": 1e-6, "valid": True, "problems": []}
    problem = {"node": "root", "rule": "basic", "message": "x"}
    bare = sequence(BOX)
    rows: list[tuple[Any, Data, Data, int]] = [
        (None, bare, claim, 0),
        (None, tree, claim, 1),
        (told | {"epsilon": 0.5, "delta": 0.0}, bare, claim, 1),
        (told, tree, claim, 0),
        (told | {"epsilon": 0.8 * (1 + 1e-8)}, tree, claim, 1),
        (told | {"delta": 1.1e-6}, tree, claim, 1),
        (told | {"valid": False}, tree, claim, 1),
        (told | {"problems": [problem]}, tree, claim, 1),
        (told | {"problems": [problem], "valid": False}, tree, claim, 2),
        (told, tree, claim | {"epsilon": 0.7}, 2),
        (told | {"valid": False, "problems": [problem | {"rule": "claim"}]}, tree, claim | {"epsilon": 0.7}, 0),
        (told | {"valid": False, "problems": [problem | {"rule": "claim"}]}, tree, claim | {"delta": 1e-7}, 0),
    ]
    for reading, node, asked, count in rows:
        assert len(complaints(reading, node, asked)) == count, (reading, asked)


def test_with_a_violated_condition_no_upper_end_is_stated() -> None:
    void = checker("checking")._void_complaints
    for epsilon, delta, kept in (("inf", 1, True), ("inf", 1.0, True), ("inf", 0.5, False), (3.0, 1, False)):
        assert (void({"epsilon": {"upper": epsilon}, "delta": {"upper": delta}}) == ()) is kept
    for rho, profile, kept in (("inf", ["inf", "inf"], True), (1, ["inf", 1], False), (1.0, [0.2, "inf"], False)):
        tight = {"rho": {"upper": rho}, "profile": [{"upper": delta} for delta in profile]}
        assert [void(tight, measure) == () for measure in ("rho", "profile")] == [kept, kept]


def test_a_delta_is_exceeded_surely_or_maybe_by_a_bracket_and_its_width() -> None:
    exceeds, inf = checker("stated_ends")._exceeds, math.inf
    for delta, room, expected in (
        (0.05, 0, (True, True)),
        (0.05, 1, (False, True)),
        (0.15, 0, (False, True)),
        (0.25, 0, (False, False)),
        (0.25, 1, (False, True)),
        (0.35, 1, (False, False)),
    ):
        assert exceeds(Known(0.1, 0.2), 1.0, delta, room) == expected
    for largest, derived, low, expected in (
        (0.9, False, 0.0, (False, False)),
        (1.1, False, 0.0, (True, True)),
        (1.1, True, 0.0, (False, True)),
        (2.1, True, 0.0, (True, True)),
        (1.1, True, 0.1, (True, True)),
        (inf, True, 0.1, (True, True)),
        (inf, True, 0.0, (False, True)),
    ):
        assert exceeds(Known(low, 0.2, derived=derived, largest=largest), 1.0, 0.0, 0) == expected, (largest, derived)


def test_what_no_rule_or_no_law_gives_is_not_proved() -> None:
    """A table diluted below its own laws is none, and a short bound needs a delta."""
    table = {"name": "finite", "first": [0.5, 0.45, 0.05], "second": [0.05, 0.45, 0.5], "dilution": 0.5}
    with pytest.raises(checker("refusals").Rejection, match="diluted so little"):
        checker("mechanisms").sides_of(table, "replace_one")
    step = {"rule": "advanced_short", "epsilon": 0.9, "delta": 0.0}
    assert checker("printed")._concluded("advanced_short", times(BOX, 3) | {"printed": step}, "replace_one") == math.inf
    fields = {"strategy": "explicit", "horizon": 4, "participations": 2, "separation": 1}
    assert checker("strategies").squared_move(fields | {"entries": np.eye(4).ravel().tolist()}) == (2.0, 2.0)


def test_few_outcomes_are_listed_with_the_products_of_their_masses() -> None:
    """Two losses, one met twice: six sums, some alike; what either law has alone is lost for good."""
    losses = checker("losses")
    one, two = losses.discrete([(0.5, 0.6), (-0.25, 0.3)], 0.1, 0.2), losses.discrete([(0.25, 0.7), (-0.5, 0.3)])
    _, atoms, lost, other = losses.listed({one: 2, two: 1})
    expected = {1.25: 0.252, 0.5: 0.108 + 0.252, -0.25: 0.108 + 0.063, -1.0: 0.027}
    assert dict(atoms) == pytest.approx(expected)
    assert (lost, other) == pytest.approx((1 - 0.9**2, 1 - 0.8**2))
    nearly_apart = losses.discrete([(41.5, 1.0)], 0.0, 1.0)  # all but 1e-18 of the other law lies elsewhere
    assert losses.listed({nearly_apart: 2})[2:] == (0.0, 1.0)
    assert losses.listed({("laplace", 0.3): 1}) == ("laplace", 0.3)
    assert losses.listed({one: 1, ("laplace", 0.3): 1}) == losses.listed({one: 300}) == ()


def test_halves_of_atoms_are_the_atoms_of_each_sign() -> None:
    """The larger of both orders of a table on a sample: from epsilon 0 on the first, below it the second."""
    losses, curve = checker("losses"), checker("curve")
    rest = 1 - 0.5 * math.exp(-0.8) - 0.3 * math.exp(0.3) - 0.2 * math.exp(0.5)
    table = losses.discrete([(0.8, 0.5), (-0.3, 0.3), (-0.5, 0.2)], 0.0, rest)
    first, second = table, losses.reverse(table)
    both = losses.halves(first, second)
    assert both[0] == "discrete"
    assert math.fsum(mass for _, mass in both[1]) + both[2] == pytest.approx(1.0, rel=1e-15)
    for epsilon in (0.0, 0.2, 0.7):
        one, whole = (curve.Worst([Counter([loss])]).curves[0].delta(epsilon) for loss in (first, both))
        assert whole == pytest.approx(one, rel=1e-9)
    laplace = ("laplace", 0.3)
    assert losses.halves(first, laplace) == ("halves", first, laplace)


def test_mass_that_one_side_loses_is_known_from_above_alone() -> None:
    """A loss between two: the upper one gives away .2, the lower one tells nothing; alone, on a sample and in a choice.

    The broken twin adds the upper side's .2 to what labels show: more than is proved from above.
    """
    losses, curve = checker("losses"), checker("curve")
    over, nothing, other = losses.black_box(1.0, 0.2), losses.discrete([(0.0, 1.0)]), losses.black_box(2.0)
    between = ("between", over, nothing)
    sampled = ("map", ((between, 1),), 0.5, "remove")
    for loss in (
        between,
        sampled,
        ("choice", frozenset((between, other))),
        ("average", ((0.5, between), (0.5, other))),
    ):
        assert losses.leak(loss) > 0
        assert losses.leak(losses.attained(loss)) == 0
    for loss in (between, sampled):
        whole = curve.Worst([Counter([loss, other])])
        low, high = whole.delta(1.0)
        alone = curve.Worst([Counter([other])]).delta(1.0)
        assert low == pytest.approx(alone[0], rel=1e-3)
        assert high > alone[1] * 1.05
        assert low + losses.leak(loss) > alone[0] * 1.1
    whole = curve.Worst([Counter([between])])
    assert whole.never(0.1)
    assert not whole.surely_never(0.1)
    assert curve.Worst([Counter([losses.black_box(1.0, 0.2)])]).surely_never(0.1)
