"""The laws that replays show: the draws on record, exact answers, and losses with closed forms."""

import math
from typing import Any

import numpy as np
import pytest

from audits import Settings, audit
from audits.outputs.calls import as_run
from audits.procedures.replayed import replayed
from audits.replay.evidence import ROUNDING
from audits.replay.noise_model import NoiseModel, model_with_products
from audits.replay.one_call import Player
from audits.replay.recording import Recorder
from audits.replay.seen_law import seen_loss
from dpaudit import Claim, implied_claim
from dpaudit.model.measures.claims import MeasuredClaim, MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.wording.audits import audit_meaning
from mechanisms import DiscreteGaussian

KIND: Any = {"neighbours": "add_remove"}
CLAIM = Claim(epsilon=1.0, neighbours="add_remove")


def model_of(function: Any, data: Any, calls: Any = 6) -> Any:
    player = Player(run=as_run(function)[0])
    quiet = player.call(data, 1, 0, factor=0.0)
    return model_with_products(quiet, tuple(player.call(data, 1, number) for number in range(calls)))


def loss_of(function: Any, first: Any, second: Any, claim: Any = CLAIM, calls: Any = 6) -> Any:
    models = model_of(function, first, calls), model_of(function, second, calls)
    assert None not in models
    return seen_loss(*models, claim)


def test_draws_do_not_depend_on_how_many_numbers_came_before() -> None:
    short, long = (Recorder(seed=(3,)).generator() for _ in range(2))
    short.laplace(size=2)
    long.laplace(size=200)
    assert short.normal() == long.normal()
    assert short.spawn(1)[0].random() == long.spawn(1)[0].random()


def test_recorded_draws_follow_their_laws() -> None:
    recorder = Recorder(seed=(4,))
    rng = recorder.generator()
    values = np.array([rng.laplace(5.0, 2.0) for _ in range(4_000)])
    noise = np.concatenate([draw.noise for draw in recorder.draws])
    assert np.allclose(values, 5.0 + 2.0 * noise)
    assert abs(np.abs(noise).mean() - 1.0) < 6 / math.sqrt(4_000)
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 6 / math.sqrt(4_000)


@pytest.mark.parametrize("scale", [0.5, 1.0, 4.0])
def test_one_laplace_number_loses_its_shift_over_its_scale(scale: Any) -> None:
    loss = loss_of(lambda data, rng: data.sum() + rng.laplace(0, scale), np.ones(5), np.ones(4))
    assert loss.epsilon == pytest.approx(1 / scale)
    assert (loss.margin > 1e-9) is (scale < 1)


def test_laplace_numbers_lose_the_sum_of_their_shifts() -> None:
    def sums(data: Any, rng: Any) -> Any:
        return {"a": data.sum() + rng.laplace(0, 2.0), "b": 3 * data.sum() + rng.laplace(0, 4.0)}

    models = model_of(sums, np.ones(3)), model_of(sums, np.ones(2))
    joint = seen_loss(*models, Claim(epsilon=1.2, neighbours="add_remove"))
    assert joint.epsilon == pytest.approx(1 / 2 + 3 / 4)


def test_gaussian_numbers_that_share_draws_lose_the_distance_of_their_answers() -> None:
    def sums(data: Any, rng: Any) -> Any:
        one, other = rng.normal(0, 2.0, 2)
        return np.array([data.sum() + one, data.sum() + one + other])

    claim = Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove")
    loss = loss_of(sums, np.ones(4), np.ones(3), claim)
    mu = 0.5
    tail = [0.5 * math.erfc(-(side * mu / 2 - 1 / mu) / math.sqrt(2)) for side in (1, -1)]
    assert loss.margin == pytest.approx(tail[0] - math.e * tail[1] - 1e-5)


def test_one_draw_in_two_numbers_has_no_bound() -> None:
    def shared(data: Any, rng: Any) -> Any:
        noise = rng.laplace(0, 100.0)
        return {"n": len(data) + noise, "sum": data.sum() + noise}

    loss = loss_of(shared, np.array([1.0, 0.0]), np.array([1.0]))
    assert loss.epsilon == math.inf
    assert set(loss.names) == {"number .n", "number .sum"}


def test_a_scale_that_follows_the_data_has_no_bound_without_a_delta() -> None:
    def mean(data: Any, rng: Any) -> Any:
        return data.mean() + rng.laplace(0, 1 / len(data))

    assert loss_of(mean, np.ones(9), np.ones(8)).epsilon == math.inf


def test_a_clamped_number_has_no_linear_noise() -> None:
    assert model_of(lambda data, rng: max(0.0, data.sum() + rng.laplace()), np.zeros(3)) is None


