"""An event that one number of a draw decides has the probabilities of that draw's law, whatever the code does."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from audits.outputs.calls import as_run
from audits.procedures.replayed import replayed
from audits.replay.decided_events import decided_event
from audits.replay.one_call import Player
from audits.replay.positions import draw_at, known_laws, share_below
from audits.replay.recording import Recorder
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
FOUR, THREE = [1, 2, 3, 4], [1, 2, 3]

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("uniform", "laplace", "normal", "logistic", "gumbel"), (-1.0, 2.5)),
    **dict.fromkeys(("exponential", "standard_gamma", "chisquare", "standard_t", "rayleigh", "poisson"), (1.5,)),
    **dict.fromkeys(("weibull", "power", "pareto"), (1.5,)),
    **dict.fromkeys(("gamma", "beta"), (2.0, 0.7)),
    "lognormal": (0.2, 0.7),
    "triangular": (-1.0, 0.5, 3.0),
    "geometric": (0.3,),
    "binomial": (9, 0.4),
    "negative_binomial": (3, 0.4),
}


def inverse(rows: list[int], rng: np.random.Generator, scale: float) -> float:
    """A count with Laplace noise by its own inverse distribution function."""
    uniform = rng.random() - 0.5
    return len(rows) - scale * math.copysign(math.log1p(-2 * abs(uniform)), uniform)


def triangular(rows: list[int], rng: np.random.Generator) -> float:
    return len(rows) + rng.triangular(-3, 0, 3)


def in_halves(rows: list[int], rng: np.random.Generator, scale: float) -> float:
    """A count with Laplace noise in half precision, never negative."""
    return max(0.0, float(np.float16(len(rows) + rng.laplace(0.0, scale))))


def response(rows: list[int], rng: np.random.Generator, odds: float) -> list[str]:
    """Whether each of four people is there, by randomised response."""
    told = [rng.random() < odds / (1 + odds) for _ in range(4)]
    return ["there" if kept is (place < len(rows)) else "away" for place, kept in enumerate(told)]


def binomial(rows: list[int], rng: np.random.Generator) -> int:
    return len(rows) + int(rng.binomial(16, 0.5)) - 8


def enough(rows: list[int], rng: np.random.Generator) -> float:
    """A count with Laplace noise as the difference of two exponential draws."""
    return len(rows) + rng.exponential() - rng.exponential()


@pytest.mark.parametrize("law", sorted(known_laws()))
def test_positions_of_every_law_are_uniform_and_give_the_draw_back(law: str) -> None:
    """Of 1,000 draws the positions differ from a uniform law by less than chance allows once in 1e9 tests."""
    given, rng = (ARGUMENTS.get(law, ()), {"size": 1_000}), np.random.default_rng(8)
    drawn = getattr(rng, law)(*given[0], **given[1])
    shares = np.array([share_below(law, given, drawn, place) for place in range(len(drawn))])
    for part in np.linspace(0.1, 0.9, 9):  # a whole number counts by its own share on each side
        own = {float(share) for share in shares if abs(share - part) < 0.2} if drawn.dtype.kind == "i" else set[float]()
        below, at = (shares < part).mean(), max(((shares == share).mean() for share in own), default=0.0)
        assert abs(below - part) < 0.12 + at  # sqrt(log(2e10) / 2000), for 9 parts
    for place in range(20):
        again = draw_at(law, given, drawn, place, float(shares[place]))
        assert np.isclose(again[place], drawn[place])


def test_a_pinned_number_is_drawn_and_the_others_stay() -> None:
    """A recorder draws one number at its position; the numbers before and after it are those of the stream."""
    plain, pinned = (Recorder(seed=(3,), pins=pins).generator() for pins in ((), ((1, 2, 0.75),)))
    assert plain.laplace() == pinned.laplace()
    first, second = plain.uniform(0.0, 4.0, 5), pinned.uniform(0.0, 4.0, 5)
    assert np.flatnonzero(first != second).tolist() == [2]
    assert second[2] == 3.0
    assert plain.normal() == pinned.normal()


@pytest.mark.parametrize(
    ("function", "margin"),
    [
        (lambda rows, rng: inverse(rows, rng, 0.5), 0.31),
        (triangular, 0.07),
        (lambda rows, rng: in_halves(rows, rng, 0.5), 0.31),
        (lambda rows, rng: response(rows, rng, math.exp(2.0)), 0.55),
        (lambda rows, rng: float(rng.uniform(0.0, 2.0)) + len(rows), 0.49),
    ],
)
def test_the_event_has_the_probabilities_of_the_law(function: Callable[..., Any], margin: float) -> None:
    """Noise of any law, in any code, shows most of its margin; 1,000 runs have the event as often as the law says.

    Of honest code a frequency is farther away than 0.11 once in 1e9 tests.
    """
    player = Player(run=as_run(function)[0])
    found = decided_event(player, [(FOUR, THREE)], CLAIM)
    assert found is not None
    event = found[1]
    assert event.loss.margin > margin
    for side, data in enumerate((FOUR, THREE)):
        calls = [player.call(data, 5, side, number) for number in range(1_000)]
        often = np.mean([all(part.condition.holds(call) for part in event.models[side].parts) for call in calls])
        assert abs(often - event.models[side].share) < 0.11
        assert all(event.models[side].explains(call) for call in calls)


@pytest.mark.parametrize(
    "function",
    [
        lambda rows, rng: inverse(rows, rng, 1.0),
        lambda rows, rng: in_halves(rows, rng, 1.01),
        lambda rows, rng: response(rows, rng, math.e),
    ],
)
def test_enough_noise_shows_no_event(function: Callable[..., Any]) -> None:
    """Noise that the claim needs has no event beyond it."""
    assert decided_event(Player(run=as_run(function)[0]), [(FOUR, THREE)], CLAIM) is None


@pytest.mark.parametrize("leaky", [True, False])
def test_events_of_several_numbers_are_joined(*, leaky: bool) -> None:
    """Two answers of one person, each at the whole epsilon, have odds of twice the claim. Twin: each at half of it."""

    def answers(rows: list[int], rng: np.random.Generator) -> tuple[bool, bool]:
        odds = math.exp(1.0 if leaky else 0.5)
        first, second = (rng.random() < odds / (1 + odds) for _ in range(2))
        return first is (4 in rows), second is (4 in rows)

    player = Player(run=as_run(answers)[0])
    found = decided_event(player, [(FOUR, THREE)], CLAIM)
    assert (found is not None) is leaky
    if found is not None:
        kept = math.e / (1 + math.e)
        assert abs(found[1].loss.often - kept**2) < 1e-6
        assert abs(found[1].loss.seldom - (1 - kept) ** 2) < 1e-6
        looked = replayed(answers, (FOUR, THREE), None, CLAIM, runs=400, rng=np.random.default_rng(4))
        assert looked.violation is not None
        assert "2 draws of random" in looked.causes[0]
        assert not any("do not show how" in remark for remark in looked.beside)


def test_a_sum_of_two_draws_is_decided_by_none() -> None:
    """Each of two draws alone is too little noise, and the sum is enough: no event of one draw is confirmed."""
    looked = replayed(enough, (FOUR, THREE), None, CLAIM, runs=400, rng=np.random.default_rng(4))
    assert looked.violation is None


@pytest.mark.parametrize(
    ("function", "claim"),
    [
        (triangular, CLAIM),
        (lambda rows, rng: inverse(rows, rng, 0.7), CLAIM),
        (binomial, Claim(epsilon=0.5, delta=1e-6, neighbours="add_remove")),
    ],
)
def test_a_few_hundred_runs_confirm_it(function: Callable[..., Any], claim: Claim) -> None:
    """The replay of an audit of 400 runs decides, and its words name the draw."""
    looked = replayed(function, (FOUR, THREE), None, claim, runs=400, rng=np.random.default_rng(4))
    assert looked.violation is not None
    assert looked.violation.epsilon > claim.epsilon
    assert "decides it" in looked.causes[0]
    assert "test_decided_events.py" in looked.causes[0]


@pytest.mark.parametrize(("scale", "share", "leaky"), [(4.0, 1.0, True), (8.0, 1.0, False), (4.0, 0.65, False)])
def test_many_comparisons_exceed_a_claim_together(*, scale: float, share: float, leaky: bool) -> None:
    """Eight comparisons, each with a quarter of epsilon, show a law that 200 runs follow: too few runs to count it.

    Twins: each with an eighth; and records that are sampled so that the claim holds, in a stream that all are in.
    """

    def compared(rows: list[int], rng: np.random.Generator) -> list[bool]:
        count = sum(rng.random(len(rows)) < share)
        return [bool(count + rng.laplace(0.0, scale) > 3.5) for _ in range(8)]

    looked = replayed(compared, (FOUR, THREE), None, CLAIM, runs=400, rng=np.random.default_rng(4))
    assert (looked.violation is not None) is leaky
    if looked.violation is not None:
        assert looked.violation.supposed
        assert 1.5 < looked.violation.epsilon <= 2.0
        assert "5 more such events" in looked.causes[0]


def test_a_run_that_departs_from_the_positions_is_no_such_event() -> None:
    """A function that ignores the number in one run of ten is followed in none: its law is another one."""

    def rarely_other(rows: list[int], rng: np.random.Generator) -> float:
        number, other = rng.uniform(), rng.random() < 0.1
        return 0.0 if other else len(rows) + number

    player = Player(run=as_run(rarely_other)[0])
    found = decided_event(player, [(FOUR, THREE)], CLAIM)
    if found is not None:
        law = found[1].models[0]
        calls = [player.call(FOUR, 77, number) for number in range(300)]
        assert not all(law.explains(call) for call in calls)


def first_of(words: str, chances: dict[str, float], share: float) -> str:
    """A word by the inverse of its distribution function, in the order of `words`."""
    return words[int(np.searchsorted(np.cumsum([chances[word] for word in words]), share))]


def rare_word(rows: list[int], rng: np.random.Generator) -> str:
    """Each data set has its order of the words."""
    chances = {"a": 0.0012, "b": 0.0009, "c": 0.05, "d": 0.95}
    return first_of("abcd" if len(rows) % 2 else "cbad", chances, rng.random())


def rare_entry(rows: list[int], rng: np.random.Generator, often: float = 0.0012) -> list[float]:
    low, long = (1.0 - often, often) if len(rows) % 2 else (0.9967 - often, 0.0012)
    return [1.0] if low <= rng.random() < low + long else [0.0]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("function", [rare_word, rare_entry])
def test_a_rare_event_that_moves_between_two_positions_is_no_violation(function: Callable[..., Any], seed: int) -> None:
    """One draw decides an event that both data sets have as often; of one of them no position shows it."""
    rng = np.random.default_rng(seed)
    looked = replayed(function, (FOUR, THREE), None, CLAIM, runs=400, rng=rng)
    assert looked.violation is None


def test_an_event_that_one_data_set_has_more_often_is_one() -> None:
    """Twin: a draw that decides the event with a hundred times the probability is confirmed, wherever it lies."""

    def often(rows: list[int], rng: np.random.Generator) -> list[float]:
        return rare_entry(rows, rng, 0.12)

    looked = replayed(often, (FOUR, THREE), None, CLAIM, runs=400, rng=np.random.default_rng(1))
    assert looked.violation is not None
    assert looked.violation.confirmed


@pytest.mark.parametrize("leaky", [True, False])
def test_a_branch_that_few_runs_take_is_looked_at(*, leaky: bool) -> None:
    """Six runs say "few" on both data sets; one run of forty says "many", on one data set alone. Twin: on both."""

    def told(rows: list[int], rng: np.random.Generator) -> str:
        return "many" if len(rows) + rng.laplace() > 7.0 and (not leaky or 4 in rows) else "few"

    looked = replayed(told, (FOUR, THREE), None, CLAIM, runs=400, rng=np.random.default_rng(2))
    assert (looked.violation is not None) is leaky


@pytest.mark.parametrize(("cut", "leaky"), [(3.0, True), (4.0, True), (30.0, False)])
def test_noise_that_is_cut_in_its_tails_has_outputs_of_one_data_set(cut: float, *, leaky: bool) -> None:
    """Laplace noise cut at a few scales is confirmed by the outputs at one end. Twin: cut where no noise comes."""

    def within(rows: list[int], rng: np.random.Generator) -> float:
        return len(rows) + float(np.clip(rng.laplace(), -cut, cut))

    looked = replayed(within, (FOUR, THREE), None, CLAIM, runs=400, rng=np.random.default_rng(2))
    assert (looked.violation is not None) is leaky
    assert all(sighting.confirmed for sighting in [looked.violation] if sighting is not None)


@pytest.mark.parametrize("leaky", [True, False])
def test_rounding_does_not_hide_a_scale_that_follows_the_number_of_records(*, leaky: bool) -> None:
    """Two copies of a record have the mean of one, with half of the noise. Twin: divided by a public number."""

    def mean(values: Any, rng: np.random.Generator) -> float:
        total = np.clip(values, 0, 10).sum() + rng.laplace(0.0, 10.0)
        return round(float(total) / (max(len(values), 1) if leaky else 20), 2)

    values = np.linspace(0.5, 9.5, 20)
    looked = replayed(mean, None, values, CLAIM, runs=1_000, rng=np.random.default_rng(3))
    assert (looked.violation is not None) is leaky
    assert any("Equal draws move the output by" in cause for cause in looked.causes) is leaky
