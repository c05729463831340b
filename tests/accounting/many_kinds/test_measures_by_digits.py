"""Claims in rho, mu and Renyi divergences beside truth of 50 digits: no true one is refuted, no false one is proved."""

import json

import pytest
from mpmath import mp

from dpaudit import Certificate, certify, verify
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Claim
from dpaudit.model.measures.claims import MuClaim, RenyiClaim, RhoClaim
from tests.accounting.many_kinds.measure_truths import DIGITS, Truth, rho, truths

ROOM = 1e-6


def claimed(truth: Truth, value: float) -> Claim:
    """A claim of one number."""
    if truth.measure == "rho":
        return RhoClaim(rho=value, neighbours="replace_one")
    if truth.measure == "mu":
        return MuClaim(mu=value, neighbours="replace_one")
    return RenyiClaim(renyi=((truth.order, value),), neighbours="replace_one")


def forged(honest: Certificate, truth: Truth, value: float) -> str:
    """The certificate of a true claim, of which claim, upper end and reason are rewritten to a smaller number."""
    end = honest.tight.rows[0]
    true = certify(honest.declaration, claimed(truth, end.upper * 2))
    data = json.loads(true.to_json())
    rows = data["tight"][truth.measure]
    row = rows[0] if truth.measure == "renyi" else rows
    row["upper"], row["lower"] = value, min(row["lower"], value)
    number = data["claim"][truth.measure]
    data["claim"][truth.measure] = [number[0] | {"epsilon": value}] if truth.measure == "renyi" else value
    name = f"the Renyi divergence of order {_plain(truth.order)}" if truth.measure == "renyi" else truth.measure
    said = f"{value!r}"
    data["reasons"] = [f"Of the declared releases {name} is proved to be at most {said}, within the claimed {said}."]
    del data["digest"]
    return json.dumps(data | {"digest": digest_of(data)})


def _plain(value: float) -> str:
    return repr(value).removesuffix(".0")


def wrong(truth: Truth) -> list[str]:
    """What is wrong with the verdicts on a claim just above the truth, and on one just below."""
    found = []
    with mp.workdps(DIGITS):
        above, below = float(truth.value * (1 + mp.mpf(ROOM))), float(truth.value * (1 - mp.mpf(ROOM)))
    true, false = certify(truth.declaration, claimed(truth, above)), certify(truth.declaration, claimed(truth, below))
    if true.verdict != "certified" or not verify(true.to_json()).accepted:
        found.append(f"true: {true.verdict} {verify(true.to_json()).unconfirmed}")
    if false.verdict != "refuted" or not verify(false.to_json()).accepted:
        found.append(f"false: {false.verdict} {verify(false.to_json()).unconfirmed}")
    if verify(forged(true, truth, float(f"{below * 0.999:.5g}"))).accepted:
        found.append("a forged certificate is accepted")
    return found


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 40))])
def test_verdicts_in_other_measures_agree_with_fifty_digits(seed: int) -> None:
    """A claim a millionth above the truth is certified, one below is refuted, and the checker says the same."""
    with mp.workdps(DIGITS):
        drawn = list(truths(seed, 8))
    for truth in drawn:
        assert not wrong(truth), truth


def test_the_truth_is_that_of_a_published_table() -> None:
    """(.5, .5) against (1 - e^-2/2, e^-2/2): rho .72753, at order 1.456; the limit at order 1 is smaller."""
    rare = mp.exp(-2) / 2
    assert float(rho([mp.mpf("0.5")] * 2, [1 - rare, rare])) == pytest.approx(0.72753, abs=2e-5)
