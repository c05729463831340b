"""Budgets of single records as a declaration: what is proved, what a trace is admitted for, and what is refused."""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpaudit import Claim, Group, Recorder, Release, Repeat, Sequential, UnsupportedError, certify
from dpaudit.budgets.individual import IndividualFilter, gaussian_cost
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, Filtered
from dpaudit.model.trace import Released, admit
from dpaudit.verifier import verify
from mechanisms import Gaussian, Laplace, TruncatedDiscreteGaussian

NOISE = Gaussian(stddev=4.0, l2_sensitivity=2.0, neighbours="add_remove")
VISITS = Release(label="visits", mechanism=NOISE)
SHOP = Filtered(parts=(VISITS,), rho=0.1, per="record")
CUT = TruncatedDiscreteGaussian(stddev=3.0, cut=10.0, l2_sensitivity=1, neighbours="add_remove")
VALUES = {"ann": 2, "ben": 1, "eve": 0}


def run(queries: int, limit: float = 0.1) -> tuple[Released, ...]:
    """Return the trace of a site that asks again and again, where each record pays for what it adds to the sum."""
    recorder, filters = Recorder(np.random.default_rng(1)), {name: IndividualFilter(limit=limit) for name in VALUES}
    for _ in range(queries):
        total, paid = 0, {}
        for name, value in VALUES.items():
            cost = gaussian_cost(value, NOISE.stddev)
            filters[name], takes_part = filters[name].charged(cost)
            total, paid[name] = total + value * takes_part, cost * takes_part
        recorder.release("visits", NOISE, np.array([float(total)] * 2), paid=paid)
    return recorder.trace()


@pytest.mark.parametrize(
    ("tree", "rho", "verdict"),
    [
        (SHOP, 0.1, "certified"),
        (SHOP, 0.0999, "not_proved"),
        (Sequential(parts=(SHOP, Filtered(parts=(VISITS,), rho=0.2, per="record"))), 0.3, "certified"),
        (Repeat(part=SHOP, times=3), 0.3, "certified"),
        (Group(part=SHOP, size=3), 0.9, "certified"),
        (Group(part=SHOP, size=3), 0.8999, "not_proved"),
    ],
)
def test_a_budget_of_each_record_has_its_rho(tree: Declaration, rho: float, verdict: str) -> None:
    """Sites add up, and three records of one person have nine times the rho; the checker derives the same."""
    certificate = certify(tree, Claim(rho=rho, neighbours="add_remove"))
    assert certificate.verdict == verdict, certificate.reasons
    assert verify(certificate.to_json()).accepted
    kinds = [condition.kind for condition in certificate.conditions]
    assert {"own_limit", "own_costs"} <= {*kinds}
    assert "public_refusals" not in kinds


@pytest.mark.parametrize("neighbours", ["replace_one", "zero_out"])
def test_a_record_in_the_place_of_another_one_is_refused(neighbours: Neighbours) -> None:
    """Each of the two pays from a budget of its own: `tests/semantics` has a game above the rho of one."""
    noise = Gaussian(stddev=4.0, l2_sensitivity=2.0, neighbours=neighbours)
    tree = Filtered(parts=(Release(label="visits", mechanism=noise),), rho=0.1, per="record")
    with pytest.raises(UnsupportedError, match=r"'filtered_per_record' under .* budget of its own"):
        certify(tree, Claim(rho=1.0, neighbours=neighbours))


def forged() -> Iterator[dict[str, object]]:
    """Yield certificates that take the budget of a record for one of the run, and the reverse, with digests to fit."""
    for tree, other in ((SHOP, "run"), (Filtered(parts=(VISITS,), rho=0.1), "record")):
        data = json.loads(certify(tree, Claim(rho=0.1, neighbours="add_remove")).to_json())
        data["declaration"]["per"] = other
        yield data | {"digest": digest_of(data)}


def test_a_budget_that_changes_its_owner_is_not_confirmed() -> None:
    """The rule and its conditions are those of the declaration."""
    assert [verify(json.dumps(data)).accepted for data in forged()] == [False, False]


def test_a_trace_within_every_budget_is_admitted_however_often_the_site_asks() -> None:
    """Ann is left out after three queries and Ben after twelve; Eve moves nothing and never pays."""
    trace = run(40)
    assert admit(SHOP, trace) == ()
    spent = {name: sum(line.paid[name] for line in trace if line.paid) for name in VALUES}
    assert spent == {"ann": Fraction(0), "ben": 3 * Fraction(1, 32), "eve": 0}


def test_a_record_that_overspends_and_a_release_that_nobody_pays_for_are_found() -> None:
    """The twins: a device with twice the limit, and a run that says nothing of who paid."""
    over = admit(SHOP, run(40, limit=0.2))
    assert [found.rule for found in over] == ["DPA228"]
    assert "'ann' a rho of 0.125, of its own 0.1" in over[0].message
    silent = admit(SHOP, (Released(label="visits", mechanism=NOISE),))
    assert [found.rule for found in silent] == ["DPA228"]
    assert admit(Filtered(parts=(VISITS,), rho=0.1), run(40, limit=0.2)) == ()


