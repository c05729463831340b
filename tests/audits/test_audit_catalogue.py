"""The proving ground: no false alarm on correct mechanisms, every broken one found."""

import numpy as np
import pytest

from audits import audit_case
from audits.catalogue import catalogue

ENTRIES = catalogue()


def test_the_catalogue_is_large_and_its_names_are_unique():
    """At least 60 mechanisms, of which at least 25 are right and 25 are wrong."""
    assert len({entry.name for entry in ENTRIES}) == len(ENTRIES) >= 60
    assert sum(entry.holds for entry in ENTRIES) >= 25
    assert sum(not entry.holds for entry in ENTRIES) >= 25


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_audit_of_the_catalogue_ends_as_it_should(entry):
    """100,000 runs at significance 1e-6: a true claim falls with that probability, a false one falls."""
    result = audit_case(entry.case(), entry.claim, runs=100_000, rng=np.random.default_rng(2), significance=1e-6)
    if entry.holds:
        assert result.verdict != "violation"
    else:
        assert result.verdict == "violation"
    if entry.epsilon is not None:
        assert result.epsilon_lower <= entry.epsilon
