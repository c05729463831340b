"""The independent checker accepts every honest certificate, and none that was forged by rule."""

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpaudit as dp
from dpaudit.configuration.config import read_config
from dpaudit.verifier import verify
from tests.checker import forging

SHIPPED = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def rejected(certificates: list[Any] | Iterator[Any]) -> tuple[list[tuple[Any, Any, tuple[str, ...]]], int]:
    """The honest certificates that the checker does not accept, and how many there were."""
    held = [(c, verify(c.to_json()).complaints) for c in certificates]
    return [(c.declaration, c.claim, complaints) for c, complaints in held if complaints], len(held)


def accepted(certificates: list[Any] | Iterator[Any]) -> tuple[list[tuple[Any, Any]], int, set[Any]]:
    """The forgeries that the checker accepts, how many there were, and by how many rules."""
    held = [(name, c.declaration, text) for c in certificates for name, text in forging.forgeries(c)]
    return [(name, tree) for name, tree, text in held if verify(text).accepted], len(held), {name for name, *_ in held}


def test_honest_certificates_are_accepted_and_forged_ones_are_not() -> None:
    """A seeded sample of what the whole corpus holds."""
    rng = np.random.default_rng(15)
    drawn = [forging.drawn(rng) for _ in range(8)]
    wrong, count = rejected(drawn)
    assert (wrong, count) == ([], 8)
    passed, count, rules = accepted(drawn[:4])
    assert passed == []
    assert count >= 80
    assert len(rules) >= 25


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-7, 1e-9])
def test_an_epsilon_next_to_the_largest_loss_is_confirmed(gap: float) -> None:
    """Three Laplace releases of a tenth, which lose three tenths at most."""
    tree = dp.Repeat(part=forging.release(forging.laplace(10.0)), times=3)
    for delta in (0.0, 1e-12):
        claim = dp.Claim(epsilon=0.3 * (1 - gap), delta=delta, neighbours="replace_one", unit=forging.UNIT)
        assert verify(dp.certify(tree, claim).to_json()).accepted


def test_no_end_meets_a_claim_that_another_end_refutes() -> None:
    """Both ends of delta just below the refuted claim: inside a wide bracket of the checker nothing else shows it."""
    claim = dp.Claim(epsilon=0.2, delta=1e-3, neighbours="replace_one", unit=forging.UNIT)
    certificate = dp.certify(forging.release(forging.laplace(1.0)), claim)
    assert certificate.verdict == "refuted"
    data = json.loads(certificate.to_json())
    data["tight"]["delta"] = {"lower": 9.999e-4, "upper": 9.999e-4}
    complaints = verify(forging.resealed(data)).complaints
    assert any("an end refutes the claim, and another end meets it" in said for said in complaints)


@pytest.mark.slow
def test_no_honest_sample_is_rejected() -> None:
    """Every sampled tree, of claims that hold and that do not."""
    wrong, count = rejected(forging.sampled())
    assert wrong == []
    assert count >= 30


@pytest.mark.slow
def test_no_honest_certificate_of_the_whole_corpus_is_rejected() -> None:
    """Every mechanism and node, claims that hold and that do not, deltas down to 1e-14, and 200 random trees."""
    rng = np.random.default_rng(16)
    wrong, count = rejected(itertools.chain(forging.honest(), (forging.drawn(rng) for _ in range(250))))
    assert wrong == []
    assert count >= 400


@pytest.mark.slow
def test_no_forgery_of_the_whole_corpus_is_accepted() -> None:
    """More than 400 forgeries by every rule from more than 40 honest certificates of every mechanism and node."""
    passed, count, rules = accepted(itertools.islice(forging.honest(), 0, None, 4))
    assert passed == []
    assert count >= 400
    assert len(rules) >= len(forging.RULES)


@pytest.mark.parametrize("fields", [{"scale": 1e-320}, {"scale": 1e-5}, {"l1_sensitivity": 2.0**63}])
def test_a_cell_with_next_to_no_noise_is_found(fields: dict[str, float]) -> None:
    """A loss of thousands of nats, or an infinite one, in one alternative beside a small one."""
    inside = forging.release(forging.laplace(9.0))
    touched = forging.release(forging.laplace(9.0, "add_remove"))
    claim = dp.Claim(epsilon=1.0, neighbours="replace_one", unit=forging.UNIT)
    data = json.loads(dp.certify(dp.Cells(inside=inside, touched=touched), claim).to_json())
    assert verify(forging.resealed(data)).accepted
    data["declaration"]["inside"]["mechanism"] |= fields
    assert not verify(forging.resealed(data)).accepted


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_the_certificate_of_a_shipped_configuration_is_confirmed(path: Path) -> None:
    """The declaration of every shipped configuration, as it is claimed."""
    subject = read_config(path).subject
    certificate = dp.certify(subject.declaration, subject.claim, effort="quick")
    verified = verify(certificate.to_json())
    assert (verified.complaints, verified.unconfirmed) == ((), ())
    assert certificate.verdict == ("refuted" if path.stem == "lplr_paper" else "certified")