def test_sites_that_share_a_label_have_their_budgets_together() -> None:
    """Nothing tells to which of both a release belongs; two labels are told apart."""
    other = Filtered(parts=(Release(label="sales", mechanism=NOISE),), rho=0.1, per="record")
    assert admit(Sequential(parts=(SHOP, SHOP)), run(40, limit=0.2)) == ()
    assert [found.rule for found in admit(Sequential(parts=(SHOP, other)), run(40, limit=0.2))] == ["DPA228"]


QUIET = Laplace(scale=4.0, l1_sensitivity=2.0, neighbours="add_remove")
SALES = Release(label="sales", mechanism=QUIET)
OWN_EPSILON = Filtered(parts=(SALES,), epsilon=0.5, per="record")
OWN_MU = Filtered(parts=(VISITS,), mu=0.5, per="record")


@pytest.mark.parametrize(
    ("tree", "claim", "verdict"),
    [
        (OWN_EPSILON, {"epsilon": 0.5}, "certified"),
        (OWN_EPSILON, {"epsilon": 0.4999}, "not_proved"),
        (OWN_EPSILON, {"rho": 0.1225}, "certified"),
        (Group(part=OWN_EPSILON, size=3), {"epsilon": 1.5}, "certified"),
        (OWN_MU, {"mu": 0.5}, "certified"),
        (OWN_MU, {"mu": 0.4999}, "not_proved"),
        (OWN_MU, {"rho": 0.125}, "certified"),
        (Repeat(part=OWN_MU, times=4), {"mu": 1.0}, "certified"),
        (Group(part=OWN_MU, size=3), {"mu": 1.5}, "certified"),
        (Filtered(parts=(SALES, VISITS), mu=0.5), {"mu": 0.5}, "certified"),
    ],
)
def test_budgets_of_epsilon_and_of_mu_have_their_limit(tree: Declaration, claim: dict[str, Any], verdict: str) -> None:
    """From above, and derived again; the epsilon of k records is k times as large, and mu adds up in squares."""
    certificate = certify(tree, Claim(neighbours="add_remove", **claim))
    assert certificate.verdict == verdict, certificate.reasons
    assert verify(certificate.to_json()).accepted
    assert not verify(certificate.to_json()).unconfirmed


@pytest.mark.parametrize(
    ("tree", "named"),
    [
        (Filtered(parts=(VISITS,), epsilon=0.5, per="record"), "no finite epsilon"),
        (Filtered(parts=(Release(label="cut", mechanism=CUT),), epsilon=0.5), "no finite epsilon"),
        (Filtered(parts=(Release(label="cut", mechanism=CUT),), mu=0.5, per="record"), "no finite mu"),
    ],
)
def test_what_a_budget_cannot_pay_for_is_refused_by_name(tree: Declaration, named: str) -> None:
    """Gaussian noise has no largest loss, and cut noise has outputs that one data set alone can have."""
    with pytest.raises(UnsupportedError, match=named):
        certify(tree, Claim(epsilon=1.0, delta=1e-5, neighbours="add_remove"))


def test_a_budget_that_claims_another_measure_is_not_confirmed() -> None:
    """Twins: a budget of epsilon for Gaussian noise, one of two measures, and a larger one for the same claim."""
    data = json.loads(certify(OWN_MU, Claim(mu=0.5, neighbours="add_remove")).to_json())
    for limits in ({"epsilon": 0.5}, {"mu": 0.5, "epsilon": 0.5}, {"mu": 0.6}):
        declared = {key: value for key, value in data["declaration"].items() if key != "mu"} | limits
        forged = data | {"declaration": declared}
        forged["digest"] = digest_of(forged)
        assert not verify(json.dumps(forged)).accepted
    with pytest.raises(ValueError, match="one of epsilon, rho and mu of a budget, got epsilon and mu"):
        Filtered(parts=(VISITS,), epsilon=0.5, mu=0.5)


def paid(label: str, noise: Gaussian | Laplace, price: float) -> Released:
    """Return an answer for which Ann paid so much."""
    return Released(label=label, mechanism=noise, paid={"ann": Fraction(str(price))})


def test_a_trace_is_admitted_in_the_measure_of_each_budget() -> None:
    """Squares of mu: .25 is all of mu .5. Twins: more than the limit, and a label that is paid for in two measures."""
    assert admit(OWN_EPSILON, (paid("sales", QUIET, 0.25), paid("sales", QUIET, 0.25))) == ()
    assert admit(OWN_MU, (paid("visits", NOISE, 0.25),)) == ()
    over = (*admit(OWN_EPSILON, (paid("sales", QUIET, 0.51),)), *admit(OWN_MU, (paid("visits", NOISE, 0.26),)))
    assert [finding.rule for finding in over] == ["DPA228", "DPA228"]
    assert "an epsilon of 0.51, of its own 0.5" in over[0].message
    assert "a squared mu of 0.26, of its own 0.25" in over[1].message
    both = Sequential(parts=(OWN_MU, SHOP))
    assert "in two measures" in " ".join(found.message for found in admit(both, (paid("visits", NOISE, 0.1),)))
