"""Runs whose noise is moved from one data set to the other: weighed by their noise, and followed through anything."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from audits import Settings, audit
from audits.outputs.calls import as_run
from audits.procedures.replayed import replayed
from audits.replay.conditions import Condition
from audits.replay.coupled_runs import Coupled, Coupling, coupled_event
from audits.replay.one_call import Player
from audits.replay.recording import usual_of
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
FOUR, THREE = [[1, 1, 1]] * 4, [[1, 1, 1]] * 3


def above(rows: list[list[int]], rng: np.random.Generator, noisy: bool) -> list[bool]:
    """Return which counts exceed 3, up to the first one: with noise on the threshold too, or without."""
    threshold = 3.0 + (rng.laplace(0, 2.0) if noisy else 0.0)
    answers: list[bool] = []
    for column in range(3):
        answers.append(sum(row[column] for row in rows) + rng.laplace(0, 4.0 if noisy else 2.0) > threshold)
        if answers[-1]:
            break
    return answers


def rounded(rows: Any, rng: Any, scale: float) -> int:
    return round(len(rows) + float(rng.laplace(0, scale)))


def written(rows: Any, rng: Any, scale: float) -> str:
    return f"about {len(rows) + rng.laplace(0, scale):.1f} rows"


def clamped(rows: Any, rng: Any, scale: float) -> float:
    return float(np.clip(len(rows) + rng.laplace(0, scale), 0, 5))


def largest(rows: Any, rng: Any, scale: float) -> str:
    """Return the best of three; a row raises the first one and lowers the second one."""
    scores = np.array([len(rows) - 3.5, 3.5 - len(rows), 0.0]) + rng.laplace(0, 2 * scale, 3)
    return "abc"[int(scores.argmax())]


def coupling_of(function: Any, shift: list[float], pair: Any = (FOUR, THREE)) -> Coupling:
    return Coupling(player=Player(run=as_run(function)[0]), neighbours=pair, shift=np.array(shift))


def worths(coupling: Coupling, conditions: tuple[Condition, ...], runs: int) -> tuple[float, float]:
    """Return the mean of the worth of an event at epsilon 1, and its standard error."""
    event = Coupled(coupling=coupling, conditions=conditions, side=0, stake=1.0, growth=1.0)
    calls = [[coupling.player.call(data, 5, side, n) for n in range(runs)] for side, data in enumerate((FOUR, THREE))]
    weighed = np.array([[event.heard(call, side) for call in one] for side, one in enumerate(calls)])
    each = (weighed[..., 0] - math.e * weighed[..., 1]).sum(axis=0)
    return float(each.mean()), float(each.std()) / math.sqrt(runs)


@pytest.mark.parametrize(("shift", "narrow"), [(1.0, True), (0.4, False), (-2.0, False)])
def test_the_worth_of_an_event_is_its_margin_whatever_the_shift(shift: float, narrow: bool) -> None:
    """At least 5 from 4 or 3 with Laplace noise of scale 0.5, rounded at 4.5. A shift that fits has a small variance.

    Five standard errors of 1,500 runs: a false alarm has probability 6e-7, and bias of half the margin is seen.
    """
    function = coupling_of(lambda rows, rng: rounded(rows, rng, 0.5), [shift])
    mean, error = worths(function, (Condition(name="number ", low=5.0),), 1_500)
    margin = 0.5 * math.exp(-1.0) - math.e * 0.5 * math.exp(-3.0)
    assert abs(mean - margin) < 5 * error
    assert (error < 0.006) is narrow
    assert error < margin / 5


def exponentials(rows: Any, rng: Any, scale: float) -> float:
    """A count with Laplace noise as the difference of two exponential draws."""
    return len(rows) + float(rng.exponential(scale)) - float(rng.standard_exponential()) * scale


@pytest.mark.parametrize("shift", [[1.0, 0.0], [-0.3, 0.0], [0.0, -1.0], [0.4, -0.6]])
def test_the_worth_is_exact_where_noise_begins_at_zero(shift: list[float]) -> None:
    """A couple below 0 is never drawn: its run counts as itself, whatever the shift. Five standard errors, as above."""
    function = coupling_of(lambda rows, rng: exponentials(rows, rng, 0.5), shift)
    mean, error = worths(function, (Condition(name="number ", low=5.0),), 1_500)
    assert abs(mean - (0.5 * math.exp(-2.0) - math.e * 0.5 * math.exp(-4.0))) < 5 * error


def one_sided(rows: Any, rng: Any, scale: float) -> str:
    """Return the best of two by exponential noise; a row raises the first one."""
    return max(("a", len(rows) - 3.5 + rng.exponential(scale)), ("b", rng.exponential(scale)), key=lambda one: one[1])[
        0
    ]


def truncated(rows: Any, rng: Any, scale: float) -> float:
    """Return a count with Laplace noise that is drawn again where it is large: some outputs exist on one side alone."""
    noise = 4 * scale
    while abs(noise) > 3 * scale:
        noise = float(rng.laplace(0, scale))
    return len(rows) + noise


@pytest.mark.parametrize("function", [one_sided, truncated])
def test_noise_of_one_side_and_noise_that_is_drawn_again_are_followed(function: Callable[..., Any]) -> None:
    """Half the noise of the claim, or noise that is cut off, is confirmed; enough exponential noise shows nothing."""
    scale = 0.4 if function is one_sided else 1.0
    looked = replayed(
        lambda rows, rng: function(rows, rng, scale),
        (FOUR, THREE),
        None,
        CLAIM,
        runs=2_000,
        rng=np.random.default_rng(3),
    )
    assert looked.violation is not None
    player = Player(run=as_run(lambda rows, rng: one_sided(rows, rng, 1.0))[0])
    found = coupled_event(player, [(FOUR, THREE)], CLAIM)
    assert found is None or found[1].coupled.growth < 0.002


@pytest.mark.parametrize("function", [rounded, written, clamped, largest])
def test_noise_is_followed_through_what_cuts_it(function: Callable[..., Any]) -> None:
    """Half the noise shifts the output by twice what the claim allows. Twin: the noise that it needs."""

    def shown(scale: float) -> Any:
        return coupled_event(
            Player(run=as_run(lambda rows, rng: function(rows, rng, scale))[0]), [(FOUR, THREE)], CLAIM
        )

    found = shown(0.5)
    assert found is not None
    assert found[1].coupled.growth > 0.005
    assert shown(1.0) is None


def test_draws_that_are_compared_may_all_move_together() -> None:
    """Of the three scores two move, each by one row, and not all three."""
    player = Player(run=as_run(lambda rows, rng: largest(rows, rng, 0.5))[0])
    found = coupled_event(player, [(FOUR, THREE)], CLAIM)
    assert found is not None
    assert found[1].coupled.coupling.shift == pytest.approx([1.0, -1.0, 0.0], abs=0.02)


@pytest.mark.parametrize("noisy", [False, True])
def test_a_sparse_vector_without_noise_on_its_threshold_is_found(noisy: bool) -> None:
    """In 1,000 runs. Twin: the noise of its proof."""
    result = audit(
        lambda rows, rng: above(rows, rng, noisy=noisy),
        neighbours=(FOUR, THREE),
        claim=CLAIM,
        runs=1_000,
        rng=np.random.default_rng(1),
        how=Settings(control_runs=0),
    )
    assert (result.verdict == "violation") is not noisy


@pytest.mark.parametrize("noisy", [False, True])
def test_rare_answers_of_a_long_sparse_vector_are_found(noisy: bool) -> None:
    """The first of thirty counts above a limit without noise: an answer of a few percent shows it in 5,000 runs.

    Twin: the noise of its proof.
    """
    ages = np.random.default_rng(20).integers(18, 90, 40).tolist()

    def first_large(rows: list[int], rng: np.random.Generator) -> int | None:
        limit = 22.0 + (rng.laplace(0, 2.0) if noisy else 0.0)
        scale = 4.0 if noisy else 2.0
        return next(
            (age for age in range(70, 40, -1) if sum(a >= age for a in rows) + rng.laplace(0, scale) > limit), None
        )

    oldest = ages.index(max(ages))
    pair = ages, [*ages[:oldest], *ages[oldest + 1 :]]
    found = coupled_event(Player(run=as_run(first_large)[0]), [pair], CLAIM)
    if noisy:
        assert found is None
    else:
        assert found is not None
        event = found[1].coupled
        assert event.calls_needed(event.growth, CLAIM, 1e-9) < 5_000


def positive(rows: list[Any], rng: np.random.Generator) -> float:
    noisy = 0.0
    while noisy <= 0:
        noisy = len(rows) + rng.laplace()
    return noisy


def test_a_call_without_noise_that_draws_on_and_on_gets_noise() -> None:
    """A loop that draws until it is content; with noise it is content after a few draws."""
    player = Player(run=as_run(positive)[0])
    patient, noisy = (player.call([], 1, factor=factor).draws for factor in (0.0, 1.0))
    assert len(noisy) < 20 < 2_000 < len(patient) < 2_100
    known = replace(player, usual=usual_of(noisy))
    assert 256 < len(known.call([], 1, factor=0.0).draws) < 500


def test_a_call_without_noise_that_draws_often_with_noise_as_well_gets_none() -> None:
    """The twin: a thousand single draws on one line are the program's own, and it waits for none of them."""
    player = Player(run=as_run(lambda rows, rng: sum(rng.laplace() for _ in range(1_000)))[0])
    known = replace(player, usual=usual_of(player.call([], 1).draws))
    assert known.call([], 1, factor=0.0).returned == [0.0]


