"""What every mechanism must hold, found by discovery: a new file in `mechanisms/` is tested from its first day."""

import dataclasses
import inspect
import json
import math
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import pytest
from scipy.signal import fftconvolve

import mechanisms
from dpaudit import Claim, Mechanism, Release, UnsupportedError, bracket_delta, bracket_epsilon, certify, fold, verify
from dpaudit.model.codec import decode_mechanism, encode
from dpaudit.model.losses import ComposedLoss, Composition, DiscreteLoss, GaussianLoss, Loss
from dpaudit.model.mechanism import Array, DominatedMechanism
from dpaudit.verifier.mechanisms import rescaled
from mechanisms import NAMES, load

FALSE_ALARM = 1e-7
"""Per test and example; with fewer than ten of each the whole file stays below 1e-5, with a fixed seed."""
SAMPLES = 100_000
SAMPLES_OF_MANY_NUMBERS = 20_000
"""Draws from scalar releases, and from those of many numbers, which say more each."""
GRID_ERROR = 1e-4
"""How far convolution on the grid of `hockey_stick` may lie above the curve of a composed loss."""
EPSILONS = (-0.5, 0.0, 0.1, 0.3, 0.7, 1.0, 2.0)
CLAIMS = ((0.1, 0.0), (0.1, 1e-9), (1.0, 0.0), (1.0, 1e-5), (4.0, 1e-9), (4.0, 0.1))
"""Promises (epsilon, delta): pure and not, within and beyond the range of the classic formulas."""

FILES = sorted(path.stem for path in Path(mechanisms.__file__).parent.glob("*.py") if not path.stem.startswith("_"))
EXAMPLES = [
    pytest.param(example, id=f"{name}-{place}")
    for name in FILES
    for place, example in enumerate(inspect.getmodule(load(name)).EXAMPLES if name in NAMES else ())
]


