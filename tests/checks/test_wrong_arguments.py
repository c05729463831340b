"""Calls with wrong arguments are answered with what, where and the remedy."""

import importlib
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import audits
import mechanisms
from audits import audit, audit_anytime
from dpaudit import Claim, Release, Repeat, certify
from mechanisms import Gaussian

CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one")
NOISE = Gaussian(stddev=4.0, l2_sensitivity=1.0, neighbours="replace_one")
UNTYPED: Any = {"Claim": Claim, "Gaussian": Gaussian, "Repeat": Repeat, "certify": certify}
"""What a type checker would refuse is called without types."""

WRONG: dict[str, tuple[type[Exception], str, Any]] = {
    "fields in their order": (
        TypeError,
        r"Claim takes its fields by name: Claim\(epsilon=1.0, delta=1e-05, neighbours=...\)",
        lambda: UNTYPED["Claim"](1.0, 1e-5),
    ),
    "another spelling": (
        TypeError,
        "Claim has no field 'neighbors'; did you mean 'neighbours'",
        lambda: UNTYPED["Claim"](epsilon=1.0, neighbors="replace_one"),
    ),
    "no neighbours": (
        TypeError,
        "Gaussian needs neighbours, one of 'replace_one', 'add_remove', 'zero_out'",
        lambda: UNTYPED["Gaussian"](stddev=1.0, l2_sensitivity=1.0),
    ),
    "another library's word": (
        TypeError,
        "Gaussian has no field 'sigma'. It has stddev, l2_sensitivity, neighbours",
        lambda: UNTYPED["Gaussian"](sigma=1.0, l2_sensitivity=1.0, neighbours="replace_one"),
    ),
    "a node's fields in their order": (
        TypeError,
        r"Repeat takes its fields by name: Repeat\(part=..., times=3\)",
        lambda: UNTYPED["Repeat"](Release(label="sums", mechanism=NOISE), 3),
    ),
    "a misspelt mechanism": (ImportError, "did you mean 'Gaussian'", lambda: mechanisms.Guassian),  # type: ignore[attr-defined]
    "a name of another package": (
        ImportError,
        "write: from mechanisms import Gaussian",
        lambda: audits.Gaussian,  # type: ignore[attr-defined]
    ),
    "a number for a claim": (
        TypeError,
        r"Expected a Claim, got float: 1.0; write Claim\(epsilon=1.0",
        lambda: UNTYPED["certify"](NOISE, 1.0),
    ),
    "a number for a declaration": (
        TypeError,
        "Expected a declaration or a mechanism, got int: 3; write Release",
        lambda: UNTYPED["certify"](3, CLAIM),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_answered_with_the_right_one(name: str) -> None:
    error, text, call = WRONG[name]
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("function", [audit, audit_anytime])
def test_an_audit_asks_for_a_claim(function: Any) -> None:
    with pytest.raises(TypeError, match="Expected a Claim, got float"):
        function(lambda data, rng, n: data + rng.laplace(size=n), neighbours=(0, 1), claim=1.0, rng=RNG, runs=2000)


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("name", mechanisms.NAMES)
def test_every_mechanism_names_its_fields(name: str) -> None:
    """No mechanism takes values in their order."""
    kind = mechanisms.load(name)
    with pytest.raises(TypeError, match=f"{kind.__name__} takes its fields by name: {kind.__name__}\\(") as caught:
        kind(1)
    assert fields(kind)[0].name in str(caught.value)


def test_names_that_nobody_has_stay_attribute_errors() -> None:
    """Tools ask modules for names that none has."""
    for package in ("dpaudit", "mechanisms", "audits", "algorithms"):
        assert not hasattr(importlib.import_module(package), "pytest_plugins")


def test_an_error_inside_a_constructor_is_not_hidden() -> None:
    """The arguments fit, so that the error is that of a value."""
    with pytest.raises(ValueError, match="Expected stddev='a' to be a number"):
        UNTYPED["Gaussian"](stddev="a", l2_sensitivity=1.0, neighbours="replace_one")
