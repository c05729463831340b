"""Facts about samplers: what draws as declared is left alone, and each way to draw otherwise is found."""

from collections.abc import Callable

import numpy as np
import pytest

from audits import watch_sampling
from dpaudit import Allocate, Stated, Subsample
from dpaudit.model.case import SamplingCase
from dpaudit.model.mechanism import Array
from dpaudit.training import DrawnBatches, Training, Watch, conform, conform_batches, conform_orders
from dpaudit.training.check import Check

PART = Stated(epsilon=0.1, source="a supplier")
RECORDS, RATE, STEPS, RUNS = 400, 0.1, 40, 4
Draw = Callable[[np.random.Generator], list[Array]]
ALLOCATED = Allocate(part=PART, steps=10, epochs=4)


def poisson(rng: np.random.Generator) -> list[Array]:
    """Return batches that hold each record with the declared rate."""
    return [np.flatnonzero(rng.random(RECORDS) < RATE) for _ in range(STEPS)]


def allocated(rng: np.random.Generator) -> list[Array]:
    """Return batches of which each record picks one an epoch by itself."""
    picked = [rng.integers(10, size=RECORDS) for _ in range(4)]
    return [np.flatnonzero(places == step) for places in picked for step in range(10)]


def dealt(rng: np.random.Generator) -> list[Array]:
    """Return batches of equal size that deal all records once an epoch."""
    return [batch for _ in range(4) for batch in np.split(rng.permutation(RECORDS), 10)]


def fixed(rng: np.random.Generator) -> list[Array]:
    """Return uniform sets of 40 records."""
    return [rng.permutation(RECORDS)[:40] for _ in range(STEPS)]


def together(rng: np.random.Generator) -> list[Array]:
    """Return Poisson samples of pairs of neighbouring records."""
    return [np.sort(np.concatenate([batch, batch + 1])) for batch in (b[b % 2 == 0] for b in poisson(rng))]


