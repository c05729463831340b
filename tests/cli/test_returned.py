"""What a plug-in returns in another type or number than asked is said as such, with exit code 2."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from audits import audit
from dpaudit import Claim
from dpaudit.errors import OutputError
from dpaudit.model.transcript import returned_by

CLAIM = Claim(epsilon=1.0, neighbours="replace_one")


@pytest.mark.parametrize("kind", [[str], str, Claim, str | Claim])
@pytest.mark.parametrize("value", [None, 3, ("a", 3), ["a"], {"epsilon": 1}])
def test_a_member_that_returns_another_type_is_refused_by_name(kind: Any, value: object) -> None:
    """The message names the member and what it returned; the error is a ValueError with the code of usage."""
    with pytest.raises(OutputError, match=r"SimpleNamespace.claim returned .*; expected ") as caught:
        returned_by(SimpleNamespace(claim=lambda: value), "claim", kind)
    assert isinstance(caught.value, ValueError)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(("kind", "value"), [([str], ()), ([str], ("a",)), (Claim, CLAIM), (str | Claim, "a")])
def test_a_member_of_the_right_type_is_handed_on(kind: Any, value: object) -> None:
    """The twin: what the interface asks for passes as the same object."""
    assert returned_by(SimpleNamespace(claim=lambda: value), "claim", kind) is value


@pytest.mark.parametrize(
    "outputs",
    [
        pytest.param(lambda n_runs: np.zeros(n_runs + 1), id="one run more"),
        pytest.param(lambda n_runs: np.zeros((n_runs + 3, n_runs)), id="runs axis last"),
        pytest.param(lambda n_runs: {"sum": np.zeros(n_runs), "count": np.zeros(n_runs + 1)}, id="unequal arrays"),
        pytest.param(np.float64, id="a single number"),
    ],
)
def test_outputs_of_another_number_of_runs_are_an_error_of_the_audited_code(outputs: Any) -> None:
    """No such function ends in an internal error."""
    with pytest.raises(OutputError):
        audit(lambda data, rng, n_runs: outputs(n_runs), (0.0, 1.0), claim=CLAIM, runs=50, rng=np.random.default_rng(1))