class Example(Mechanism, Protocol):
    """What every mechanism of this project is: a dataclass with a worst pair, which can be calibrated."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def worst_pair(self) -> tuple[Any, Any]: ...

    @classmethod
    def calibrated(cls, claim: Claim, **query: Any) -> Any: ...


every_example = pytest.mark.parametrize("mechanism", EXAMPLES)


def sample(mechanism: Mechanism, value: Array, rng: np.random.Generator, n: int | None = None) -> Array:
    """Return `n` independent releases of `value`, or as many as suit its kind."""
    answer = np.asarray(value)
    n = n or (SAMPLES if is_scalar(mechanism) else SAMPLES_OF_MANY_NUMBERS)
    return mechanism.release(np.broadcast_to(answer, (n, *answer.shape)), rng)


def log_density(mechanism: Example, output: Array, value: Array) -> Array:
    """Return the log density of whole releases, runs first: what is left of their own axes is summed."""
    each = np.asarray(mechanism.log_density(output, np.asarray(value)))
    return each.reshape(len(output), -1).sum(axis=1)


def is_scalar(mechanism: Any) -> bool:
    """Return whether one release is one number."""
    return np.ndim(mechanism.release(np.asarray(mechanism.worst_pair()[0]), np.random.default_rng(0))) == 0


scalar_examples = pytest.mark.parametrize("mechanism", [e for e in EXAMPLES if is_scalar(e.values[0])])


def grid(mechanism: Example) -> tuple[Any, ...]:
    """Return the points, and the log weight of each, on which a scalar release's law is summed.

    Integer outputs are summed; real ones integrated by Gauss-Legendre panels that break at both answers, where a
    density may have a kink.
    """
    pair = mechanism.worst_pair()
    outputs = np.concatenate([sample(mechanism, value, np.random.default_rng(1), 2000) for value in pair])
    spread = np.ptp(outputs)
    low, high = outputs.min() - 5 * spread, outputs.max() + 5 * spread
    if np.issubdtype(outputs.dtype, np.integer):
        points = np.arange(math.floor(low), math.ceil(high) + 1)
        return points, np.zeros(len(points))
    nodes, weights = np.polynomial.legendre.leggauss(10)
    edges = np.unique(np.concatenate([np.linspace(low, high, 8001), np.asarray(pair, dtype=float)]))
    half = np.diff(edges) / 2
    points = (edges[:-1] + half)[:, None] + half[:, None] * nodes
    return points.ravel(), np.log(half[:, None] * weights).ravel()


def law_is_rejected(stated: Example, sampled: Mechanism, seed: int) -> bool:
    """Return whether outputs of `sampled` are evidence against the law of `stated`.

    The product of likelihood ratios against a fixed alternative has mean 1 under the stated law, so it passes
    2 / FALSE_ALARM with probability FALSE_ALARM / 2 at most, for any law of any shape. Two alternatives: 10 % more
    noise, 10 % less.
    """
    value = stated.worst_pair()[0]
    outputs = sample(sampled, value, np.random.default_rng(seed))
    if (log_density(stated, outputs, value) == -np.inf).any():
        return True
    ratios = [
        log_density(stated.scaled(factor), outputs, value) - log_density(stated, outputs, value)
        for factor in (1.1, 0.9)
    ]
    return any(ratio.sum() > math.log(2 / FALSE_ALARM) for ratio in ratios)


def exact_hockey_stick(mechanism: Example, epsilon: float) -> float:
    """Return delta(epsilon) of a scalar release on its worst pair, from its density alone."""
    first, second = mechanism.worst_pair()
    points, log_weights = grid(mechanism)
    log_p = log_weights + mechanism.log_density(points, np.asarray(first))
    log_q = log_weights + mechanism.log_density(points, np.asarray(second))
    return float(np.maximum(np.exp(log_p) - np.exp(epsilon + log_q), 0).sum())


def sampled_hockey_stick(mechanism: Example, seed: int) -> tuple[int, list[float]]:
    """Return the number of draws from the worst pair, and delta at each of EPSILONS as they and the density show it."""
    first, second = mechanism.worst_pair()
    outputs = sample(mechanism, first, np.random.default_rng(seed))
    loss = log_density(mechanism, outputs, first) - log_density(mechanism, outputs, second)
    return len(outputs), [float(-np.expm1(np.minimum(epsilon - loss, 0)).mean()) for epsilon in EPSILONS]


def hockey_stick(loss: Loss, epsilons: list[Any] | tuple[float, ...], step: float = 2e-3) -> list[Any]:
    """Return delta at each epsilon of a loss of any kind, composed ones by convolving their parts on a grid.

    A part's law on the grid is read off its hockey-stick curve (the connect-the-dots masses of Doroshenko et al.,
    2022), so nothing here knows a mechanism.
    """
    parts = Composition.of(loss).parts
    if len(parts) == 1 and parts[0][1] == 1:
        return [parts[0][0].hockey_stick(epsilon) for epsilon in epsilons]
    law, start, kept = np.ones(1), 0, 1.0
    for part, times in parts:
        reach = math.ceil(min(part.supremum, 12.0) / step)
        curve = np.array([part.hockey_stick(index * step) for index in range(-reach, reach + 1)])
        masses = np.zeros(len(curve))
        masses[0] = 1 - curve[0]
        masses[1:] += np.diff(curve) / math.expm1(-step)
        masses[:-1] += np.diff(curve) / math.expm1(step)
        for _ in range(times):
            law, start, kept = fftconvolve(law, masses), start - reach, kept * (1 - curve[-1])
    losses = (start + np.arange(len(law))) * step
    return [1 - kept + float((law * -np.expm1(np.minimum(epsilon - losses, 0))).sum()) for epsilon in epsilons]


def attained_loss(mechanism: Mechanism) -> Loss:
    """Return the loss of the mechanism's own worst pair."""
    return mechanism.attained_loss() if isinstance(mechanism, DominatedMechanism) else mechanism.loss()


def accounted_delta(mechanism: Example, epsilon: float) -> float:
    """Return the delta of one release that the accountant proves."""
    return bracket_delta(fold(Release(label="release", mechanism=mechanism), mechanism.neighbours), epsilon).upper


def stated_delta(mechanism: Example, epsilon: float) -> Any:
    """Return the delta of one release by the stated loss itself, in the worse order."""
    loss = mechanism.loss()
    orders = (loss,) if isinstance(loss, ComposedLoss) else (loss, loss.reversed())
    return max(hockey_stick(order, [epsilon])[0] for order in orders)


def calibrated(mechanism: Example, claim: Claim) -> Any:
    """Return a new mechanism for `claim` and the query of `mechanism`: the arguments are its fields."""
    wanted = list(inspect.signature(type(mechanism).calibrated).parameters)[1:]
    return type(mechanism).calibrated(claim, **{name: getattr(mechanism, name) for name in wanted})


def test_names_and_files_agree() -> None:
    assert sorted(NAMES) == FILES, "import the class of each file in `mechanisms/__init__.py`"
    for name in NAMES:
        assert load(name).name == name
        assert len(inspect.getmodule(load(name)).EXAMPLES) >= 2, f"{name}: give two EXAMPLES or more"


@every_example
def test_it_is_a_mechanism(mechanism: Example) -> None:
    assert isinstance(mechanism, Mechanism)


@every_example
def test_samples_follow_the_stated_law_and_ten_percent_of_noise_is_noticed(mechanism: Example) -> None:
    assert not law_is_rejected(mechanism, mechanism, seed=11)
    assert law_is_rejected(mechanism, mechanism.scaled(1.1), seed=12)
    assert law_is_rejected(mechanism, mechanism.scaled(0.9), seed=13)


