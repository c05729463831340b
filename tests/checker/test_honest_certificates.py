"""Honest certificates at the limits of what the checker derives: each is accepted, and the forgery beside it is not."""

import json
from dataclasses import replace
from typing import Any

import pytest

import dpaudit as dp
import mechanisms
from dpaudit.engines.pairs.looks import derived_delta
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Filtered
from dpaudit.model.losses import AllocatedLoss, GaussianLoss, SampledLoss
from dpaudit.verifier import verify
from tests.checker import forging
from tests.checker.test_plug_ins import Drawn

Question = tuple[dp.Declaration, float, float, Neighbours]


def release(mechanism: dp.Mechanism) -> dp.Release:
    return dp.Release(label="sum", mechanism=mechanism)


def gaussian(stddev: float, neighbours: Neighbours = "add_remove") -> dp.Release:
    return release(mechanisms.Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours))


def laplace(scale: float, neighbours: Neighbours = "add_remove") -> dp.Release:
    return dp.Release(
        label="count", mechanism=mechanisms.Laplace(scale=scale, l1_sensitivity=1.0, neighbours=neighbours)
    )


def sized(part: dp.Declaration, population: int, batch: int) -> dp.Subsample:
    rate = batch / population
    return dp.Subsample(part=part, rate=rate, scheme="without_replacement", population=population, batch_size=batch)


def response(epsilon: float, categories: int = 2) -> dp.Release:
    return release(mechanisms.RandomisedResponse(epsilon=epsilon, categories=categories))


def fixed(part: dp.Declaration, rate: float) -> dp.Subsample:
    return dp.Subsample(part=part, rate=rate, scheme="without_replacement")


def made(question: Question) -> dp.Certificate:
    tree, epsilon, delta, neighbours = question
    return dp.certify(tree, dp.Claim(epsilon=epsilon, delta=delta, neighbours=neighbours, unit="one person"))


LATTICE = release(mechanisms.DiscreteLaplace(scale=2.112, l1_sensitivity=1, neighbours="add_remove"))
LARGE = release(mechanisms.DiscreteGaussian(stddev=11.4, l2_sensitivity=3, neighbours="add_remove"))
CHOSEN = release(mechanisms.Exponential(epsilon=0.0341, linf_sensitivity=1.0, neighbours="replace_one"))
SLIGHT = release(mechanisms.Exponential(epsilon=0.028, linf_sensitivity=1.0, neighbours="replace_one"))
FIRST = release(mechanisms.ReportNoisyMax(scale=10600.0, linf_sensitivity=1.0, neighbours="replace_one"))
CUT = release(mechanisms.TruncatedDiscreteGaussian(stddev=1.8, cut=4.01, l2_sensitivity=2, neighbours="zero_out"))
TABLE = release(mechanisms.Finite(first=(7, 2, 9, 19), second=(20, 2, 10, 7), neighbours="replace_one", dilution=1.0))
LEAF = mechanisms.Gaussian(stddev=12.0, l2_sensitivity=1.0, neighbours="add_remove")
TREE = release(mechanisms.Matrix(strategy="full_tree", horizon=11, leaf=LEAF, participations=3, separation=2))
CLASSIC = dp.Printed(rule="classic_gaussian", epsilon=1.28)
VENDOR = dp.Stated(epsilon=1.28, delta=1e-7, source="a vendor")
FAR = gaussian(0.1, "replace_one")
REPLACED = mechanisms.DiscreteLaplace(scale=8.333, l1_sensitivity=1, neighbours="replace_one")
WISHART = mechanisms.OneSidedWishart(dimension=3, scale=3.0, trace_sensitivity=4.5, neighbours="add_remove")
BROKEN = dp.Printed(rule="cells", epsilon=0.5, delta=2e-6)
LEAKING = dp.Printed(rule="laplace", epsilon=1.0, delta=0.03)

