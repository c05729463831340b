"""Claims: what may be claimed, and which proof carries over to which claim."""

import math

import pytest

from dpaudit import Claim


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"epsilon": -math.inf}, "epsilon=-inf"),
        ({"epsilon": True}, "epsilon=True"),
        ({"epsilon": "1"}, "epsilon='1'"),
        ({"neighbours": "swap"}, "neighbours='swap'"),
        ({"model": "shuffle"}, "model='shuffle'"),
        ({"unit": " "}, "unit"),
    ],
)
def test_a_bad_claim_is_refused_by_name_and_value(fields: dict[str, object], named: str) -> None:
    good: dict[str, object] = {"epsilon": 1.0, "delta": 0.0, "neighbours": "replace_one"}
    with pytest.raises(ValueError, match=named):
        Claim(**(good | fields))  # type: ignore[call-overload]


def test_integer_and_float_parameters_make_equal_claims() -> None:
    assert Claim(epsilon=1, neighbours="replace_one") == Claim(epsilon=1.0, neighbours="replace_one")


@pytest.mark.parametrize(
    ("proved", "claimed", "neighbours", "holds"),
    [
        ("local", "central", "replace_one", True),
        ("local", "central", "add_remove", False),
        ("central", "joint", "replace_one", True),
        ("joint", "central", "replace_one", False),
        ("central", "local", "replace_one", False),
        ("local", "local", "add_remove", True),
    ],
)
def test_a_stronger_model_implies_a_weaker_one_and_never_the_reverse(
    proved: str, claimed: str, neighbours: str, holds: bool
) -> None:
    claim = Claim(epsilon=1, neighbours=neighbours, model=claimed)  # type: ignore[call-overload]
    assert claim.implied_by(proved) is holds
