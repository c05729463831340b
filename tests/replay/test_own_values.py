"""A record that is shown as it is leaks wherever it stands: the attack sees values that one data set alone holds."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits import Settings, audit
from audits.experiment.own_values import own_values
from audits.outputs.calls import row_of
from audits.outputs.fields import Fields, kind_of
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