@scalar_examples
def test_the_density_of_a_number_sums_to_one(mechanism: Example) -> None:
    points, log_weights = grid(mechanism)
    for value in mechanism.worst_pair():
        total = np.exp(log_weights + mechanism.log_density(points, np.asarray(value))).sum()
        assert total == pytest.approx(1, abs=1e-10), "whole numbers are released as an integer array"


@scalar_examples
def test_the_stated_loss_of_a_number_is_that_of_its_density(mechanism: Example) -> None:
    shown = np.array([exact_hockey_stick(mechanism, epsilon) for epsilon in EPSILONS])

    def agrees(twin: Mechanism) -> bool:
        above, attained = (np.array(hockey_stick(loss, EPSILONS)) for loss in (twin.loss(), attained_loss(twin)))
        return bool((shown <= above + 2e-6).all() and (shown >= attained - 2e-6).all())

    assert agrees(mechanism)
    if hockey_stick(mechanism.loss(), EPSILONS) == pytest.approx(hockey_stick(attained_loss(mechanism), EPSILONS)):
        assert not agrees(mechanism.scaled(1.1))
        assert not agrees(mechanism.scaled(0.9))
    else:
        assert not agrees(mechanism.scaled(2))


@every_example
def test_a_loss_that_dominates_lies_above_what_is_attained_and_both_bracket_the_truth(mechanism: Example) -> None:
    above, attained = (hockey_stick(loss, EPSILONS) for loss in (mechanism.loss(), attained_loss(mechanism)))
    assert all(low <= high + 1e-9 for low, high in zip(attained, above, strict=True))
    form = fold(Release(label="release", mechanism=mechanism), mechanism.neighbours)
    pair = attained_loss(mechanism)  # of some every epsilon has another one
    ranged = isinstance(pair, DiscreteLoss) and (pair.span is not None or pair.once is not None)
    for epsilon, low, high in zip(EPSILONS, above if ranged else attained, above, strict=True):
        if epsilon >= 0:
            bracket = bracket_delta(form, epsilon)
            assert bracket.lower <= low + GRID_ERROR
            assert bracket.upper >= high - GRID_ERROR


@every_example
def test_releases_of_the_worst_pair_show_no_more_than_the_stated_loss_and_no_less_than_the_attained(
    mechanism: Example,
) -> None:
    # Each estimate is a mean of numbers in [0, 1]: Hoeffding's inequality, shared over the epsilons.
    draws, shown = sampled_hockey_stick(mechanism, seed=31)
    error = math.sqrt(math.log(2 * len(EPSILONS) / FALSE_ALARM) / (2 * draws)) + GRID_ERROR

    def agrees(twin: Mechanism) -> bool:
        above, attained = (np.array(hockey_stick(loss, EPSILONS)) for loss in (twin.loss(), attained_loss(twin)))
        return bool((np.array(shown) <= above + error).all() and (np.array(shown) >= attained - error).all())

    assert agrees(mechanism)
    assert not agrees(mechanism.scaled(2))
    assert not agrees(mechanism.scaled(0.5)) or attained_loss(mechanism) != mechanism.loss()


@pytest.mark.parametrize("mechanism", [e for e in EXAMPLES if hasattr(e.values[0], "calibrated")])
@pytest.mark.parametrize(("epsilon", "delta"), CLAIMS)
def test_calibrated_noise_meets_the_claim_within_1e_9_and_never_below(
    mechanism: Example, epsilon: float, delta: float
) -> None:
    """Within 1e-9 where the loss of the release has a closed form, within 1e-4 where several losses are composed."""
    claim = Claim(epsilon=epsilon, delta=delta, neighbours=mechanism.neighbours)
    try:
        smallest = calibrated(mechanism, claim)
    except UnsupportedError:
        parts = [loss for loss, _ in Composition.of(mechanism.loss()).parts]
        assert claim.delta == 0
        assert any(loss.supremum == math.inf or loss.infinite_mass > 0 for loss in parts)
        return
    losses = Composition.of(mechanism.loss())
    closed = losses.events == 1 or all(isinstance(loss, GaussianLoss) for loss, _ in losses.parts)
    less = smallest.scaled(1 - (1e-9 if closed or claim.delta == 0 else 1e-4))
    judges = [
        judge
        for judge in (accounted_delta, stated_delta)
        if judge(smallest, claim.epsilon) <= claim.delta < judge(less, claim.epsilon)
    ]
    assert judges, (
        "neither the accountant nor the stated loss finds this noise to be the smallest that will do; `meeting` of "
        "`mechanisms._additive` searches for it"
    )
    if claim.delta == 0:
        form = fold(Release(label="release", mechanism=smallest), claim.neighbours)
        assert bracket_epsilon(form, 0.0).upper <= claim.epsilon


