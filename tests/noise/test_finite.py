"""Tables of two laws, and integer noise that is cut: obvious answers, exact curves, what the checker derives again."""

from fractions import Fraction

import pytest

from dpaudit import Release, bracket_delta, fold
from dpaudit.errors import ConfigError
from dpaudit.model.codec import REFUSED, decode_declaration, decode_mechanism
from mechanisms import Finite


def table(first: tuple[float, ...], second: tuple[float, ...], dilution: float = 1.0) -> Release:
    """Return one release of a table."""
    mechanism = Finite(first=first, second=second, neighbours="replace_one", dilution=dilution)
    return Release(label="outcome", mechanism=mechanism)


def test_dilution_draws_both_laws_to_their_mean() -> None:
    """Dilution 2 of (1, 0) against (0, 1) is (3, 1) / 4 against (1, 3) / 4."""
    one, two = (
        bracket_delta(fold(node, "replace_one"), 0.3) for node in (table((1, 0), (0, 1), 2), table((3, 1), (1, 3)))
    )
    assert one == two
    with pytest.raises(ValueError, match="Expected dilution="):
        table((3, 1), (1, 3), 0.4)


@pytest.mark.parametrize(
    ("first", "second"), [((0.5, 0.6), (0.5, 0.5)), ((1, 2), (1,)), ((-1, 2), (0, 1)), ((), ()), ((0, 0), (1, 1))]
)
def test_a_table_that_is_no_law_is_refused(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    """Sums other than 1, unequal length, negative entries, nothing at all."""
    with pytest.raises(ValueError, match=r"Expected (first|second)"):
        table(first, second)


def test_decimals_sum_as_decimals() -> None:
    """Ten times 0.1 is 1, although the floats do not add up to it."""
    mechanism = Finite(first=(0.1,) * 10, second=(0.1,) * 10, neighbours="replace_one")
    assert mechanism.first == (0.1,) * 10
    assert sum(map(Fraction, mechanism.first), start=Fraction(0)) != 1


@pytest.mark.parametrize("name", [*sorted(REFUSED), "propose-test-release", "Sparse Vector", "PATE"])
def test_what_is_not_covered_is_refused_by_name(name: str) -> None:
    """One line with the reason and what to declare instead, for a mechanism and for a node."""
    said = f"{name}.*is not covered: .*(state|declare)"
    with pytest.raises(ConfigError, match=said) as mechanism:
        decode_mechanism({"name": name}, "replace_one", ("mechanism",))
    with pytest.raises(ConfigError, match=said) as node:
        decode_declaration({"node": "repeat", "times": 2, "part": {"node": name}}, "replace_one")
    assert str(node.value).startswith("declaration.part: ")
    assert "\n" not in f"{mechanism.value}{node.value}"


def test_a_name_that_nobody_refuses_is_unknown() -> None:
    """The broken twin: a misspelt node has the nearest known one, and no reason."""
    with pytest.raises(ConfigError, match="unknown node='subsampel'; did you mean 'subsample'"):
        decode_declaration({"node": "subsampel"}, "replace_one")
