"""Synthesizers of dpmm and SmartNoise, by a stand-in: MST is declared with a public domain, and a leaking one falls."""

import sys
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits import audit
from dpaudit import Claim, certify
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Filtered, Release, Sequential, Stated, walk
from dpaudit.model.measures.claims import RhoClaim
from dpaudit.verifier import verify

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
    for kind in (MSTGM, MSTWeighed, AIMGM):
        monkeypatch.setattr(kind, "__module__", "dpmm.models")
    monkeypatch.setattr("dpaudit.adapters.finding.installed_version", lambda name: "9")


def release(model: Any, pair: tuple[Any, Any] = (FIRST, SECOND)) -> LibraryRelease:
    """Return the release of a synthesizer on the two tables."""
    return adapt(model, neighbours="add_remove", pair=pair, rows=100)


def mechanisms(model: Any, pair: tuple[Any, Any] = (FIRST, SECOND)) -> list[Any]:
    """Return the mechanisms that a synthesizer is declared with, in order."""
    return [node.mechanism for _, node in walk(release(model, pair).declaration) if isinstance(node, Release)]


def verdict(found: LibraryRelease) -> str:
    """Return the verdict of a small audit."""
    return audit(found.case(), claim=found.claim, runs=60, rng=np.random.default_rng(0), significance=0.01).verdict


def test_mst_with_a_public_domain_is_declared_by_its_budget() -> None:
    """Two rounds of marginals, each a third of rho; of epsilon .1 that noise proves nothing."""
    found = release(MSTGM(domain={"a": 10, "b": 2}))
    assert certify(found.declaration, found.claim).verdict == "certified"
    assert verdict(found) != "violation"
    small = release(MSTGM(epsilon=0.1, domain={"a": 10, "b": 2}))
    assert certify(small.declaration, small.claim).verdict == "refuted"


def test_mst_pays_for_a_choice_only_where_there_is_one() -> None:
    """Of two columns there is one pair, and nothing to choose; of three, two choices share a third of rho.

    Noise of mu .2 is .7255 at 1e-5. Twin: with a choice among one it would be .82.
    """
    assert [noise.name for noise in mechanisms(MSTGM(domain={"a": 10, "b": 2}))] == ["gaussian", "gaussian"]
    pair = (FIRST.assign(c=0), SECOND.assign(c=0))
    kinds = mechanisms(MSTGM(domain={"a": 10, "b": 2, "c": 2}), pair)
    assert [noise.name for noise in kinds] == ["gaussian", "exponential", "gaussian"]
    assert kinds[1].epsilon == pytest.approx(np.sqrt(8 * 0.03 / 3 / 2), rel=1e-12)
    two = release(MSTGM(domain={"a": 10, "b": 2}))
    assert certify(two.declaration, Claim(mu=0.2, neighbours="add_remove")).verdict == "certified"
    epsilon = certify(two.declaration, two.claim).tight.epsilon.upper
    more = Sequential(parts=(two.declaration, Release(label="choice", mechanism=kinds[1])))
    assert epsilon == pytest.approx(0.72552, rel=1e-5)
    assert certify(more, two.claim).tight.epsilon.upper > 0.82


class AIMGM(MSTGM):
    """A synthesizer that states the settings of AIM."""

    num_marginals, max_cells, degree = None, 10_000, 2
    structural_zeros: dict[str, int]

    def __init__(self, *, rounds: int | None, **settings: Any) -> None:
        super().__init__(domain={"a": 10, "b": 2}, **settings)
        self.rounds = rounds


def test_aim_of_one_round_is_declared_by_its_budget() -> None:
    """Two columns of two rounds take nine tenths of rho .03, the choice a hundredth and its marginal the rest.

    rho is the sum of 1 / (2 variance) and of an eighth of a squared epsilon.
    """
    first, pick, last = mechanisms(AIMGM(rounds=2))
    spent = [1 / (2 * first.stddev**2), 1 / (2 * first.stddev**2), pick.epsilon**2 / 8, 1 / (2 * last.stddev**2)]
    assert spent == pytest.approx([0.0135, 0.0135, 0.0003, 0.0027], rel=1e-12)
    found = release(AIMGM(rounds=2))
    assert certify(found.declaration, found.claim).verdict == "certified"


@pytest.mark.parametrize("settings", [{"rounds": 4}, {"rounds": None}, {"num_marginals": 1}, {"max_cells": 19}])
def test_aim_that_goes_on_by_what_it_measured_is_declared_within_its_budget(settings: dict[str, Any]) -> None:
    """Its rho of .03 is proved, and the claim with it. Twins: a thousandth more of rho, or less of the claim."""
    model = AIMGM(rounds=settings.pop("rounds", 2))
    for name, value in settings.items():
        setattr(model, name, value)
    found = release(model)
    assert isinstance(found.declaration, Filtered)
    assert found.declaration.rho == 0.03
    claimed = replace(found.claim, epsilon=0.9901, delta=1e-5)
    certificate = certify(found.declaration, claimed)
    assert certificate.verdict == "certified"
    assert verify(certificate.to_json()).accepted
    assert certify(replace(found.declaration, rho=0.03003), claimed).verdict == "not_proved"
    assert certify(found.declaration, RhoClaim(rho=0.03, neighbours="add_remove")).verdict == "certified"
    assert certify(found.declaration, RhoClaim(rho=0.02999, neighbours="add_remove")).verdict == "not_proved"


def test_aim_with_structural_zeros_is_stated() -> None:
    model = AIMGM(rounds=4)
    model.structural_zeros = {"a": 1}
    found = release(model)
    assert isinstance(found.declaration, Stated)
    assert "which mechanisms" in found.stated_because


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
    kinds = (MSTGM, MSTWeighed)
    (first, pairs), (same, more) = (
        [noise.stddev for noise in mechanisms(kind(domain={"a": 10, "b": 2}))] for kind in kinds
    )
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