CASES: dict[str, Question] = {
    "a rate below the claimed delta": (dp.Subsample(part=gaussian(1.0), rate=0.01), 1.0, 0.02, "add_remove"),
    "a rate that is the claimed delta": (dp.Subsample(part=laplace(1.0), rate=0.01), 1.0, 0.01, "add_remove"),
    "a tiny epsilon beside a tiny delta": (dp.Subsample(part=gaussian(1.0), rate=0.01), 1e-9, 1e-30, "add_remove"),
    "the least noise of a lattice": (LATTICE, 100.0, 2.59e-20, "add_remove"),
    "the least noise of a choice": (dp.Local(part=CHOSEN), 100.0, 0.01, "replace_one"),
    "an argument without an end": (replace(release(LEAF), printed=CLASSIC), 1.0, 1e-5, "add_remove"),
    "a printed release of a matrix": (
        dp.PostProcess(part=TREE, printed=dp.Printed(rule="post_processing", epsilon=2.0, delta=1e-3)),
        1.0,
        1e-5,
        "add_remove",
    ),
    "a table of one record": (dp.Group(part=TABLE, size=1), 1e-5, 0.1, "replace_one"),
    "a sampled response": (fixed(response(0.0145), 1 / 9), 3e-6, 0.0024, "replace_one"),
    "a small loss at delta 0": (fixed(laplace(1685.9, "replace_one"), 0.026), 5.8e-4, 0.0, "replace_one"),
    "a shuffle of one user": (dp.Shuffle(part=SLIGHT, users=1), 0.028, 3.5e-26, "replace_one"),
    "a sample of a plug-in's own": (release(Drawn(epsilon=0.05)), 1.0, 1e-5, "replace_one"),
    "a sample in a public part": (
        dp.Parallel(
            parts=(dp.Subsample(part=CUT, rate=0.1), dp.Stated(epsilon=0.04, source="a vendor")), key="the region"
        ),
        0.1,
        0.0248,
        "zero_out",
    ),
    "a tree of several records": (
        dp.Sequential(parts=(dp.Group(part=TREE, size=10), laplace(6.3))),
        1.0,
        1e-3,
        "add_remove",
    ),
    "a sample of a large table": (
        dp.Subsample(part=dp.Subsample(part=LARGE, rate=0.1), rate=0.1),
        0.11,
        1e-9,
        "add_remove",
    ),
    "candidates that hardly differ": (dp.Group(part=FIRST, size=10), 0.00245, 0.0, "replace_one"),
    "a large loss at a secret step": (
        dp.Parallel(parts=(FAR, FAR), key="the day", visibility="secret"),
        8e-9,
        0.0,
        "replace_one",
    ),
    "one secret step of two": (dp.Allocate(part=laplace(23.8), steps=2), 0.0421, 4.9e-9, "add_remove"),
    "one secret step of three counts": (
        dp.Allocate(part=dp.Repeat(part=laplace(56.6), times=3), steps=34, epochs=3, positions="repeated"),
        0.0239,
        1e-9,
        "add_remove",
    ),
    "a group of zeroed records": (
        dp.Group(part=sized(gaussian(29.9, "zero_out"), 73307, 820), size=4),
        0.0424,
        1e-8,
        "zero_out",
    ),
    "a zeroed record of few": (sized(gaussian(0.93, "zero_out"), 2834, 1), 0.00328, 2.3e-5, "zero_out"),
    "copies that are hardly ever drawn": (
        replace(sized(release(REPLACED), 1965, 1437), scheme="with_replacement"),
        2.518,
        4.4e-12,
        "replace_one",
    ),
    "a printed group without a largest loss": (
        dp.Repeat(
            part=dp.Group(part=dp.Sequential(parts=(gaussian(74.0), replace(laplace(9.0), printed=LEAKING))), size=3),
            times=9,
        ),
        9.0,
        1e-5,
        "add_remove",
    ),
    "a printed group of a loss below 0": (
        dp.Cells(inside=dp.Group(part=release(WISHART), size=5), touched=laplace(3.0), printed=BROKEN),
        9.0,
        1e-5,
        "add_remove",
    ),
    "a printed delta beyond 1": (
        dp.Repeat(part=dp.Sequential(parts=(replace(laplace(1.0), printed=LEAKING), gaussian(9.0))), times=1082),
        0.7,
        1e-5,
        "add_remove",
    ),
    "a shuffle of one user whose outcomes vanish": (
        dp.Shuffle(
            part=release(mechanisms.DiscreteLaplace(scale=31.1, l1_sensitivity=3, neighbours="replace_one")), users=1
        ),
        1.0,
        0.0837,
        "replace_one",
    ),
    "a shuffle beside what counts": (
        dp.Cells(
            inside=sized(dp.Shuffle(part=response(0.3, 4), users=30), 5, 1),
            touched=laplace(4.15),
        ),
        0.1456,
        9.6e-11,
        "add_remove",
    ),
    "a group over a table that more noise makes no better": (
        dp.Group(part=release(mechanisms.Finite(first=(0.0, 1.0), second=(0.3, 0.7), neighbours="zero_out")), size=2),
        1.2,
        0.6006,
        "zero_out",
    ),
    "three leaks on a sample": (
        dp.Subsample(part=dp.Repeat(part=VENDOR, times=3), rate=0.1),
        10.0,
        3.3e-8,
        "add_remove",
    ),
}


