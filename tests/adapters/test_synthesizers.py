"""Synthesizers of dpmm and SmartNoise, by a stand-in: MST is declared with a public domain, and a leaking one falls."""

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits import audit_case
from dpaudit import certify
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Release, Stated, walk

FIRST = pd.DataFrame({"a": [0, 1, 2] * 10, "b": [0, 1] * 15})
SECOND = pd.concat([FIRST, pd.DataFrame({"a": [9], "b": [1]})], ignore_index=True)


class MSTGM:
    """A synthesizer that draws each column uniformly from its domain; without one, from the values that occur."""

    delta = 1e-5

    def __init__(self, *, epsilon: float = 1.0, domain: dict[str, int] | None = None) -> None:
        self.epsilon, self.domain, self.sizes = epsilon, domain, dict[str, int]()

    def fit(self, frame: Any) -> None:
        """Take the domain."""
        self.sizes = self.domain or {str(name): int(frame[name].max()) + 1 for name in frame.columns}

    def generate(self, rows: int) -> Any:
        """Return a synthetic table."""
        rng = np.random.default_rng()
        return pd.DataFrame({name: rng.integers(0, size, rows) for name, size in self.sizes.items()})


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say that dpmm is installed, in version 9, with a rho of .03 for every claim."""
    module = ModuleType("dpmm.models")
    module.cdp_rho = lambda epsilon, delta: 0.03  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dpmm.models", module)
    for kind in (MSTGM, MSTWeighed):
        monkeypatch.setattr(kind, "__module__", "dpmm.models")
    monkeypatch.setattr("dpaudit.adapters.synthesizers.installed_version", lambda name: "9")


def release(model: Any) -> LibraryRelease:
    """Return the release of a synthesizer on the two tables."""
    return adapt(model, neighbours="add_remove", pair=(FIRST, SECOND), rows=100)


def verdict(found: LibraryRelease) -> str:
    """Return the verdict of a small audit."""
    return audit_case(found.case(), found.claim, runs=60, rng=np.random.default_rng(0), significance=0.01).verdict


def test_mst_with_a_public_domain_is_declared_by_its_budget() -> None:
    """Two rounds of marginals and one choice, each a third of rho; of epsilon .3 that noise proves nothing."""
    found = release(MSTGM(domain={"a": 10, "b": 2}))
    names = [node.mechanism.name for _, node in walk(found.declaration) if isinstance(node, Release)]
    assert names == ["gaussian", "exponential", "gaussian"]
    assert certify(found.declaration, found.claim).verdict == "certified"
    assert verdict(found) != "violation"
    small = release(MSTGM(epsilon=0.3, domain={"a": 10, "b": 2}))
    assert certify(small.declaration, small.claim).verdict == "refuted"


class MSTWeighed(MSTGM):
    """A synthesizer that measures marginals as dpmm 0.1.9 does: pairs with the weights of as many single columns."""

    cliques: tuple[tuple[str, ...], ...] = ()

    def _measure(self, data: Any, clique: tuple[str, ...], weight: float, flatten: Any = None) -> float:
        raise NotImplementedError

    def measure(self, data: Any, cliques: list[tuple[str, ...]], flatten: Any = None) -> list[float]:
        """Return what is measured of each clique, of weight 1 / sqrt(number of single columns)."""
        weights = np.ones(len(self.cliques)) / np.sqrt(len(self.cliques))
        return [self._measure(data, *own, flatten) for own in zip(cliques, weights, strict=False)]


def test_marginals_of_pairs_have_the_noise_that_the_library_gives_them() -> None:
    """One pair of two columns has weight 1 / sqrt 2: its noise is sqrt 2 times larger. Twin: weights that add up to 1.

    By the twin's declaration a claim of .7 would be refuted, which dpmm's own noise, mu .1748, keeps.
    """
    deviations = []
    for kind in (MSTGM, MSTWeighed):
        found = release(kind(domain={"a": 10, "b": 2})).declaration
        noises = [node.mechanism for _, node in walk(found) if isinstance(node, Release)]
        deviations.append([getattr(noise, "stddev", None) for noise in noises])
    (first, _, pairs), (same, _, more) = deviations
    assert first == pairs == same
    assert more == pytest.approx(first * np.sqrt(2), rel=1e-12)


def test_a_domain_that_the_library_takes_from_the_data_is_stated_and_found() -> None:
    """One record with a new value: sixty runs refute the claim."""
    found = release(MSTGM())
    assert isinstance(found.declaration, Stated)
    assert "domain" in found.stated_because
    assert verdict(found) == "violation"


def test_a_synthesizer_without_a_pair_is_refused_in_one_line() -> None:
    for options in ({"neighbours": "add_remove"}, {"neighbours": "replace_one", "pair": (FIRST, SECOND)}):
        with pytest.raises(UnsupportedError, match="Expected neighbours"):
            adapt(MSTGM(), **options)