def test_a_loop_that_draws_until_it_is_content_ends_without_noise_too() -> None:
    """Without noise it would draw for ever; its noise is truncated where the data say, which is a violation."""
    looked = replayed(positive, ([1], []), None, CLAIM, runs=2_000, rng=np.random.default_rng(1))
    assert looked.replay is not None


def weighted(rows: list[Any], rng: np.random.Generator, factor: float) -> str:
    """Return one of three words, by weights that grow with the number of rows for the first of them."""
    weights = np.exp([factor * (len(rows) - 3), 0.0, 0.0])
    return str(rng.choice(["a", "b", "c"], p=weights / weights.sum()))


def test_the_worth_of_a_chosen_word_is_its_exact_margin() -> None:
    """Its probability is e^2 / (e^2 + 2) from four rows and 1/3 from three, and all couples have one output.

    Five standard errors of 1,500 runs: a false alarm has probability 6e-7.
    """
    coupling = coupling_of(lambda rows, rng: weighted(rows, rng, 2.0), [])
    calls = [coupling.player.call(data, 5, side, n) for side, data in enumerate((FOUR, THREE)) for n in range(50)]
    couples = [coupling.couple(call, place // 50) for place, call in enumerate(calls)]
    assert all(one.calls[0].returned == one.calls[1].returned for one in couples)
    chosen = frozenset(call.columns["kind  text"] for call in calls if "a" in call.returned)
    mean, error = worths(coupling, (Condition(name="kind  text", values=chosen),), 1_500)
    assert abs(mean - (math.exp(2) / (math.exp(2) + 2) - math.e / 3)) < 5 * error


def test_the_probabilities_of_a_choice_are_held_against_the_claim() -> None:
    """An exponential mechanism with four times the claim. Twin: with what the claim allows."""
    for factor, broken in ((4.0, True), (1.0, False)):
        function = as_run(lambda rows, rng, factor=factor: weighted(rows, rng, factor))[0]
        found = coupled_event(Player(run=function), [(FOUR, THREE)], CLAIM)
        assert (found is not None) is broken
    broken_one, rng = (lambda rows, rng: weighted(rows, rng, 4.0)), np.random.default_rng(1)
    looked = replayed(broken_one, (FOUR, THREE), None, CLAIM, runs=400, rng=rng)
    assert "The data move the probabilities of a draw" in looked.causes[0]


def test_choices_as_often_as_there_are_rows_are_not_copied() -> None:
    """Four rows choose four times and three rows three times: each run counts as itself."""
    coupling = coupling_of(lambda rows, rng: rng.choice(2, size=len(rows), p=[0.2, 0.8]).tolist(), [])
    couple = coupling.couple(coupling.player.call(FOUR, 5), 0)
    assert couple.shares == (1.0, 0.0)


def test_runs_of_very_many_draws_leave_other_pairs_their_turn() -> None:
    """The first pair draws 1,000 times, which is too often to couple; the second one shows half of the noise."""

    def first_or_second(rows: list[Any], rng: np.random.Generator) -> int:
        return round(len(rows) + float(rng.laplace(0, 0.5, 1_000 if len(rows) > 5 else 1)[0]))

    player = Player(run=as_run(first_or_second)[0])
    found = coupled_event(player, [([1] * 7, [1] * 6), (FOUR, THREE)], CLAIM)
    assert found is not None
    assert found[0] == 1