@pytest.fixture(scope="module", params=CASES)
def certificate(request: pytest.FixtureRequest) -> dp.Certificate:
    return made(CASES[request.param])


def test_an_honest_certificate_at_a_limit_is_accepted(certificate: dp.Certificate) -> None:
    verified = verify(certificate.to_json())
    assert (verified.complaints, verified.unconfirmed) == ((), ())


def test_a_bracket_beside_the_honest_one_is_rejected(certificate: dp.Certificate) -> None:
    """The lower ends are said to be the upper ones' double, and the upper ends to be less than the lower ones."""
    data: dict[str, Any] = certificate.to_dict()
    for name, side in (("delta", "upper"), ("delta", "lower"), ("epsilon", "lower")):
        ends = data["tight"][name]
        low, high = float(ends["lower"]), float(ends["upper"])
        other = low * 0.9 if side == "upper" else high * 2 + 1e-9
        if not low < float("inf") or not (0 < other < 1 or name == "epsilon"):
            continue
        changed = {"lower": min(low, other), "upper": other} if side == "upper" else {"lower": other, "upper": other}
        forged = json.loads(json.dumps(data)) | {"tight": data["tight"] | {name: changed}}
        assert not verify(forging.resealed(forged)).accepted, (name, side)


@pytest.mark.parametrize("name", ["the least noise of a lattice", "the least noise of a choice", "a sampled response"])
@pytest.mark.parametrize("factor", [0.9, 1.1, 1e9])
def test_another_noise_ratio_is_not_confirmed(name: str, factor: float) -> None:
    """No verdict rests on it, so that it is no complaint either."""
    data: dict[str, Any] = made(CASES[name]).to_dict()
    slack = data["slack"]
    row = slack["factors"][-1]
    slack["noise_ratio"] *= factor
    row["noise_factor"] *= factor
    row["sentence"] = f"The declared noise is {row['noise_factor']:.2f} times what the claim needs."
    verified = verify(forging.resealed(data))
    assert not verified.complaints
    assert any("of the noise" in told for told in verified.unconfirmed), verified


def test_a_slack_is_missing_only_where_no_noise_is_compared() -> None:
    """A sample's rate below the claimed delta needs no noise; one above it does."""
    for rate, needs in ((0.01, False), (0.03, True)):
        found = made((dp.Subsample(part=gaussian(1.0), rate=rate), 1.0, 0.02, "add_remove"))
        assert (found.slack is None) == (not needs)
        data: dict[str, Any] = found.to_dict()
        data.pop("slack", None)
        assert verify(forging.resealed(data)).accepted == (not needs)


def test_a_printed_argument_that_needs_no_epsilon_at_its_own_delta_has_no_ratio() -> None:
    """The rule gives epsilon 0 at the printed delta: only the declared noise is compared, and the slack multiplies."""
    noise = mechanisms.Gaussian(stddev=833.3, l2_sensitivity=2.0, neighbours="add_remove")
    printed = dp.Printed(rule="classic_gaussian_2", epsilon=0.506, delta=0.00335)
    tree = dp.PostProcess(part=dp.Release(label="sum", mechanism=noise, printed=printed), steps=("rounding",))
    found = made((tree, 0.0124, 5e-11, "add_remove"))
    assert found.slack is not None
    assert [factor.name for factor in found.slack.factors] in ([], ["declared noise"])
    assert verify(found.to_json()).accepted


