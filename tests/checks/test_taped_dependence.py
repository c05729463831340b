"""Tests of noise on a tape that depends on other noise, or that lies on a lattice."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audits import watch_noise
from audits.checks.laws.dependence import Drawn, dependences
from audits.checks.laws.places import places_of_noise
from audits.checks.taped_moves import moves_of, too_far
from audits.checks.taped_noise import depending, noises_of, used_twice
from audits.checks.taped_totals import multiples, too_calm
from dpaudit import Recorder
from dpaudit.model.mechanism import Array, Mechanism
from dpaudit.model.tape import RunTape
from mechanisms import DiscreteLaplace, Gaussian, Laplace

NOISE = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")
LAPLACE = Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="replace_one")
WHOLE = DiscreteLaplace(scale=1.0, l1_sensitivity=1, neighbours="replace_one")
TURNS, RUNS, ENTRIES = 6, 64, 4

Change = Callable[[Array], Array]
"""change(noise) -> what a defect makes of it; (turns, runs, entries) in and out"""


def tape_of_turns(change: Change, value: float = 0.3) -> RunTape:
    """Return a tape of one label, released turn after turn."""
    noise = change(2.0 * np.random.default_rng(5).standard_normal((TURNS, RUNS, ENTRIES)))
    tape = RunTape(seed=0)
    for turn in noise:
        exact = np.full((RUNS, ENTRIES), value)
        tape.enter(("sums",), NOISE, exact, exact + turn)
    return tape


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda noise: (noise + np.roll(noise, 1, axis=0)) / 2**0.5, "1 releases apart"),
        (lambda noise: np.where(np.arange(TURNS)[:, None, None] % 2, -noise[[0, 0, 2, 2, 4, 4]], noise), "1 releases"),
        (lambda noise: np.sign(noise) * np.abs(noise[np.arange(TURNS) // 3 * 3]), "the sizes of draws"),
    ],
)
def test_noise_that_depends_on_another_turn_is_found(change: Change, word: str) -> None:
    """A mean of two turns, the negative of the turn before, and a size that is kept have the right law each by each."""
    (finding,) = depending(noises_of(tape_of_turns(change)))
    assert (finding.rule, finding.where) == ("DPA229", "sums")
    assert word in finding.message


def test_independent_noise_is_not_accused() -> None:
    """A thousand runs of independent noise give no finding; the level is 1e-7 a run, so one would be wrong by 1e-4."""
    rng = np.random.default_rng(11)
    least = 1.0
    for _ in range(100):
        noises: tuple[tuple[Mechanism, Array], ...] = (
            (NOISE, 2.0 * rng.standard_normal((TURNS * RUNS, 1))),
            (LAPLACE, rng.laplace(0.0, 2.0, (TURNS * RUNS, 1))),
        )
        drawn = [
            Drawn(label=str(at), places=places_of_noise(mechanism, rows), runs=np.tile(np.arange(RUNS), TURNS))
            for at, (mechanism, rows) in enumerate(noises)
        ]
        found = list(dependences(drawn))
        least = min(least, len(found) * min(departure.probability for _, departure in found))
    assert least > 1e-6


def test_two_labels_that_share_signs_are_found() -> None:
    """Noise of one label whose signs follow those of another one is found, by the second label's name."""
    rng = np.random.default_rng(3)
    first, other = rng.standard_normal((2, RUNS * 5, 1))
    runs = np.repeat(np.arange(RUNS), 5)
    second = np.sign(first) * np.abs(other)
    drawn = [
        Drawn(label=label, places=places_of_noise(NOISE, 2.0 * rows), runs=runs)
        for label, rows in (("a", first), ("b", second))
    ]
    label, least = min(dependences(drawn), key=lambda found: found[1].probability)
    assert (label, least.probability < 1e-9) == ("b", True)


@pytest.mark.parametrize(("value", "accused"), [(0.3, True), (0.25, False)])
def test_a_lattice_is_a_leak_only_where_the_answers_are_not_on_it(value: float, accused: bool) -> None:
    """Noise rounded to 1/8 shows an answer's rest; where the answers are multiples too, the output is rounded."""
    tape = tape_of_turns(lambda noise: np.round(noise * 8) / 8, value=value)
    findings = [finding for finding in used_twice(noises_of(tape)) if "multiples" in finding.message]
    assert bool(findings) is accused