@every_example
def test_any_leading_shape_counts_independent_releases(mechanism: Example) -> None:
    value = np.asarray(mechanism.worst_pair()[0])
    rng = np.random.default_rng(41)
    own = np.shape(mechanism.release(value, rng))
    for leading in ((), (1,), (3,), (2, 4), (0,), (0, 5)):
        output = mechanism.release(np.broadcast_to(value, (*leading, *value.shape)), rng)
        assert np.shape(output) == (*leading, *own)
        density = mechanism.log_density(output, np.broadcast_to(value, (*leading, *value.shape)))
        assert np.shape(density)[: len(leading)] == leading
    many = np.reshape(sample(mechanism, value, rng, 1000), (1000, -1))
    many = np.where(np.isfinite(many), many, 0.0)
    assert len(np.unique(many, axis=0)) > 1
    assert np.abs(np.corrcoef(many[:-1, 0], many[1:, 0])[0, 1]) < 0.25


@every_example
def test_a_seed_decides_the_release_and_the_input_is_left_alone(mechanism: Example) -> None:
    value = np.asarray(mechanism.worst_pair()[0]) + np.zeros((7, *np.shape(mechanism.worst_pair()[0])), dtype=np.int64)
    value.setflags(write=False)
    first, second = (mechanism.release(value, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(first, second)


@every_example
def test_it_cannot_change_and_equal_ones_are_one(mechanism: Example) -> None:
    copy = dataclasses.replace(mechanism)
    assert copy == mechanism
    assert hash(copy) == hash(mechanism)
    for entry in dataclasses.fields(mechanism):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(mechanism, entry.name, getattr(mechanism, entry.name))
    assert not hasattr(mechanism, "__dict__")
    with pytest.raises(TypeError):
        type(mechanism)(*(getattr(mechanism, entry.name) for entry in dataclasses.fields(mechanism)))


@every_example
def test_json_brings_it_back(mechanism: Example) -> None:
    text = json.dumps(encode(mechanism), allow_nan=False)
    assert decode_mechanism(json.loads(text), mechanism.neighbours, ("here",)) == mechanism


@pytest.mark.parametrize("mechanism", [example for example in EXAMPLES if str(example.id).endswith("-0")])
def test_the_checker_derives_the_same_loss_and_knows_which_fields_are_noise(mechanism: Example) -> None:
    """Without a law for the checker there is nothing to hold: certificates then say that the loss is stated."""
    fields = encode(mechanism)
    if "stated" in fields:
        return
    noisier = "list the field of the noise under `noise` of `dpaudit/verifier/tables.json`"
    assert rescaled(fields, 1.5) == encode(mechanism.scaled(1.5)), noisier
    claim = Claim(epsilon=1.0, delta=1e-5, neighbours=mechanism.neighbours)
    result = verify(certify(Release(label="release", mechanism=mechanism), claim).to_json())
    assert result.accepted, result


@every_example
def test_a_bad_parameter_is_refused_by_name_and_value(mechanism: Example) -> None:
    """The annotation of each field says what it takes (`Positive`, `Count`, ... of `dpaudit.checks`); it is checked."""
    for entry in dataclasses.fields(mechanism):
        for bad in (math.nan, -1, True, "much", None, 0.5 if isinstance(getattr(mechanism, entry.name), int) else -0.5):
            with pytest.raises(ValueError, match=rf"{entry.name}.*{bad!r}|{entry.name}.*nan"):
                dataclasses.replace(mechanism, **{entry.name: bad})


@every_example
def test_whole_numbers_and_floats_make_the_same_mechanism(mechanism: Example) -> None:
    for entry in dataclasses.fields(mechanism):
        held = getattr(mechanism, entry.name)
        if isinstance(held, float) and held.is_integer():
            assert dataclasses.replace(mechanism, **{entry.name: int(held)}) == mechanism


@every_example
def test_more_noise_never_costs_more(mechanism: Example) -> None:
    noisier = hockey_stick(mechanism.scaled(1.5).loss(), EPSILONS[1:])
    assert all(
        more <= less + 1e-12 for more, less in zip(noisier, hockey_stick(mechanism.loss(), EPSILONS[1:]), strict=True)
    )


@pytest.mark.parametrize("name", ["laplace", "discrete_laplace", "discrete_gaussian"])
def test_noise_calibrated_for_rho_is_certified_and_hardly_less_is_not(name: str) -> None:
    """The smallest noise of a claim in rho, as the accountant certifies it."""
    kind, claim = load(name), Claim(rho=0.1, neighbours="add_remove")
    (sensitivity,) = (key for key in inspect.signature(kind.calibrated).parameters if key.endswith("_sensitivity"))
    smallest = kind.calibrated(claim, **{sensitivity: 1})
    less = Release(label="n", mechanism=smallest.scaled(1 - 1e-4))
    assert certify(Release(label="n", mechanism=smallest), claim).verdict == "certified"
    assert certify(less, claim).verdict != "certified"