def test_a_budget_of_rho_needs_no_noise_that_could_be_compared() -> None:
    """Its bound holds with any noise; a slack that is stated all the same is a complaint."""
    budget = Filtered(parts=(gaussian(40.0), laplace(30.0)), rho=0.034)
    probe = made((budget, 1.0, 5e-10, "add_remove"))
    at_the_end = made((budget, probe.tight.epsilon.upper, 5e-10, "add_remove"))
    assert (at_the_end.verdict, at_the_end.slack) == ("certified", None)
    assert verify(at_the_end.to_json()).accepted
    beside = made((dp.Sequential(parts=(budget, gaussian(40.0))), 3.0, 5e-10, "add_remove"))
    assert beside.slack is not None
    forged = at_the_end.to_dict() | {"slack": beside.to_dict()["slack"]}
    assert verify(forging.resealed(forged)).complaints == ("a slack is stated where nothing can be compared",)


def test_a_claim_above_100_nats_promises_nothing_to_compare_with() -> None:
    compared = [made((laplace(2.0), epsilon, 0.0, "add_remove")) for epsilon in (100.0, 101.0)]
    assert [found.slack is None for found in compared] == [False, True]
    assert all(verify(found.to_json()).accepted for found in compared)


def test_a_plug_in_s_loss_of_a_replaced_record_is_stated_in_both_orders() -> None:
    """Without an option, or with another rate in it, the ends do not follow."""
    changes: tuple[dict[str, Any], ...] = ({"options": []}, {"mu": 2.0})
    for change in changes:
        data: dict[str, Any] = made(CASES["a sample of a plug-in's own"]).to_dict()
        (row,) = data["declaration"]["mechanism"]["stated"]["upper"]
        assert sorted(option["order"] for option in row["options"]) == ["add", "remove"]
        (row if "options" in change else row["options"][0]).update(change)
        assert not verify(forging.resealed(data)).accepted


def test_a_sample_of_secret_steps_has_no_lower_bound_above_its_upper_one() -> None:
    """In the order that adds the record: what is rounded for the other order bounds nothing from below."""
    inside = ((AllocatedLoss(inside=((GaussianLoss(mu=0.3157), 1),), steps=500), 1),)
    for loss in (SampledLoss(inside=inside, rate=0.01), SampledLoss(inside=inside, rate=0.01).reversed()):
        low, high = derived_delta(loss, 1e-9)
        assert 0 <= low <= high < 1e-4


@pytest.mark.parametrize("categories", [2, 3])
@pytest.mark.parametrize("epsilon", [0.0837, *(pytest.param(e, marks=pytest.mark.slow) for e in (0.0233, 0.4, 1.7))])
def test_a_shuffled_report_attains_no_more_than_one_report_loses(epsilon: float, categories: int) -> None:
    """Rounding of the law of counts must not refute a claim of the report's own epsilon."""
    tree = dp.Shuffle(part=response(epsilon, categories), users=10)
    at_most = made((tree, epsilon, 1e-28, "replace_one"))
    assert (at_most.tight.delta.lower, at_most.verdict == "refuted") == (0.0, False)
    assert made((tree, epsilon * 0.5, 1e-28, "replace_one")).verdict == "refuted"


def test_a_group_over_a_sample_that_the_checker_cannot_double_is_unconfirmed() -> None:
    """A sampled choice of a bounded range beside a larger release: a limit of the checker is no complaint."""
    choice = mechanisms.Exponential(epsilon=1.8, linf_sensitivity=2.0, neighbours="zero_out", utilities="monotone")
    sample = dp.Subsample(part=dp.Release(label="choice", mechanism=choice), rate=0.05)
    larger = dp.Release(
        label="best", mechanism=mechanisms.PermuteAndFlip(scale=0.4, linf_sensitivity=1.0, neighbours="zero_out")
    )
    tree = dp.Parallel(parts=(dp.Group(part=sample, size=2), larger), key="an arm")
    verified = verify(dp.certify(tree, dp.Claim(epsilon=4.0, neighbours="zero_out")).to_json())
    assert not verified.complaints
    assert any("beyond this checker" in said for said in verified.unconfirmed)
