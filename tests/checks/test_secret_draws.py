"""Facts about secret draws: they may not follow values of records, batches may not be left out, nothing tells them."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from audits import replay_program, watch_sampling
from audits.checks.sampler import sampler_seen
from dpaudit import Allocate, Claim, Declaration, Recorder, Release, Shuffle, Streams, Subsample, Transcript, certify
from dpaudit.model.case import ReplayCase, SamplingCase
from dpaudit.model.mechanism import Array
from dpaudit.training import DrawnBatches, conform_batches
from dpaudit.verifier import verify
from mechanisms import Gaussian

RECORDS, RATE, STEPS = 60, 0.2, 20
NOISE = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="add_remove")
REPORT = Release(label="sum", mechanism=NOISE)
POISSON = Subsample(part=REPORT, rate=RATE)
NODES: dict[str, Subsample | Allocate | Shuffle] = {
    "secret_sample": POISSON,
    "secret_positions": Allocate(part=REPORT, steps=5, epochs=4),
    "secret_order": Shuffle(part=REPORT, users=RECORDS),
}
Values = Callable[[Array, np.random.Generator], list[Array]]


def poisson(values: Array, rng: np.random.Generator) -> list[Array]:
    """Return Poisson samples, whatever the values are."""
    return [np.flatnonzero(rng.random(len(values)) < RATE) for _ in range(STEPS)]


def allocated(values: Array, rng: np.random.Generator) -> list[Array]:
    """Return batches of which each record picks one an epoch."""
    return [np.flatnonzero(picked == step) for picked in rng.integers(5, size=(4, len(values))) for step in range(5)]


def orders(values: Array, rng: np.random.Generator) -> list[Array]:
    """Return two uniform orders."""
    return [rng.permutation(len(values)) for _ in range(2)]


DRAWS: dict[str, Values] = {"secret_sample": poisson, "secret_positions": allocated, "secret_order": orders}


def without_extremes(values: Array, rng: np.random.Generator) -> list[Array]:
    """Return Poisson samples of the records that are not extreme."""
    return [batch[np.abs(values[batch]) < 100] for batch in poisson(values, rng)]


def of_sorted(values: Array, rng: np.random.Generator) -> list[Array]:
    """Return Poisson samples of the records in the order of their values, whose law is the same for all values."""
    return [np.argsort(values)[batch] for batch in poisson(values, rng)]


def in_another_order(values: Array, rng: np.random.Generator) -> list[Array]:
    """Return the same samples, each in the order of its values."""
    return [batch[np.argsort(values[batch])] for batch in poisson(values, rng)]


def case_of(draw: Values, kind: str = "secret_sample") -> SamplingCase:
    """Return a sampler with two further data sets."""
    values = np.linspace(0, 1, RECORDS)
    extreme, other = values.copy(), values[::-1].copy()
    extreme[7] = 1e6

    def on(data: Array) -> Callable[[np.random.Generator], list[Array]]:
        return lambda rng: draw(data, rng)

    others = (("record 8 is 1e6", on(extreme)), ("all records", on(other)))
    return SamplingCase(name="batches", node=NODES[kind], records=RECORDS, draw=on(values), runs=10, others=others)


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """A program that releases one noisy sum of a secret sample, and perhaps how many records were in it."""

    draw: Values = poisson
    kind: str = "secret_sample"
    tells: bool = False
    name: ClassVar[str] = "sampled"
    values: Array = field(default_factory=lambda: np.linspace(0, 1, RECORDS))

    def declaration(self) -> Declaration:
        """Return the node of the sampler."""
        return NODES[self.kind]

    def run(self, problem: object, streams: Streams, n_runs: int) -> Transcript:
        """Return noisy sums."""
        recorder = Recorder(streams.noise)
        sample = self.draw(self.values, streams.environment)[0]
        shown = recorder.release("sum", NOISE, np.full(n_runs, self.values[sample].sum()))
        told = {"size": np.full(n_runs, float(len(sample)))} if self.tells else {}
        return Transcript(
            n_runs=n_runs,
            arrays={"sum": shown, **told},
            views={"all": ("sum", *told)},
            trace=recorder.trace(),
            conditions=(),
        )

    def replays(self, problem: object) -> tuple[ReplayCase, ...]:
        """Return that of another sample."""

        def run(seed: int, rng: np.random.Generator, n_runs: int) -> dict[str, Array]:
            streams = Streams.spawn(rng)
            other = Streams(
                noise=streams.noise,
                actions=streams.actions,
                environment=np.random.default_rng(seed),
                public=streams.public,
            )
            return dict(self.run(None, other, n_runs).arrays)

        return (ReplayCase(name="sums", pairs=(), run=run, redrawn=((1, 2),)),)

    def samplings(self, problem: object) -> tuple[SamplingCase, ...]:
        """Return the sampler."""
        return (case_of(self.draw, self.kind),)


def statuses(program: Sampled) -> dict[str, str]:
    """Return the statuses of the secret conditions that replays decide."""
    seen: Any = replay_program(program, None, program.declaration(), ())
    return {c.kind: c.status for c in seen.conditions if c.kind.startswith("secret")}


@pytest.mark.parametrize("kind", NODES)
def test_a_secret_draw_that_was_looked_at_is_checked(kind: str) -> None:
    """Its law, other values of the records, and other draws behind the same releases."""
    assert statuses(Sampled(kind=kind, draw=DRAWS[kind])) == {kind: "checked"}


@pytest.mark.parametrize("kind", ["secret_sample", "secret_positions"])
def test_the_checker_takes_what_a_run_says_of_secret_draws(kind: str) -> None:
    """The certificate with the checked condition is accepted; without the clause on what was looked at it is not."""
    program = Sampled(kind=kind, draw=DRAWS[kind])
    seen: Any = replay_program(program, None, program.declaration(), ())
    (looked,) = (condition for condition in seen.conditions if condition.kind == kind)
    claim = Claim(epsilon=5.0, delta=1e-5, neighbours="add_remove")
    bare = replace(looked, text=looked.text.partition(" Looked at: ")[0])
    accepted = [verify(certify(NODES[kind], claim, conditions=(c,)).to_json()).accepted for c in (looked, bare)]
    assert accepted == [True, False]


@pytest.mark.parametrize("kind", NODES)
def test_a_secret_draw_of_another_law_is_violated(kind: str) -> None:
    """The first half of what is drawn comes again in place of the second half."""

    def again(values: Array, rng: np.random.Generator) -> list[Array]:
        drawn = DRAWS[kind](values, rng)
        return drawn[: len(drawn) // 2] * 2

    assert statuses(Sampled(kind=kind, draw=again)) == {kind: "violated"}


def test_a_sample_whose_size_is_published_is_violated() -> None:
    """With the same releases and another sample, another size is published."""
    assert statuses(Sampled(tells=True)) == {"secret_sample": "violated"}


def test_nothing_is_decided_without_other_values_or_other_draws() -> None:
    """A look at the law alone leaves the sentence assumed."""

    class Alone(Sampled):
        """The same without further data sets."""

        def samplings(self, problem: object) -> tuple[SamplingCase, ...]:
            """Return the sampler alone."""
            return (
                SamplingCase(name="batches", node=POISSON, records=RECORDS, draw=lambda rng: poisson(self.values, rng)),
            )

    class Mute(Sampled):
        """The same without replays."""

        def replays(self, problem: object) -> tuple[ReplayCase, ...]:
            """Return nothing."""
            return ()

    assert statuses(Alone()) == statuses(Mute()) == statuses(Sampled(draw=of_sorted)) == {}


def test_draws_that_follow_values_are_found() -> None:
    """A record that is extreme in the second data set is never drawn from it."""
    found = watch_sampling(case_of(without_extremes), rng=np.random.default_rng(0))
    assert [finding.rule for finding in found] == ["DPA326"]
    assert "record 8 is 1e6" in found[0].message


@pytest.mark.parametrize(("draw", "same"), [(poisson, 2), (in_another_order, 2), (of_sorted, None)])
def test_draws_of_the_same_law_are_left_alone(draw: Values, same: int | None) -> None:
    """False alarm: 1e-6 a sampler. Where the draws differ on the same random numbers, nothing is called checked."""
    seen = sampler_seen(case_of(draw), np.random.default_rng(0), 1e-6)
    assert (seen.wrong, seen.same) == ("", same)


def batches_of(least: float, seed: int) -> DrawnBatches:
    """Return 200 Poisson samples of which those below a share of the expected size are left out."""
    drawn = np.random.default_rng(seed).random((400, 400)) < 0.1
    kept = [np.flatnonzero(inside) for inside in drawn if inside.sum() >= least * 40]
    return DrawnBatches.poisson(kept[:200], records=400, rate=0.1)


def test_small_batches_that_are_left_out_are_found() -> None:
    """1 in 30 batches is below 75 % of the expected size, and none is left out of the honest twin."""
    check = conform_batches([batches_of(0.75, seed) for seed in range(5)])
    assert check.rule == "DPA326"
    assert "batches hold" in check.message
    assert conform_batches([batches_of(0.0, seed) for seed in range(5)]).rule == ""