@pytest.mark.parametrize("cut", [100.0, math.inf])
def test_a_scale_that_follows_the_data_is_no_violation_where_outputs_are_cut_before_it_shows(cut: float) -> None:
    """A mean by the number of records, cut to [0, 100], keeps epsilon 1: nowhere is an output that much more likely.

    Between 0 and 100 the loss is at most 0.4 for the move of the mean and 100 (1/1.3 - 1/1.307) = 0.4 for the scales.
    Twin: a mean that is not cut has no bound.
    """

    def mean(data: Any, rng: Any) -> float:
        return float(np.clip(data.sum() / len(data) + rng.laplace(0, 260 / len(data)), 100.0 - cut, cut))

    rows = np.arange(200) * 7 % 100
    looked = replayed(mean, (rows, rows[1:]), None, CLAIM, runs=400, rng=np.random.default_rng(1))
    assert (looked.violation is not None) is math.isinf(cut)
    assert bool(looked.causes) is math.isinf(cut)


@pytest.mark.parametrize("used", [False, True])
def test_noise_that_enters_no_number_may_have_chosen_it(*, used: bool) -> None:
    """A draw that leaves a record out in one run of 150 is noise that is shown nowhere: the claim has room for that.

    Twin: the same draw is published as well, so that its law is known.
    """

    def gated(data: Any, rng: Any) -> tuple[float, ...]:
        draw = rng.exponential()
        number = (len(data) if draw < 5.0 or used else 3.0) + rng.laplace(0, 1 / 1.0046)
        return (number, draw) if used else (number,)

    looked = replayed(gated, ([1] * 4, [1] * 3), None, CLAIM, runs=400, rng=np.random.default_rng(1))
    assert (looked.violation is not None) is used


def test_subsampled_numbers_have_no_seen_law() -> None:
    def sampled(data: Any, rng: Any) -> Any:
        return data[rng.random(len(data)) < 0.5].sum() + rng.laplace()

    assert model_of(sampled, np.ones(9)) is None


HALF_GAUSSIAN: dict[str, tuple[MeasuredClaim, MeasuredClaim]] = {
    "rho": (RhoClaim(rho=0.125, **KIND), RhoClaim(rho=0.1249, **KIND)),
    "mu": (MuClaim(mu=0.5, **KIND), MuClaim(mu=0.499, **KIND)),
    "renyi": (
        RenyiClaim(renyi=((2, 0.25), (8, 1.0)), **KIND),
        RenyiClaim(renyi=((2, 0.25), (8, 0.96)), **KIND),
    ),
    "profile": (
        ProfileClaim(profile=((0.0, 0.1974127), (1.0, 0.0068296)), **KIND),
        ProfileClaim(profile=((0.0, 0.1974127), (1.0, 0.0065)), **KIND),
    ),
}
"""Claims that Gaussian noise keeps exactly whose answer moves by half a deviation, and claims that it breaks."""

HALF_LAPLACE: dict[str, tuple[MeasuredClaim, MeasuredClaim]] = {
    "rho": (RhoClaim(rho=0.10654, **KIND), RhoClaim(rho=0.1065, **KIND)),
    "renyi": (RenyiClaim(renyi=((2, 0.2004),), **KIND), RenyiClaim(renyi=((2, 0.2),), **KIND)),
    "mu": (MuClaim(mu=0.562, **KIND), MuClaim(mu=0.561, **KIND)),
    "profile": (ProfileClaim(profile=((0.0, 0.2212),), **KIND), ProfileClaim(profile=((0.0, 0.22),), **KIND)),
}


@pytest.mark.parametrize("measure", ["rho", "mu", "renyi", "profile"])
@pytest.mark.parametrize(("law", "claims"), [("normal", HALF_GAUSSIAN), ("laplace", HALF_LAPLACE)])
def test_a_move_in_noise_is_held_against_the_claim_in_its_own_measure(measure: str, law: str, claims: Any) -> None:
    """The claim that the noise keeps exactly stands; a smaller one falls."""

    def total(data: Any, rng: Any) -> Any:
        return data.sum() + getattr(rng, law)(0, 2.0)

    kept, broken = claims[measure]
    models = model_of(total, np.ones(3)), model_of(total, np.ones(2))
    losses = [seen_loss(*models, implied_claim(made), made) for made in (kept, broken)]
    assert [loss is not None and loss.excess > ROUNDING for loss in losses] == [False, True]
    assert all(number.lower <= number.claimed for loss in losses[:1] if loss for number in loss.numbers)


@pytest.mark.parametrize(("rho", "verdict"), [(0.02, "inconclusive"), (0.01, "violation")])
def test_an_audit_in_rho_reads_the_move_of_a_sum_beside_integer_noise(rho: float, verdict: str) -> None:
    def sums(data: Any, rng: Any) -> Any:
        return {"n": len(data) + rng.integers(-9, 9), "sum": data.sum() + rng.normal(0, 10.0)}

    pair = np.array([1.0, 2.0]), np.array([1.0])
    claim = RhoClaim(rho=rho, **KIND)
    result = audit(
        sums, neighbours=pair, claim=claim, runs=400, rng=np.random.default_rng(3), how=Settings(control_runs=0)
    )
    assert result.verdict == verdict
    assert (" the claim rho = 0.01 is false" in audit_meaning(result)) is (verdict == "violation")
    assert (f"rho is at least 0.02, and the claim says {rho}" in " ".join(result.remarks)) is (verdict == "violation")