def released(twin: str) -> Callable[[np.random.Generator, int], Array]:
    """Return a release of four numbers around 1.5 whose scale is as declared; `twin` names what is wrong."""

    def release(rng: np.random.Generator, n_runs: int) -> Array:
        noise = 2.0 * rng.standard_normal((n_runs, 4))
        match twin:
            case "shared by entries":
                noise = np.repeat(noise[:, :1], 4, axis=1)
            case "repeats between runs":
                noise = noise[np.arange(n_runs) // 2 * 2]
            case "one side":
                noise = np.abs(noise)
            case "follows the run before":
                noise = (noise + np.roll(noise, 1, axis=0)) / 2**0.5
            case "signs of the first entry":
                noise[:, 1] = np.sign(noise[:, 0]) * np.abs(noise[:, 1])
        return 1.5 + noise

    return release


@pytest.mark.parametrize(
    "twin",
    ["shared by entries", "repeats between runs", "one side", "follows the run before", "signs of the first entry"],
)
def test_a_watch_finds_what_scales_do_not_show(twin: str) -> None:
    """Noise of the declared size that repeats, leans to one side or depends on other noise is accused."""
    seen = watch_noise(released(twin), NOISE, np.full(4, 1.5), runs=2_000, rng=np.random.default_rng(0))
    assert seen.fallen
    assert seen.departure or np.logaddexp.reduce(seen.wealth) - np.log(len(seen.wealth)) > 2


def test_a_watch_of_sound_noise_finds_nothing() -> None:
    """The look has 1e-9 of the significance: sound noise passes, whole or real, also around a large answer."""
    whole = DiscreteLaplace(scale=2.0, l1_sensitivity=1, neighbours="replace_one")
    for seed in range(10):
        rng = np.random.default_rng(seed)
        seen = watch_noise(released(""), NOISE, np.full(4, 1.5), runs=2_000, rng=rng, significance=1e-6)
        assert (seen.fallen, seen.departure) == (False, "")
        for mechanism, answer in ((whole, np.array(3)), (LAPLACE, np.array(1e9))):

            def release(
                rng: np.random.Generator, n_runs: int, mechanism: Any = mechanism, answer: Array = answer
            ) -> Array:
                return mechanism.release(np.broadcast_to(answer, n_runs), rng)

            seen = watch_noise(release, mechanism, answer, runs=2_000, rng=rng, significance=1e-6)
            assert (seen.fallen, seen.departure) == (False, "")


@pytest.mark.parametrize(("share", "accused"), [(1.0, False), (0.9, True)])
def test_sums_over_many_people_carry_the_noise_of_all_of_them(share: float, accused: bool) -> None:
    """Sums of 5,000 messages with the noise of nine tenths of the people are found; with that of all of them not."""
    users, rng = 5_000, np.random.default_rng(2)
    tape = RunTape(seed=0)
    for label, mechanism, variance in (("a", NOISE, 4.0), ("b", LAPLACE, 8.0)):
        noise = np.sqrt(users * share * variance) * rng.standard_normal((64, 160))
        tape.total(label, mechanism, users, noise)
    assert bool(list(too_calm(tape))) is accused


@pytest.mark.parametrize(("users", "accused"), [(31, True), (32, False), (33, False)])
def test_a_sum_that_is_a_multiple_of_one_message_carries_all_noise(users: int, *, accused: bool) -> None:
    """The root of 31 stands for 32 people's noise: 3 % of the variance is missing, which no few runs show otherwise."""
    tape = RunTape(seed=1)
    recorder = Recorder(tape.generator())
    noise = recorder.release("message", NOISE, np.zeros((3, 4)))
    tape.total("message", NOISE, 32, np.sqrt(users) * noise)
    found = [finding for finding in too_calm(tape) if "one message's noise" in finding.message]
    assert [finding.rule for finding in found] == (["DPA229"] if accused else [])


@pytest.mark.parametrize(("apart", "rules"), [(1.0, []), (1.01, ["DPA220"])])
def test_a_message_in_a_sum_that_is_drawn_as_one_moves_by_its_own_distance(apart: float, rules: list[str]) -> None:
    """The sum of 32 messages is on the tape over the root of 32; a message that is one percent too long is found."""
    root, tapes = np.sqrt(32), (RunTape(seed=1), RunTape(seed=1))
    for tape, answer in zip(tapes, (0.0, apart), strict=True):
        exact = np.full((3, 4), [answer, 0.0, 0.0, 0.0])
        noisy = root * Recorder(tape.generator()).release("message", NOISE, exact / root)
        tape.total("message", NOISE, 32, noisy - exact)
    assert [finding.rule for finding in too_far(moves_of(*tapes))] == rules


def test_a_sum_of_each_round_is_told_from_those_of_other_rounds() -> None:
    """Each of 300 messages has the number of its own sum. Twin: noise that stands for no sum has none."""
    tape = RunTape(seed=1)
    recorder = Recorder(tape.generator())
    for users in range(1, 301):
        noise = recorder.release("message", NOISE, np.zeros((2, 4)))
        tape.total("message", NOISE, users, np.sqrt(users) * noise)
        recorder.release("message", NOISE, np.zeros((2, 4)))
    found = multiples(tape)
    assert list(found) == list(range(0, 600, 2))
    assert np.allclose(list(found.values()), np.sqrt(np.arange(1, 301)))


def test_whole_messages_of_two_people_that_agree_by_chance_are_not_accused() -> None:
    """Where the second person's four whole numbers are 0, the sum equals one message: once in hundreds of phases."""
    equal = 0
    for seed in range(400):
        tape = RunTape(seed=seed)
        recorder = Recorder(tape.generator())
        first = recorder.release("message", WHOLE, np.zeros((1, 4), dtype=np.int64))
        total = first + WHOLE.release(np.zeros((1, 4), dtype=np.int64), recorder.rng)
        equal += bool(first.all() and np.array_equal(total, first))
        tape.total("message", WHOLE, 2, total)
        assert list(too_calm(tape)) == []
    assert equal > 0


def test_many_whole_messages_that_stand_for_two_are_found() -> None:
    """Seventy whole numbers that are none of them 0 do not agree with those of two people by chance."""
    wide = DiscreteLaplace(scale=1_000.0, l1_sensitivity=1, neighbours="replace_one")
    tape = RunTape(seed=1)
    recorder = Recorder(tape.generator())
    tape.total("message", wide, 2, recorder.release("message", wide, np.zeros((1, 70), dtype=np.int64)))
    assert any("one message's noise" in finding.message for finding in too_calm(tape))
