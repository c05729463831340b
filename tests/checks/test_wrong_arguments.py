"""Every mechanism and both audits answer a wrong call; `tests/configuration/test_common_mistakes.py` has the table."""

import importlib
from dataclasses import fields

import numpy as np
import pytest

import mechanisms
from audits import audit
from mechanisms import Gaussian

RNG = np.random.default_rng(0)


def test_an_audit_asks_for_a_claim() -> None:
    with pytest.raises(TypeError, match="Expected a Claim, got float"):
        audit(lambda data, rng, n: data + rng.laplace(size=n), neighbours=(0, 1), claim=1.0, rng=RNG, runs=2000)  # type: ignore[arg-type]


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
        Gaussian(stddev="a", l2_sensitivity=1.0, neighbours="replace_one")  # type: ignore[arg-type]