def uneven(rng: np.random.Generator) -> list[Array]:
    """Return samples whose first half of the records has a larger rate and whose second half has a smaller one."""
    rates = np.where(np.arange(RECORDS) < RECORDS // 2, 0.13, 0.07)
    return [np.flatnonzero(rng.random(RECORDS) < rates) for _ in range(STEPS)]


def rules_of(draw: Draw, node: Subsample | Allocate, seed: int = 0) -> str:
    """Return the rule that the check of some runs names."""
    rng = np.random.default_rng(seed)
    runs = [DrawnBatches.declared(draw(rng), records=RECORDS, node=node) for _ in range(RUNS)]
    return conform_batches(runs).rule


POISSON = Subsample(part=PART, rate=RATE)
FIXED = Subsample(part=PART, rate=RATE, scheme="without_replacement")
SOUND: dict[str, tuple[Draw, Subsample | Allocate]] = {
    "poisson": (poisson, POISSON),
    "fixed": (fixed, FIXED),
    "allocated": (allocated, ALLOCATED),
    "with replacement": (
        lambda rng: [rng.integers(RECORDS, size=40) for _ in range(STEPS)],
        Subsample(part=PART, rate=RATE, scheme="with_replacement", population=RECORDS, batch_size=40),
    ),
    "truncated": (
        lambda rng: [rng.permutation(batch)[:44] for batch in poisson(rng)],
        Subsample(part=PART, rate=RATE, scheme="truncated_poisson", population=RECORDS, batch_bound=44),
    ),
}
BROKEN: dict[str, tuple[Draw, Subsample | Allocate]] = {
    "a record in every batch": (lambda rng: [np.union1d(batch, [7]) for batch in poisson(rng)], POISSON),
    "records that come together": (together, POISSON),
    "batches cut to the expected size": (lambda rng: [batch[:40] for batch in poisson(rng)], POISSON),
    "batches of a fixed size": (fixed, POISSON),
    "the same batches in every epoch": (lambda rng: poisson(rng)[:10] * 4, POISSON),
    "a rate that follows the record": (uneven, POISSON),
    "Poisson samples in place of fixed sizes": (poisson, FIXED),
    "the first batch again": (lambda rng: [*fixed(rng)[:1] * 2, *fixed(rng)[2:]], FIXED),
    "dealt batches in place of allocated ones": (dealt, ALLOCATED),
    "the same allocation in every epoch": (lambda rng: allocated(rng)[:10] * 4, ALLOCATED),
    "Poisson samples in place of allocated ones": (poisson, ALLOCATED),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_sampler_that_draws_as_declared_is_left_alone(name: str) -> None:
    """False alarm: 1e-6 a check, at fixed seeds."""
    assert [rules_of(*SOUND[name], seed) for seed in range(4)] == [""] * 4


@pytest.mark.parametrize("name", BROKEN)
def test_a_sampler_that_draws_otherwise_is_found(name: str) -> None:
    """Four runs of 40 batches each."""
    assert rules_of(*BROKEN[name]) == "DPA326"


def test_records_of_unequal_rates_are_found_wherever_they_stand_in_the_data() -> None:
    """One run of 1,000 records and 100 steps, half of them with 1.6 times the rate; even rates are left alone."""
    rng = np.random.default_rng(8)
    favoured = rng.random(1_000) < 0.5

    def rule(factor: float) -> str:
        rates = 0.02 * np.where(favoured, factor, 2 - factor)
        batches = [np.flatnonzero(rng.random(1_000) < rates) for _ in range(100)]
        check = conform_batches([DrawnBatches.poisson(batches, records=1_000, rate=0.02)])
        return check.rule and check.message

    assert [rule(1.0) for _ in range(10)] == [""] * 10
    assert "of 1000 records have" in rule(1.6)


def test_dealt_batches_are_dealt_afresh_and_uniformly() -> None:
    """A loader that shuffles once, or not at all, or within halves, is found; a sound one is left alone."""
    rng = np.random.default_rng(1)
    half = RECORDS // 2

    def rule(epochs: Callable[[], list[Array]]) -> str:
        orders = [np.concatenate(epochs()) for _ in range(RUNS)]
        batches = [list(np.split(order, 40)) for order in orders]
        return conform_batches([DrawnBatches.dealt(run, records=RECORDS, number=10) for run in batches]).rule

    def halves() -> Array:
        return np.concatenate([rng.permutation(half), half + rng.permutation(half)])

    assert rule(lambda: [rng.permutation(RECORDS) for _ in range(4)]) == ""
    assert rule(lambda: [rng.permutation(RECORDS)] * 4) == "DPA326"
    assert rule(lambda: [np.arange(RECORDS)] * 4) == "DPA326"
    assert rule(lambda: [halves() for _ in range(4)]) == "DPA326"


@pytest.mark.parametrize("steps", [2, 10])
def test_repeated_positions_are_the_same_in_every_epoch(steps: int) -> None:
    """The epochs after the first one tell nothing more: they are no further draws, and they must not differ."""
    node = Allocate(part=PART, steps=steps, epochs=50, positions="repeated")
    rng = np.random.default_rng(23)

    def check(epochs: list[Array]) -> Check:
        batches = [np.flatnonzero(places == step) for places in epochs for step in range(steps)]
        return conform_batches([DrawnBatches.declared(batches, records=40, node=node)])

    honest = [check([rng.integers(steps, size=40)] * 50) for _ in range(20)]
    assert min(seen.observed for seen in honest) > 1e-3
    assert "49 epochs have other batches" in check([rng.integers(steps, size=40) for _ in range(50)]).message


def test_sizes_of_one_epoch_are_not_taken_for_independent() -> None:
    """Two batches of an epoch have the same distance from their mean; the worst of 200 honest runs is not strange."""
    node = Allocate(part=PART, steps=2, epochs=50)
    rng = np.random.default_rng(24)
    seen = [
        conform_batches([DrawnBatches.declared(batches, records=40, node=node)]).observed
        for batches in (
            [np.flatnonzero(places == step) for places in rng.integers(2, size=(50, 40)) for step in range(2)]
            for _ in range(200)
        )
    ]
    assert min(seen) > 1e-5


def test_orders_are_uniform_and_fresh() -> None:
    """Rotations, pairs that stay together, halves, and one order for all are found; uniform orders are left alone."""
    rng, users = np.random.default_rng(2), 100
    broken: dict[str, Callable[[], Array]] = {
        "rotated": lambda: np.roll(np.arange(users), int(rng.integers(users))),
        "pairs": lambda: np.ravel(rng.permutation(users // 2)[:, None] * 2 + [0, 1]),
        "halves": lambda: np.concatenate([rng.permutation(users // 2), users // 2 + rng.permutation(users // 2)]),
        "missing": lambda: rng.integers(users, size=users),
        "fixed": lambda: np.random.default_rng(5).permutation(users),
    }
    for seed in range(4):
        fresh = np.random.default_rng(seed)
        assert conform_orders([fresh.permutation(users) for _ in range(20)], users).rule == ""
    for name, draw in broken.items():
        assert conform_orders([draw() for _ in range(20)], users).rule == "DPA326", name


def test_records_can_be_dealt_one_at_a_time() -> None:
    """Batches of one record each: all are seen once an epoch, or one is missing where the first comes again."""
    rng = np.random.default_rng(3)
    sound = [np.array([record]) for record in rng.permutation(60)]
    assert conform_batches([DrawnBatches.dealt(sound, records=60, number=60)]).rule == ""
    assert conform_batches([DrawnBatches.dealt(sound[:-1] + sound[:1], records=60, number=60)]).rule == "DPA326"


def test_a_record_that_does_not_exist_is_refused() -> None:
    """One clear line."""
    with pytest.raises(ValueError, match="names record 4; there are 4"):
        conform_batches([DrawnBatches.dealt([np.array([0, 4])], records=4, number=2)])
    with pytest.raises(ValueError, match="at least one batch"):
        conform_batches([])


def watched(noise: Callable[[np.random.Generator, int], Array], seed: int = 0) -> list[str]:
    """Return the rules that conformance names for a loop whose noise of a step is `noise`, of 600 numbers."""
    rng, watch = np.random.default_rng(seed), Watch(records=200)
    for step in range(30):
        batch = np.flatnonzero(rng.random(200) < RATE)
        watch.step(noise(rng, step), np.zeros((300, 2)), batch)
    declared = Training(noise_multiplier=2, max_grad_norm=1, sample_rate=RATE, steps=30, records=200)
    return [finding.rule for finding in conform(declared, watch).findings]


def normal(rng: np.random.Generator, step: int) -> Array:
    """Return noise as declared."""
    del step
    return rng.normal(0, 2.0, (300, 2))


NOISES: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "a step without noise": lambda rng, step: normal(rng, step) * (step != 11),
    "tails cut off": lambda rng, step: np.clip(normal(rng, step), -6.0, 6.0),
    "one number in fifty exact": lambda rng, step: normal(rng, step) * (rng.random((300, 2)) > 0.02) * 1.01,
    "less noise in late steps": lambda rng, step: normal(rng, step) * (1.06 if step < 15 else 0.94),
    "Laplace noise of the same variance": lambda rng, step: rng.laplace(0, 2 / np.sqrt(2), (300, 2)) + 0.0 * step,
}


def test_normal_noise_is_left_alone() -> None:
    """False alarm: 1e-6 a run, at fixed seeds."""
    assert [watched(normal, seed) for seed in range(4)] == [[]] * 4


@pytest.mark.parametrize("name", NOISES)
def test_noise_of_the_declared_size_and_another_law_is_found(name: str) -> None:
    """30 steps of 600 numbers; the variance over all of them is within a few per cent of the declared one."""
    assert "DPA212" in watched(NOISES[name], seed=1)


def test_a_plug_ins_sampler_is_looked_at_by_the_replays() -> None:
    """The method `samplings` brings a condition, checked or violated, and a finding where it is violated."""
    from algorithms.dp_ebs import DpEbs
    from algorithms.problems import load
    from audits import replay_program

    class Sampled(DpEbs):
        """DP-EBS with a sampler beside it, which draws nothing that the algorithm needs."""

        wrong = False

        def samplings(self, problem: object) -> tuple[SamplingCase, ...]:
            """Return the one sampler."""
            draw = fixed if self.wrong else poisson
            return (SamplingCase(name="batches", node=POISSON, records=RECORDS, draw=draw),)

    class Broken(Sampled):
        """The same with batches of a fixed size."""

        wrong = True

    problem = load("bradley_terry")(arms=2)
    for kind, rules, status in ((Sampled, [], "checked"), (Broken, ["DPA326"], "violated")):
        algorithm = kind(epsilon=1.0, horizon=16, arms=2)
        seen = replay_program(algorithm, problem, algorithm.declaration(), ())
        assert [finding.rule for finding in seen.findings] == rules
        assert [c.status for c in seen.conditions if c.about == ("sampler batches",)] == [status]


def test_an_exception_of_a_sampler_is_a_finding() -> None:
    """The message names the exception."""

    def draw(rng: np.random.Generator) -> list[Array]:
        raise RuntimeError("no records")

    case = SamplingCase(name="batches", node=POISSON, records=RECORDS, draw=draw)
    found = watch_sampling(case, rng=np.random.default_rng(0))
    assert found[0].message == "'batches': The sampler ends with RuntimeError: no records"


def test_the_simulated_steps_of_dp_sgd_are_drawn_as_declared() -> None:
    """Where a record takes part in the simulated cases: by itself at each step, or once an epoch."""
    from algorithms.dp_sgd.secret_steps import AllocatedSteps, SampledSteps

    rng, runs = np.random.default_rng(4), 4000
    sampled = SampledSteps(shift=1.0, rate=RATE, steps=STEPS).moved(rng, runs)
    allotted = AllocatedSteps(shift=1.0, batches=10, steps=STEPS).moved(rng, runs)
    for moved, node in ((sampled, POISSON), (allotted, ALLOCATED)):
        batches = [np.flatnonzero(step) for step in moved.T]
        assert conform_batches([DrawnBatches.declared(batches, records=runs, node=node)]).rule == ""
        wrong = [
            np.flatnonzero(step) for step in (moved | np.roll(moved, 1, axis=1) & (rng.random(moved.shape) < 0.1)).T
        ]
        assert conform_batches([DrawnBatches.declared(wrong, records=runs, node=node)]).rule == "DPA326"