OTHERS: dict[str, Any] = {
    "integer Gaussian noise": lambda size, rng: DiscreteGaussian(
        stddev=3.0, l2_sensitivity=1, neighbours="add_remove"
    ).release(np.array([size]), rng),
    "integers": lambda size, rng: size + rng.integers(0, 9),
    "choice": lambda size, rng: rng.choice(size),
    "geometric": lambda size, rng: size + rng.geometric(0.3),
    "random": lambda size, rng: size + rng.random(),
    "as many normals as it takes": lambda size, rng: size + next(z for z in iter(rng.normal, None) if abs(z) < 0.5),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("moved", [1.0, 2.0])
def test_other_draws_beside_a_sum_leave_its_law_in_sight(kind: str, first: bool, moved: float) -> None:
    """The sum loses what it loses alone, whatever is drawn before it or after it; twin: a sum that keeps the claim."""

    def both(data: Any, rng: Any) -> Any:
        other = OTHERS[kind](len(data), rng) if first else None
        total = float(data.sum() + rng.laplace(0, 1.5))
        return {"sum": total, "other": other if first else OTHERS[kind](len(data), rng)}

    loss = loss_of(both, np.array([1.0, 2.0, moved]), np.array([1.0, 2.0]))
    assert loss.names == ("number .sum",)
    assert loss.epsilon == pytest.approx(moved / 1.5)
    assert (loss.margin > 0) is (moved > 1.5)


@pytest.mark.parametrize("noisy", ["integers", "normal"])
@pytest.mark.parametrize("moved", [1.5, 0.5])
def test_a_mean_by_a_published_count_loses_what_its_sum_loses(noisy: str, moved: float) -> None:
    """Twin: a sum that moves by less keeps the claim; what the count loses by itself is not read where it is whole."""

    def mean(data: Any, rng: Any) -> Any:
        count = len(data) + (rng.integers(-3, 4) if noisy == "integers" else rng.normal(0, 1e6))
        return {"mean": (data.sum() + rng.laplace()) / max(1, count), "counts": np.array([count, 0.0])}

    loss = loss_of(mean, np.array([1.0, 1.0, moved]), np.ones(2))
    assert loss.names[0].startswith("number .mean times the sum of counts")
    assert loss.epsilon == pytest.approx(moved)
    assert (loss.margin > 0) is (moved > 1)
    first, second = (model_of(mean, data) for data in (np.ones(3), np.ones(2)))
    assert first.followed >= {"number .mean"}
    assert second.explains(Player(run=as_run(mean)[0]).call(np.ones(2), 9))


def test_a_model_explains_its_own_calls_alone() -> None:
    def total(data: Any, rng: Any) -> Any:
        return data.sum() + rng.laplace()

    player, model = Player(run=as_run(total)[0]), model_of(total, np.ones(3))
    assert isinstance(model, NoiseModel)
    assert model.explains(player.call(np.ones(3), 9))
    assert not model.explains(player.call(np.ones(2), 9))


@pytest.mark.parametrize("size", [1.0, 1e6, 1e12])
def test_rounding_of_large_answers_is_no_loss(size: float) -> None:
    def total(data: Any, rng: Any) -> Any:
        return sum(data) * 1.1 + rng.laplace(0, 1.1)

    loss = loss_of(total, np.append(np.full(7, size / 7), 1.0), np.full(7, size / 7))
    assert loss is None or loss.margin <= 1e-9


def test_a_map_that_doubles_two_draws_has_the_closed_form_of_their_sizes() -> None:
    """Two numbers with scale 1 or 2: the event is a large sum of sizes, a Gamma law of shape 2."""

    def mixed(data: Any, rng: Any) -> Any:
        return np.array([[1.0, 1.0], [1.0, -1.0]]) @ rng.laplace(0, float(data), 2)

    half = Claim(epsilon=0.5, neighbours="add_remove")
    loss = loss_of(mixed, 1.0, 2.0, half)
    edge = 2 * math.log(2) + half.epsilon  # in units of scale 2, where the ratio of densities exceeds exp(epsilon)
    often, seldom = (math.exp(-size) * (1 + size) for size in (edge, 2 * edge))
    assert loss.kind == "map"
    assert often - 0.02 < loss.often < often
    assert seldom < loss.seldom < seldom + 0.02


def regression(data: Any, rng: Any, exact: bool) -> Any:
    """Return coefficients by the exact matrix of moments, or by the public one."""
    x = np.column_stack([np.ones(len(data)), data])
    moments = x.T @ x if exact else np.array([[8.0, 2.0], [2.0, 1.0]])
    return np.linalg.solve(moments + 0.1 * np.eye(2), x.T @ (data > 0.5) + rng.laplace(0, 2.0, 2))


@pytest.mark.parametrize("exact", [False, True])
def test_a_regression_by_exact_moments_breaks_its_claim(exact: bool) -> None:
    """Twin: by public moments, the same noise covers the same answers."""
    first, second = np.array([1.0, 0, 0, 0, 0]), np.zeros(5)
    loss = loss_of(lambda data, rng: regression(data, rng, exact), first, second)
    assert (loss.margin > 0) is exact
