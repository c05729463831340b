"""Decisions on exact data beside published noisy numbers: outputs that no noise on the neighbour gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.outputs.calls import as_run
from audits.procedures.replayed import replayed
from audits.replay.one_call import Call, Calls, Player
from audits.replay.reachable import Reachable
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="add_remove")
DATA = np.linspace(0.0, 1.0, 30)


def stops_early(data: Any, rng: Any, leaky: bool) -> Any:
    noisy: list[float] = []
    while len(noisy) < 4:
        noisy.append(data.sum() + rng.laplace(0, 4.0))
        if abs(noisy[-1] - (data.sum() if leaky else 15)) < 2:
            break
    return noisy


def tells_the_side(data: Any, rng: Any, leaky: bool) -> Any:
    noisy = len(data) + rng.laplace()
    return {"n": noisy, "side": "over" if noisy > (len(data) if leaky else 30) else "under"}


def keeps_what_is_close(data: Any, rng: Any, leaky: bool) -> Any:
    exact = {cut: int((data > cut).sum()) for cut in (0.25, 0.75)}
    noisy = {cut: count + rng.laplace(0, 2.0) for cut, count in exact.items()}
    return {cut: value for cut, value in noisy.items() if abs(value - (exact[cut] if leaky else 15)) < 8 - 6.5 * leaky}


def returns_at_least_the_exact_one(data: Any, rng: Any, leaky: bool) -> Any:
    return float(max(len(data) if leaky else 30, len(data) + rng.laplace()))


def adds_whole_noise(data: Any, rng: Any, leaky: bool) -> Any:
    noise = rng.laplace(0, 200.0)
    return 190.0 * data.sum() + (round(noise) if leaky else noise)


def is_a_noisy_maximum(data: Any, rng: Any, leaky: bool) -> Any:
    del leaky
    noisy = [(data < 0.4).sum() + rng.laplace(), (data > 0.6).sum() + rng.laplace()]
    return int(np.argmax(noisy)), max(noisy)


def passes_a_noisy_threshold(data: Any, rng: Any, leaky: bool) -> Any:
    del leaky
    threshold, answers = 12 + rng.laplace(0, 2.0), list[bool]()
    for cut in (0.8, 0.6, 0.4, 0.2):
        answers.append(bool((data > cut).sum() + rng.laplace(0, 4.0) > threshold))
        if answers[-1]:
            break
    return answers


def rounds_and_retries(data: Any, rng: Any, leaky: bool) -> Any:
    del leaky
    first = round(len(data) + rng.laplace(0, 2.0), 1)
    return [first] if first > 29 else [first, round(len(data) + rng.laplace(0, 2.0))]


def sorts_noisy_counts(data: Any, rng: Any, leaky: bool) -> Any:
    del leaky
    counts = {"low": (data < 0.5).sum() + rng.laplace(), "high": (data >= 0.5).sum() + rng.laplace()}
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


LEAKS = (stops_early, tells_the_side, keeps_what_is_close, returns_at_least_the_exact_one, adds_whole_noise)
HONEST = (is_a_noisy_maximum, passes_a_noisy_threshold, rounds_and_retries, sorts_noisy_counts)


def seen(function: Callable[..., Any], leaky: bool) -> Any:
    def run(data: Any, rng: Any) -> Any:
        return function(data, rng, leaky)

    return replayed(run, None, DATA, CLAIM, runs=2_000, rng=np.random.default_rng(5))


@pytest.mark.parametrize("function", LEAKS)
def test_a_decision_on_exact_data_is_confirmed_by_outputs_of_one_side(function: Callable[..., Any]) -> None:
    violation = seen(function, leaky=True).violation
    assert violation is not None
    assert violation.subject in ("unreachable", "coupled runs", "decided event")
    assert violation.epsilon > 1.0


@pytest.mark.parametrize("function", [*LEAKS, *HONEST])
def test_a_decision_on_noisy_numbers_is_not(function: Callable[..., Any]) -> None:
    replay = seen(function, leaky=False)
    assert replay.violation is None
    assert replay.sound


def post_processed(data: Any, rng: Any) -> Any:
    noisy = [value + rng.laplace(0, 2.0) for value in data]
    return {"noisy": noisy, "form": "many" if sum(noisy) > 3 else len(noisy), "least": [min(noisy)] * (noisy[0] > 0)}


def reached(data: Any, call: Call) -> bool:
    calls = Calls(player=Player(run=as_run(post_processed)[0]))
    return Reachable(name="", value=1.0, side=0, calls=calls, data=data).heard(call, 0)


def compares(data: Any, rng: Any) -> Any:
    counts = [int((data > cut).sum()) for cut in np.linspace(0.05, 0.95, 10)]
    return [round(counts[0] + rng.laplace(0, 9.0)), *(bool(count + rng.laplace(0, 9.0) > 12) for count in counts[1:])]


def test_ten_compared_draws_are_chosen_at_once() -> None:
    """Fact: an output costs one call, beside two for each draw; the twin, draw after draw, takes some thirty a run."""
    made = list[int]()

    def counted(data: Any, rng: Any) -> Any:
        made.append(len(data))
        return compares(data, rng)

    player = Player(run=as_run(compares)[0])
    calls = Calls(player=Player(run=as_run(counted)[0]))
    reachable = Reachable(name="", value=1.0, side=0, calls=calls, data=DATA[1:])
    wanted = [player.call(DATA, number) for number in range(20)]
    assert all(reachable.heard(call, 0) for call in wanted)
    assert len(made) <= 1 + 2 * 10 + 3 * len(wanted)


NUMBERS = st.lists(st.floats(-9, 9), min_size=3, max_size=3)


@given(NUMBERS, NUMBERS, st.integers(0, 2**32))
def test_every_data_set_reaches_what_follows_from_noisy_numbers_alone(first: Any, second: Any, seed: int) -> None:
    """Law: whatever the exact numbers are, some noise gives the same noisy ones, and so the same output."""
    assert reached(second, Player(run=as_run(post_processed)[0]).call(first, seed))


@given(NUMBERS, st.integers(0, 2**32))
def test_the_event_reads_the_output_alone(data: Any, seed: int) -> None:
    """Law: the draws of a run do not enter what is found about its output."""
    call = Player(run=as_run(post_processed)[0]).call(data, seed)
    hidden = Call(seed=call.seed, returned=call.returned, columns=call.columns, draws=())
    assert reached(DATA[:3], call) is reached(DATA[:3], hidden)
