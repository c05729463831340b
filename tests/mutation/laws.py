"""Checks that hold of the sound code whatever its numbers are: laws of composition, conversions and budgets."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from itertools import combinations
from typing import Any, cast

import numpy as np
import pytest

import dpaudit as dp
import tests.accounting.test_choices as test_choices
import tests.budgets.test_filters as test_filters
import tests.budgets.test_odometers as test_odometers
from dpaudit.accounting.derivation.groups import chain
from dpaudit.accounting.views import delivered_model
from dpaudit.engines import CLOSED, DEFAULT, ENGINES, QUICK, RENYI, TILTED, UPPERS
from dpaudit.errors import CertificateError, DeclarationError
from dpaudit.interchange.dp_event import from_event, to_event
from dpaudit.model import losses
from dpaudit.model.bracket import Bracket, largest_epsilon, smallest_epsilon
from dpaudit.model.claim import Model, Neighbours
from dpaudit.model.codec import decode_declaration, encode
from dpaudit.model.condition import conditions_of, merge
from dpaudit.model.declaration import Declaration, Scheme
from dpaudit.model.mechanism import Mechanism
from dpaudit.model.trace import Finding, Released, admit
from dpaudit.printed.slack import slack_of
from dpaudit.verifier import verify
from mechanisms import Gaussian, RandomisedResponse, ReportNoisyMax, TreeAggregation
from tests.mutation.inputs import INPUTS, NOTHING, gaussian, laplace, release

BLACK = losses.ApproximateLoss(epsilon=0.2, delta=1e-7)
MIXED = losses.Composition.of(
    losses.GaussianLoss(mu=0.3), losses.LaplaceLoss(shift=0.4), losses.ApproximateLoss(epsilon=0.2)
)
CHECKED = ("gaussian", "gaussian and laplace", "tree", "pure tree", "cells", "group", "stated twice", "local", "epochs")


def epsilon(node: Declaration, delta: float = 1e-5, neighbours: Neighbours = "replace_one") -> Bracket:
    return dp.bracket_epsilon(dp.fold(node, neighbours), delta)


def near(one: Bracket, other: Bracket, relative: float = 2e-4) -> bool:
    """Whether two brackets of one number agree at both ends."""
    return math.isclose(one.upper, other.upper, rel_tol=relative, abs_tol=1e-9) and math.isclose(
        one.lower, other.lower, rel_tol=relative, abs_tol=1e-9
    )


def the_checker_accepts() -> None:
    """Certificates of many declarations pass the independent checker."""
    for name in CHECKED:
        tree, claim = INPUTS[name]
        assert verify(dp.certify(tree, claim).to_json()).complaints == (), name


def engines_overlap() -> None:
    """All engines that cover a composition agree, at several epsilons and deltas, and the bracket is narrow."""
    cases = [
        (losses.Composition.of(losses.GaussianLoss(mu=0.3)) * 9, 1e-5, (CLOSED, RENYI)),
        (losses.Composition.of(losses.ApproximateLoss(epsilon=0.3)) * 20, 1e-6, (TILTED, RENYI, CLOSED)),
        (losses.Composition.of(BLACK) * 30, 1e-5, (TILTED, RENYI, CLOSED)),
        (losses.Composition.of(BLACK, losses.ApproximateLoss(epsilon=0.5)), 1e-5, (TILTED, RENYI, CLOSED)),
        (losses.Composition.of(losses.LaplaceLoss(shift=0.2)) * 30, 1e-6, (TILTED, RENYI, CLOSED)),
        (MIXED, 1e-5, (TILTED, RENYI, CLOSED)),
        (
            losses.Composition.of(losses.DiscreteLoss(atoms=((0.5, 0.6), (_other(0.5, 0.6), 0.4)))) * 3,
            1e-4,
            (TILTED, RENYI, CLOSED),
        ),
    ]
    for composition, delta, engines in cases:
        covering = [engine for engine in engines if engine is TILTED or engine.covers(composition)]
        whole = reduce(Bracket.intersect, (engine.epsilon(composition, delta) for engine in covering))
        assert whole.upper - whole.lower <= 2e-3 * whole.upper, (composition, whole)
        points = [engine.delta(composition, whole.upper / 2) for engine in covering]
        reduce(Bracket.intersect, points)
        assert points[0].upper <= 50 * max(points[1].upper, 1e-9)


def _other(loss: float, mass: float) -> float:
    """The second loss of two atoms, so that both laws have mass 1."""
    return math.log((1 - mass) / (1 - mass * math.exp(-loss)))


def repeat_equals_copies() -> None:
    for loss in (losses.GaussianLoss(mu=0.2), losses.LaplaceLoss(shift=0.2), BLACK):
        assert losses.Composition.of(loss) * 5 == losses.Composition.of(*[loss] * 5)
    for part in (release(gaussian(9.0)), release(laplace(9.0)), dp.Stated(epsilon=0.2, delta=1e-7, source="x")):
        often, copies = (
            dp.fold(n, "replace_one") for n in (dp.Repeat(part=part, times=6), dp.Sequential(parts=(part,) * 6))
        )
        assert often == copies
        assert near(dp.bracket_epsilon(often, 1e-5), dp.bracket_epsilon(copies, 1e-5))
        once = epsilon(part)
        assert epsilon(dp.Repeat(part=part, times=6)).upper > 1.5 * once.upper
    nested = dp.Repeat(part=dp.Repeat(part=release(gaussian(9.0)), times=3), times=4)
    assert dp.fold(nested, "replace_one") == dp.fold(dp.Repeat(part=release(gaussian(9.0)), times=12), "replace_one")
    composed = losses.Composition.of(losses.GaussianLoss(mu=1.0), losses.GaussianLoss(mu=1.0)) + losses.Composition.of(
        losses.GaussianLoss(mu=1.0)
    )
    assert composed.events == 3
    for engine in (RENYI, TILTED, CLOSED):
        one, many = (
            engine.delta(losses.Composition.of(losses.ApproximateLoss(epsilon=0.1)) * n, 0.05).upper for n in (2, 9)
        )
        assert many > one
        loss = losses.ApproximateLoss(epsilon=0.01, delta=1e-4)
        assert engine.delta(losses.Composition.of(loss) * 10, 0.5).upper >= 9.9e-4


SCHEMES: tuple[tuple[Scheme, Neighbours], ...] = (("poisson", "add_remove"), ("without_replacement", "replace_one"))
"""Schemes of sampling, each with the relation that it is proved for."""

TOGETHER = dp.Condition(kind="attained", text="A replay saw one pair move all releases by as much.", status="checked")
"""One pair moves all releases, so that the lower side is as large as it can be."""


def order_does_not_matter() -> None:
    parts = (release(gaussian(9.0), "a"), release(laplace(9.0), "b"), dp.Stated(epsilon=0.1, source="x"))
    forms = [dp.fold(dp.Sequential(parts=order), "replace_one") for order in (parts, parts[::-1])]
    assert forms[0] == forms[1]
    assert epsilon(dp.Sequential(parts=parts)).upper > epsilon(dp.Sequential(parts=parts[:2])).upper
    assert near(dp.bracket_epsilon(forms[0], 1e-5), dp.bracket_epsilon(forms[1], 1e-5))


def integers_and_floats_agree() -> None:
    for one, other in ((gaussian(2), gaussian(2.0)), (laplace(2), laplace(2.0))):
        assert one.loss() == other.loss()
        assert epsilon(release(one)) == epsilon(release(other))
    trees = [
        dp.Repeat(
            part=dp.Subsample(part=dp.Repeat(part=release(gaussian(s, "add_remove")), times=4), rate=0.01), times=3
        )
        for s in (1, 1.0)
    ]
    assert dp.fold(trees[0], "add_remove") == dp.fold(trees[1], "add_remove")


def parallel_is_at_most_sequential() -> None:
    parts = (release(gaussian(2.0), "a"), release(gaussian(1.0), "b"))
    alone, both = epsilon(dp.Parallel(parts=parts, key="phase")), epsilon(dp.Sequential(parts=parts))
    together = dp.bracket_epsilon(dp.fold(dp.Sequential(parts=parts), "replace_one", (TOGETHER,)), 1e-5)
    assert alone.upper < together.lower <= both.upper
    assert both.lower <= alone.upper
    assert near(alone, epsilon(parts[1]))
    unlike = (release(gaussian(9.0), "a"), release(laplace(2.0), "b"))
    worst = epsilon(dp.Parallel(parts=unlike, key="phase"))
    assert worst.upper >= max(epsilon(part).lower for part in unlike)
    chosen = dp.Sequential(parts=(dp.Parallel(parts=unlike, key="phase"), release(laplace(50.0), "c")))
    assert epsilon(chosen).upper >= epsilon(dp.Sequential(parts=(unlike[1], release(laplace(50.0), "c")))).upper
    deltas = [epsilon(dp.Sequential(parts=(part, release(laplace(50.0), "c"))), 1e-9).lower for part in unlike]
    assert epsilon(chosen, 1e-9).upper >= max(deltas)
    for order in (unlike, unlike[::-1]):
        form = dp.fold(dp.Parallel(parts=order, key="phase"), "replace_one")
        for precision in (DEFAULT, QUICK, UPPERS, DEFAULT.by("closed", "tilted")):
            assert dp.bracket_epsilon(form, 1e-5, precision).upper >= worst.lower


def choices_cover_every_strategy() -> None:
    """Every adaptive strategy of small choices is tried, and what is chosen once costs the worst; orders are kept."""
    for value in (0.3, 0.8):
        test_choices.test_no_adaptive_way_of_choosing_exceeds_the_bound(value)
    test_choices.test_a_choice_that_is_made_once_costs_its_worst_option()
    test_choices.test_a_gaussian_option_is_cut_into_as_many_pieces_as_the_other_has_parts()
    test_choices.test_unequal_numbers_of_options_pair_as_far_as_they_go()
    test_choices.test_both_orders_of_a_choice_are_reversed()
    pair = losses.ChoiceLoss(options=(losses.GaussianLoss(mu=0.25), losses.LaplaceLoss(shift=0.25)))
    (normal, _), (other, _) = chain(losses.Composition.of(pair), 2).parts
    assert (normal, other) == (losses.GaussianLoss(mu=0.5), losses.LaplaceLoss(shift=0.5))


def brackets_are_monotone() -> None:
    """In noise, delta, group size, number of parts and rate."""
    for make in (gaussian, laplace):
        answers = [epsilon(release(make(s))) for s in (1.0, 2.0, 4.0)]
        assert answers[0].lower > answers[1].upper
        assert answers[1].lower > answers[2].upper
        tight, loose = (epsilon(dp.Repeat(part=release(make(5.0)), times=3), d) for d in (1e-9, 1e-4))
        assert tight.lower > loose.upper
    for part in (release(gaussian(20.0)), release(laplace(20.0)), dp.Stated(epsilon=0.1, delta=1e-9, source="x")):
        sizes = [epsilon(dp.Group(part=part, size=size)).upper for size in (1, 2, 3)]
        assert sizes[0] < sizes[1] < sizes[2]
    for scheme, relation in SCHEMES:
        part = dp.Stated(epsilon=1.0, delta=1e-6, source="x")
        forms = [dp.fold(dp.Subsample(part=part, rate=r, scheme=scheme), relation) for r in (0.1, 0.5)]
        rates = [dp.bracket_epsilon(form, 1e-6).upper for form in forms]
        assert rates[0] < rates[1] < 1.0
    sampled = [
        dp.bracket_delta(dp.fold(dp.Subsample(part=release(gaussian(1.0, "add_remove")), rate=r), "add_remove"), 0.1)
        for r in (0.05, 0.5)
    ]
    assert sampled[0].upper < sampled[1].lower


def round_trip() -> None:
    """delta at the returned epsilon meets the delta asked for, and just misses it a little below."""
    for composition, delta in (
        (losses.Composition.of(losses.GaussianLoss(mu=3.0)), 1e-5),
        (losses.Composition.of(losses.GaussianLoss(mu=30.0)), 1e-5),
        (losses.Composition.of(losses.LaplaceLoss(shift=0.5)) * 15, 1e-7),
        (losses.Composition.of(losses.ApproximateLoss(epsilon=0.5)) * 15, 1e-7),
        (losses.Composition.of(BLACK) * 15, 1e-5),
    ):
        for engine in ENGINES:
            if engine.covers(composition):
                answer = engine.epsilon(composition, delta)
                if answer.upper < math.inf:
                    assert engine.delta(composition, answer.upper).lower <= delta
                if answer.lower > 0:
                    assert engine.delta(composition, answer.lower * (1 - 1e-9)).upper >= delta
    assert smallest_epsilon(lambda e: math.exp(-e), 1e-8) == pytest.approx(-math.log(1e-8))
    assert largest_epsilon(lambda e: math.exp(-e), 1e-8) == pytest.approx(-math.log(1e-8))


def replacement_is_the_right_doubling() -> None:
    """Replacing is removing and adding; every relation is named, and none is read for another."""
    touched, inside = release(gaussian(9.0, "add_remove"), "out"), release(gaussian(90.0), "in")
    cells = dp.Cells(inside=inside, touched=touched)
    twice = epsilon(dp.Repeat(part=touched, times=2), neighbours="add_remove")
    assert near(dp.bracket_epsilon(dp.fold(cells, "replace_one", (TOGETHER,)), 1e-5), twice)
    assert near(epsilon(cells, neighbours="add_remove"), epsilon(touched, neighbours="add_remove"))
    strong = dp.Cells(inside=release(gaussian(2.0), "in"), touched=touched)
    assert near(epsilon(strong), epsilon(release(gaussian(2.0))))
    skewed = losses.DiscreteLoss(atoms=((0.5, 0.9), (_other(0.5, 0.9), 0.1)))
    assert skewed.reversed().supremum > 1.5
    assert losses.Composition.of(skewed).reversed() != losses.Composition.of(skewed)
    assert losses.Composition.of(skewed).reversed().reversed().parts[0][0].supremum == pytest.approx(0.5)
    form = dp.NormalForm(upper=(losses.Composition.of(skewed),), lower=(losses.Composition.of(skewed),))
    assert dp.bracket_epsilon(form, 0.0).lower == pytest.approx(max(0.5, skewed.reversed().supremum))
    for name in ("gaussian", "laplace x 20", "tree"):
        with pytest.raises(DeclarationError):
            dp.fold(INPUTS[name][0], "add_remove")
    told = dp.Stated(epsilon=1.0, source="x")
    with pytest.raises(DeclarationError):
        dp.fold(dp.Subsample(part=told, rate=0.1, scheme="with_replacement", population=20, batch_size=2), "add_remove")
    with pytest.raises(DeclarationError):
        dp.fold(
            dp.Subsample(part=told, rate=0.1, scheme="truncated_poisson", population=20, batch_bound=2), "replace_one"
        )
    from dp_accounting import dp_event

    for event, value in ((dp_event.GaussianDpEvent(2), 1.0), (dp_event.LaplaceDpEvent(2), 1.0)):
        (loss, _), *_ = dp.fold(from_event(event, "replace_one"), "replace_one").upper[0].parts
        (other, _), *_ = dp.fold(from_event(event, "add_remove"), "add_remove").upper[0].parts
        size = getattr(loss, "mu", None) or loss.shift
        assert size == value
        assert size == 2 * (getattr(other, "mu", None) or other.shift)


def chained(loss: losses.SimpleLoss, records: int) -> Any:
    """Return the one loss of so many records that change one after another."""
    ((longer, _),) = chain(losses.Composition.of(loss), records).parts
    return longer


def groups_move_every_record() -> None:
    """Gaussian and Laplace shifts grow by the size, a black box by the geometric sum, a spread group is covered."""
    assert chained(losses.GaussianLoss(mu=0.2), 3).mu == pytest.approx(0.6)
    assert chained(losses.LaplaceLoss(shift=0.2), 3).shift == pytest.approx(0.6)
    grown = chained(losses.ApproximateLoss(epsilon=0.5, delta=1e-6), 10)
    assert grown.epsilon == 5.0
    assert grown.delta == pytest.approx(2.27e-4, rel=3e-3)
    assert chained(losses.ApproximateLoss(epsilon=0.0, delta=1e-6), 10).delta == pytest.approx(1e-5)
    with pytest.raises(dp.UnsupportedError):
        chained(losses.SampledLoss(inside=((losses.LaplaceLoss(shift=1.0), 1),), rate=0.1), 2)
    with pytest.raises(dp.UnsupportedError):
        chained(losses.SampledGaussianLoss(mu=1.0, rate=0.1), 2)
    noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    sampled = dp.fold(dp.Group(part=dp.Subsample(part=release(noise), rate=0.1), size=2), "add_remove")
    assert isinstance(sampled.upper[0].parts[0][0], losses.MixtureLoss)
    mixed = dp.Parallel(parts=(release(gaussian(9.0), "a"), release(laplace(9.0), "b")), key="arm")
    with pytest.raises(dp.UnsupportedError):
        dp.fold(dp.Group(part=mixed, size=2), "replace_one")
    bounded = dp.Parallel(parts=(release(laplace(4.0), "a"), release(RandomisedResponse(epsilon=0.5), "b")), key="arm")
    assert dp.fold(dp.Group(part=bounded, size=3), "replace_one").upper[0].parts[0][0].epsilon == pytest.approx(1.5)
    lower = dp.fold(dp.Group(part=dp.Stated(epsilon=0.5, source="x"), size=3), "replace_one").lower
    assert lower == (losses.Composition(),)
    person = dp.fold(dp.Group(part=release(gaussian(9.0)), size=3), "replace_one")
    assert person.lower == dp.fold(release(gaussian(9.0)), "replace_one").lower != person.upper


def stated_parts_have_no_lower_bound() -> None:
    """What is taken on trust, or known to be dominated only, never refutes a claim."""
    form = dp.fold(dp.Repeat(part=dp.Stated(epsilon=1.0, source="x"), times=3), "replace_one")
    assert dp.bracket_epsilon(form, 1e-5).lower == 0
    assert dp.bracket_epsilon(form, 1e-5).upper == pytest.approx(3.0, abs=0.2)
    chosen = dp.fold(release(ReportNoisyMax(scale=2.0, linf_sensitivity=1.0, neighbours="replace_one")), "replace_one")
    assert dp.bracket_epsilon(chosen, 0.0).lower <= 0.5 + 1e-9
    assert dp.bracket_epsilon(chosen, 0.0).upper >= 1.0
    boxed = dp.fold(dp.Subsample(part=dp.Stated(epsilon=1.0, source="x"), rate=0.5), "add_remove")
    assert dp.bracket_epsilon(boxed, 0.0).lower == 0


def traces_are_admitted_or_not() -> None:
    """An honest run is admitted; every kind of dishonest one is named."""
    declared = dp.Sequential(parts=(release(gaussian(2.0), "a"), dp.Repeat(part=release(laplace(3.0), "b"), times=2)))
    rng = np.random.default_rng(5)
    zero = np.zeros((3, 4))

    def run(*steps: Any) -> tuple[Released, ...]:
        recorder = dp.Recorder(rng)
        for label, mechanism, times in steps:
            recorder.release(label, mechanism, zero, times)
        return recorder.trace()

    honest = (("a", gaussian(2.0), 1), ("b", laplace(3.0), 1), ("b", laplace(3.0), 1))
    assert admit(declared, run(*honest)) == ()
    wrong = (
        ("DPA213", (*honest, ("c", laplace(3.0), 1))),
        ("DPA213", honest[1:]),
        ("DPA212", (("a", gaussian(1.0), 1), *honest[1:])),
        ("DPA213", (*honest, ("b", laplace(3.0), 1))),
    )
    for rule, steps in wrong:
        assert {finding.rule for finding in admit(declared, run(*steps))} == {rule}
    released = run(*honest)
    reused = (released[0], replace(released[1], fingerprint=released[0].fingerprint), released[2])
    assert {finding.rule for finding in admit(declared, reused)} == {"DPA227"}
    stale = replace(released[0], mechanism=replace(gaussian(2.0), l2_sensitivity=0.5))
    assert {finding.rule for finding in admit(declared, (stale, *released[1:]))} == {"DPA212"}


def verdicts_follow_from_the_evidence() -> None:
    """Certified, refuted and not proved, for a bracket, a view, a condition and a finding."""
    tree, claim = INPUTS["gaussian"]
    tight = dp.bracket_epsilon(dp.fold(tree, "replace_one"), 1e-5)
    assert dp.certify(tree, claim).verdict == "certified"
    assert dp.certify(tree, replace(claim, epsilon=tight.upper)).verdict == "certified"
    assert dp.certify(tree, replace(claim, epsilon=tight.lower * 0.999)).verdict == "refuted"
    assert dp.certify(dp.Stated(epsilon=2.0, source="x"), claim).verdict == "not_proved"
    bad = dp.Condition(kind="clipping", about=("rewards",), status="violated")
    broken = dp.certify(tree, claim, conditions=(bad,))
    assert broken.verdict == "not_proved"
    assert any(bad.text in reason for reason in broken.reasons)
    assert (broken.tight.epsilon.upper, broken.tight.delta.upper) == (math.inf, 1.0)
    seen = Finding(rule="DPA212", where="sum", message="other noise")
    assert dp.certify(tree, claim, findings=(seen,)).verdict == "not_proved"
    assert dp.certify(dp.Billboard(part=tree), claim).verdict == "not_proved"
    assert dp.certify(dp.Billboard(part=tree), replace(claim, model="joint")).verdict == "certified"
    assert dp.certify(tree, replace(claim, model="local")).verdict == "not_proved"


def views_are_no_stronger_than_their_weakest_part() -> None:
    plain = release(gaussian(9.0))
    assert delivered_model(plain) == delivered_model(dp.Stated(epsilon=1.0, source="x")) == "central"
    assert delivered_model(dp.PostProcess(part=dp.Local(part=plain))) == "local"
    assert delivered_model(dp.Sequential(parts=(dp.Local(part=plain), plain))) == "central"
    assert delivered_model(dp.Sequential(parts=(plain, dp.Billboard(part=plain)))) == "joint"
    order: tuple[Model, ...] = ("local", "central", "joint")
    for proved in order:
        for claimed in order:
            claim = dp.Claim(epsilon=1.0, neighbours="replace_one", model=claimed)
            assert claim.implied_by(proved) == (order.index(proved) <= order.index(claimed))
    assert not dp.Claim(epsilon=1.0, neighbours="add_remove", model="central").implied_by("local")


def every_node_brings_its_conditions() -> None:
    words: dict[str, Declaration] = {
        "moves a query further": release(gaussian(1.0)),
        "fresh noise": release(gaussian(1.0)),
        "decided by the arm": dp.Parallel(parts=(NOTHING,), key="the arm"),
        "exactly one cell": dp.Cells(inside=NOTHING, touched=NOTHING),
        "more than 7 records": dp.Group(part=NOTHING, size=7),
        "the scheme poisson": dp.Subsample(part=NOTHING, rate=0.1),
        "the scheme without_replacement": dp.Subsample(part=NOTHING, rate=0.1, scheme="without_replacement"),
        "read again by: clipping": dp.PostProcess(part=NOTHING, steps=("clipping",)),
        "nothing of other users": dp.Billboard(part=NOTHING),
        "reaches no other user": dp.Billboard(part=NOTHING, reads=("a key",)),
        "leaves the device": dp.Local(part=NOTHING),
        "stated by nobody": NOTHING,
    }
    for text, node in words.items():
        assert any(text in condition.text for condition in conditions_of(node)), text
    one = dp.Condition(kind="other", about=("x",), status="checked")
    other = replace(one, status="violated")
    assert merge((one,), (other,))[0].status == merge((other,), (one,))[0].status == "violated"
    assert merge((replace(one, status="assumed"),), (one,))[0].status == "checked"


def the_smallest_noise_is_smallest() -> None:
    """Scaled by the factor a tree is certified, by a little less it is not; slack multiplies to the same."""
    for name in ("gaussian", "tree", "group", "cells"):
        tree, claim = INPUTS[name]
        from dpaudit.model.declaration import scaled

        assert scaled(release(gaussian(4.0)), 2.0) == release(gaussian(8.0))
        factor = dp.smallest_noise(tree, claim)
        just, less = (
            dp.bracket_delta(dp.fold(scaled(tree, factor * f), "replace_one", (TOGETHER,)), claim.epsilon)
            for f in (1.0, 1 - 1e-6)
        )
        assert just.upper <= claim.delta < less.lower
    tree, claim = INPUTS["epochs"]
    slack = slack_of(tree, claim)
    assert slack is not None
    tight = dp.bracket_epsilon(dp.fold(tree, "replace_one"), claim.delta).upper
    assert slack.epsilon_ratio == pytest.approx(claim.epsilon / tight, rel=1e-9)
    assert slack.noise_ratio == pytest.approx(1 / dp.smallest_noise(tree, claim), rel=1e-6)
    assert math.prod(f.factor for f in slack.factors) == pytest.approx(slack.epsilon_ratio, rel=1e-6)
    assert math.prod(f.noise_factor for f in slack.factors) == pytest.approx(slack.noise_ratio, rel=1e-6)
    assert all(f.factor > 1 - 1e-9 for f in slack.factors)
    assert "structure" in [f.name for f in slack.factors]


def small_deltas_stay_finite() -> None:
    """No fixed truncation is added, and no round-off floor: epsilon is finite at 1e-30, and delta is 0 at the sum."""
    composition = losses.Composition.of(losses.LaplaceLoss(shift=0.1)) * 100
    answers = [TILTED.epsilon(composition, delta) for delta in (1e-9, 1e-15, 1e-30)]
    assert answers[0].upper < answers[1].lower < answers[1].upper < answers[2].lower
    assert answers[2].upper < 9.999
    assert all(answer.upper - answer.lower < 1e-3 for answer in answers)
    assert CLOSED.epsilon(composition, 0.0).upper == pytest.approx(10.0)
    assert dp.bracket_epsilon(dp.fold(release(gaussian(1.0)), "replace_one"), 0.0).lower == math.inf
    assert CLOSED.epsilon(losses.Composition.of(losses.GaussianLoss(mu=1.0)), 1e-30).upper == pytest.approx(
        11.9, abs=0.3
    )


def certificates_return_and_tampering_shows() -> None:
    tree, claim = INPUTS["cells"]
    text = dp.certify(tree, claim).to_json()
    assert dp.Certificate.from_json(text).to_json() == text
    for name in ("epochs", "sampled", "parallel", "group"):
        node, about = INPUTS[name]
        assert decode_declaration(json.loads(json.dumps(encode(node))), about.neighbours) == node
    data = json.loads(text)
    for path, value in (
        (("claim", "epsilon"), 0.1),
        (("verdict",), "refuted"),
        (("declaration", "node"), "sequential"),
    ):
        held = json.loads(text)
        reduce(lambda table, key: table[key], path[:-1], held)[path[-1]] = value
        with pytest.raises(CertificateError):
            dp.Certificate.from_json(json.dumps(held))
        assert not verify(json.dumps(held)).accepted
    assert set(data) >= {"verdict", "tight", "conditions", "digest"}


def budgets_are_kept() -> None:
    """Filters stop before the limit, where their theorems say; conversions and odometers are upper bounds."""
    test_filters.test_the_gaussian_filter_loses_nothing_against_parts_fixed_in_advance()
    test_filters.test_each_filter_ends_where_its_theorem_says()
    test_filters.test_the_conversion_of_rho_is_above_its_formula_and_within_a_billionth_of_the_best_order()
    test_odometers.test_a_reading_never_falls_and_never_exceeds_the_sum_of_the_largest_losses()
    test_odometers.test_at_the_boundary_the_mixture_of_supermartingales_has_reached_one_over_delta(1e-6, 0.1)


def events_return() -> None:
    """A declaration survives dp-accounting's events and back, counts and rates included."""
    parts = (release(gaussian(2.0, "add_remove")), dp.Repeat(part=release(laplace(3.0, "add_remove")), times=7))
    tree = dp.Sequential(parts=(*parts, dp.Subsample(part=release(gaussian(1.0, "add_remove")), rate=0.1)))
    returned = from_event(to_event(tree), "add_remove")
    assert dp.fold(returned, "add_remove", (TOGETHER,)) == dp.fold(tree, "add_remove", (TOGETHER,))
    with pytest.raises(dp.UnsupportedError):
        to_event(dp.Parallel(parts=parts, key="arm"))
    with pytest.raises(dp.UnsupportedError):
        to_event(dp.Stated(epsilon=1.0, source="x"))


