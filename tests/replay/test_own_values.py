"""What replays read in outputs: values that one data set alone holds, and the event that explains a violation."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits import Settings, audit
from audits.experiment.own_values import own_values
from audits.outputs.calls import row_of
from audits.outputs.fields import Fields, kind_of
from audits.procedures.telling_event import telling_event
from dpaudit import Claim

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")
PAY = [1204.0 + 37 * place for place in range(20)]


@pytest.mark.parametrize(
    ("pair", "values"),
    [
        (([23, 58, 64], [23, 58]), ({64.0}, set())),
        ((["Bern", "Chur"], ["Bern", "Genf"]), ({kind_of("Chur")}, {kind_of("Genf")})),
        (({"pay": [1.5]}, {"pay": [2.5]}), ({1.5}, {2.5})),
        ((pd.DataFrame({"pay": [1.0, 2.0]}), pd.DataFrame({"pay": [1.0, 3.0]})), ({2.0}, {3.0})),
        ((np.arange(200), np.array([])), ()),
    ],
)
def test_values_of_one_data_set_alone(pair: Any, values: Any) -> None:
    """Numbers and texts that one of two data sets holds; none where they are many."""
    assert own_values(pair).sides == tuple(map(frozenset, values))


def test_a_value_is_seen_at_any_place_of_an_output() -> None:
    """Whether an entry, a number in a text or a word holds it."""
    own = own_values(([64, "Chur"], [58, "Genf"]))
    for output in ([1.0, 64.0], "aged 64", {"town": "Chur"}):
        fields = own.beside(row_of([output]))
        assert [fields[f"mark own values {side}"].item() for side in (0, 1)] == [1.0, 0.0]


def shown(pay: list[float], rng: np.random.Generator, leaky: bool = True) -> Any:
    """Return three records of a sample in random order, or noisy ones."""
    noise = 0.0 if leaky else rng.laplace(0, 5_000.0, 3)
    return rng.choice(pay, 3, replace=False) + noise


@pytest.mark.parametrize("leaky", [False, True])
def test_records_of_a_sample_are_found(leaky: bool) -> None:
    """Each place shows the record in one run of twenty: the attack that reads places one by one does not see it."""
    result = audit(
        lambda pay, rng: shown(pay, rng, leaky),
        neighbours=(PAY, [*PAY[:-1], 9_999.0]),
        claim=CLAIM,
        runs=1_000,
        rng=np.random.default_rng(1),
        how=Settings(control_runs=0),
    )
    assert (result.verdict == "violation") is leaky
    assert any("holds a value that only the" in remark for remark in result.remarks) is leaky


def test_outputs_without_a_column_hold_no_value() -> None:
    """A function whose outputs are empty lists has nothing to look into."""
    assert own_values(([23, 58, 64], [23, 58])).beside(Fields({})) == {}


def told(function: Any, pair: tuple[Any, Any] = (0, 1)) -> str:
    return telling_event(function, pair, np.random.default_rng(3), audited=20_000)


def test_the_event_of_one_column_is_named_with_its_counts() -> None:
    """A category, a number and an exception that one data set alone shows; nothing where both have one law."""

    def word(data: int, rng: np.random.Generator, n_runs: int) -> list[str]:
        return [("tea", "rum")[data * int(rng.random() < 0.4)] for _ in range(n_runs)]

    def number(data: int, rng: np.random.Generator, n_runs: int) -> list[dict[str, float]]:
        return [{"pay": float(rng.normal()) + 9 * data} for _ in range(n_runs)]

    def raising(data: int, rng: np.random.Generator, n_runs: int) -> list[int]:
        return [1 // (1 - data * int(rng.random() < 0.5)) for _ in range(n_runs)]

    assert told(word).startswith("The output is 'rum': 0 of 400")
    assert told(number).startswith("'pay' is ")
    assert "raises ZeroDivisionError: 0 of 400" in told(raising)
    assert told(word, (1, 1)) == told(number, (0, 0)) == ""


def test_an_event_of_two_columns_is_named_where_neither_tells_alone() -> None:
    """Two fair coins, equal on one data set and independent on the other."""

    def coins(data: int, rng: np.random.Generator, n_runs: int) -> list[dict[str, int]]:
        first, second = rng.integers(0, 2, (2, n_runs))
        return [{"a": int(a), "b": int(a if data else b)} for a, b in zip(first, second, strict=True)]

    said = told(coins)
    assert "'a' = " in said
    assert " and 'b' = " in said
    assert "0 of 400 on the second" in said


def test_a_violation_opens_with_its_event() -> None:
    """An audit that an attack decides says the event first, then how it searched."""

    def rarely(data: int, rng: np.random.Generator, n_runs: int) -> Any:
        return rng.integers(0, 10, n_runs) < 3 + 4 * data

    claim = Claim(epsilon=0.5, neighbours="replace_one")
    result = audit(rarely, neighbours=(0, 1), claim=claim, runs=2_000, rng=np.random.default_rng(0))
    assert result.verdict == "violation"
    assert result.remarks[0].startswith("The output = ")


def among_made_ones(pay: list[float], rng: np.random.Generator, share: float) -> list[int]:
    """Return made values, of which one is a record's in a share of the runs."""
    made = [int(number) for number in rng.integers(0, 60, 4)]
    return [int(pay[0]), *made[1:]] if rng.random() < share else made


@pytest.mark.parametrize(("share", "found"), [(0.033, True), (0.0, False)])
def test_a_record_among_made_values_is_found_whatever_else_is_rare(share: float, found: bool) -> None:
    """Of 240 values that few runs show, some are seen on one data set alone by chance: they no longer hide it."""
    pair = [412.0, 905.0], [777.0, 905.0]
    run = partial(among_made_ones, share=share)
    result = audit(run, neighbours=pair, claim=CLAIM, runs=2_000, rng=np.random.default_rng(3))
    assert (result.verdict == "violation") is found
    assert any(remark.startswith("The output holds a value that only") for remark in result.remarks) is found