def impossible_objects_cannot_exist() -> None:
    """Negative noise, a rate of 7, a NaN, a list in place of a tuple, an unknown relation: each is refused."""
    refused: tuple[Callable[[], object], ...] = (
        lambda: gaussian(-1.0),
        lambda: gaussian(0.0),
        lambda: gaussian(math.nan),
        lambda: laplace(math.inf),
        lambda: gaussian(1.0, cast("Neighbours", "replaced")),
        lambda: dp.Subsample(part=NOTHING, rate=7.0),
        lambda: dp.Subsample(part=NOTHING, rate=0.1, scheme=cast("Scheme", "uniform")),
        lambda: dp.Repeat(part=NOTHING, times=0),
        lambda: dp.Repeat(part=NOTHING, times=cast("int", 2.5)),
        lambda: dp.Group(part=NOTHING, size=0),
        lambda: dp.Sequential(parts=cast("tuple[Declaration, ...]", [NOTHING])),
        lambda: dp.Parallel(parts=(NOTHING,), key=" "),
        lambda: dp.Stated(epsilon=-0.1, source="x"),
        lambda: dp.Stated(epsilon=0.1, delta=1.0, source="x"),
        lambda: dp.Stated(epsilon=0.1, source=""),
        lambda: dp.Claim(epsilon=1.0, delta=1.0, neighbours="replace_one"),
        lambda: dp.Claim(epsilon=-1.0, neighbours="replace_one"),
        lambda: dp.Claim(epsilon=1.0, neighbours=cast("Neighbours", "both")),
        lambda: losses.GaussianLoss(mu=-1.0),
        lambda: losses.DiscreteLoss(atoms=((1.0, 0.5), (-1.0, 0.5))),
        lambda: losses.DiscreteLoss(atoms=((0.0, 0.5),), infinite_mass=0.2, reverse_infinite_mass=0.5),
        lambda: TreeAggregation(horizon=4, leaf=laplace(1.0), signs=(1, 1)),
        lambda: dp.Release(label="x", mechanism=cast("Mechanism", "gaussian")),
        lambda: Bracket(lower=2.0, upper=1.0, engines=("x",)),
    )
    for place, make in enumerate(refused):
        try:
            made = make()
        except Exception:  # noqa: S112
            continue
        raise AssertionError(f"object {place} exists: {made}")


def contradictions_are_reported() -> None:
    """Engines that contradict each other stop the accountant, whichever lies below."""
    low, high = (Bracket(lower=a, upper=a + 1, engines=(name,)) for a, name in ((0.0, "a"), (2.0, "b")))
    for one, other in combinations((low, high, low), 2):
        if one is not other:
            with pytest.raises(Exception, match="wrong"):
                one.intersect(other)
    assert low.intersect(Bracket(lower=0.5, upper=9.0, engines=("c",))).upper == 1.0
    assert low.largest(high).lower == 2.0
    assert (low.largest(Bracket(lower=0.5, upper=0.7, engines=("c",)))).upper == 1.0
