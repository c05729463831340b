"""Reports of claims in rho, mu, Renyi divergences and points of a profile: in their measure, and in what follows."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scipy.stats import norm

from audits import Settings, audit
from dpaudit import Certificate, Claim, Release, Sequential, Stated, certify, implied_claim, schemas
from dpaudit.certification.reading import reading_of
from dpaudit.documents.markdown import markdown
from dpaudit.documents.page import page
from dpaudit.documents.terminal import terminal, to_text
from dpaudit.ledger import Account, Ledger, store_at
from dpaudit.model.measures.claims import MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.render.budget import statement_document
from dpaudit.report import Report, render, write
from dpaudit.report.figures.axis_numbers import axis_numbers
from dpaudit.report.received.files import verify_report
from dpaudit.wording.measures import bounds_rows, uppers_phrase
from mechanisms import Gaussian, RandomisedResponse

WHO: Any = {"neighbours": "replace_one", "unit": "one person"}
SUM = Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="replace_one"))
BOTH = Sequential(parts=(SUM, replace(SUM, label="count")))
CLAIMS: dict[str, Claim] = {
    "rho": RhoClaim(rho=1.0, **WHO),
    "rho and xi": RhoClaim(rho=1.0, xi=0.5, **WHO),
    "mu": MuClaim(mu=1.4143, **WHO),
    "renyi": RenyiClaim(renyi=((2.0, 2.0), (8.0, 8.0)), **WHO),
    "profile": ProfileClaim(profile=((1.0, 0.3), (2.0, 0.2)), **WHO),
}
ON_THE_AXIS = {
    "rho and xi": "rho beside xi = 0.5",
    "renyi": "Renyi divergence of order 2",
    "profile": "delta at epsilon 1",
}
NOT_HELD: dict[str, tuple[Claim, str]] = {
    "not proved": (RhoClaim(rho=0.9, **WHO), "NOT PROVED"),
    "refuted": (MuClaim(mu=0.9, **WHO), "REFUTED"),
}


def report_of(claim: Claim, declaration: Any = BOTH, **more: Any) -> Report:
    """A report of a claim on two sums with Gaussian noise, which have rho 1 and mu sqrt(2) together."""
    return Report(certificate=certify(declaration, claim), created="2026-01-31", **more)


def valid(report: Report) -> dict[str, Any]:
    """The data of report.json, which the schema admits."""
    data: dict[str, Any] = json.loads(report.to_json())
    Draft202012Validator(schemas.load("report")).validate(data)
    return data


@pytest.mark.parametrize("name", CLAIMS)
def test_a_certified_claim_is_reported_in_its_measure_and_in_the_epsilon_that_follows(
    name: str, tmp_path: Path
) -> None:
    """Cover, certificate and derivation speak of the measure; `verify` confirms the folder."""
    claim: Any = CLAIMS[name]
    report = report_of(claim)
    data = valid(report)
    assert data["verdict"] == "CERTIFIED WITH CAVEATS"
    assert data["meaning"].startswith(f"The claim is {claim.words}")
    implied = implied_claim(claim)
    assert data["reading"]["claim"]["epsilon"] == implied.epsilon
    assert data["reading"]["tight"]["epsilon"]["upper"] <= implied.epsilon
    assert all(list(row["ends"]) == [claim.measure] for row in data["derivation"] if row["node"])
    texts = render(report)
    assert all(claim.words in texts[file] for file in ("report.html", "report.md"))
    figure = texts["figures/epsilons.svg"]
    assert f"attacked {ON_THE_AXIS.get(name, name)} on one axis" in figure
    assert "implied" not in figure
    write(report, tmp_path)
    assert not verify_report(tmp_path).complaints


@pytest.mark.parametrize("name", NOT_HELD)
def test_a_claim_that_is_not_certified_has_the_word_of_its_verdict(name: str) -> None:
    """No upper bound of a refuted claim is shown as proved; of one that is open both ends are."""
    claim, word = NOT_HELD[name]
    data = valid(report_of(claim))
    assert data["verdict"] == word
    told = {field["name"]: field["value"] for field in data["sections"][0]["fields"]}
    if word == "REFUTED":
        assert told["Mu, proved"] == "at least 1"
        assert "at most" not in data["proved"]
    else:
        assert told["Rho, proved"] == "between 0.5 and 1"


def test_a_claim_that_follows_from_what_others_state_is_reported_as_stated() -> None:
    """Epsilon 1 of somebody else has rho tanh(1/2): the word is STATED, and nothing is called proved."""
    data = valid(report_of(RhoClaim(rho=0.4622, **WHO), Stated(epsilon=1.0, source="a vendor")))
    assert data["verdict"] == "STATED"
    assert "At that word: rho" in data["proved"]
    assert "Nothing is proved" not in data["proved"]


def test_the_epsilon_that_follows_from_mu_is_that_of_the_gaussian_mechanism() -> None:
    """Independent: delta of N(0,1) against N(mu,1) at the epsilon is the delta; the twin below it is more."""
    claim = MuClaim(mu=1.0, **WHO)
    epsilon = reading_of(certify(SUM, claim), 1e-6).claim.epsilon

    def delta(at: float) -> float:
        return float(norm.cdf(0.5 - at) - math.exp(at) * norm.cdf(-0.5 - at))

    assert delta(epsilon) <= 1e-6 * (1 + 1e-9)
    assert delta(epsilon * (1 - 1e-4)) > 1e-6


def test_a_claim_in_epsilon_is_read_as_it_is() -> None:
    """The twin: no key `reading`, and the claim and brackets are those of the certificate."""
    certificate = certify(BOTH, Claim(epsilon=7.0, delta=1e-5, **WHO))
    reading = reading_of(certificate, 0.1)
    assert (reading.claim, reading.tight) == (certificate.claim, certificate.tight)
    assert "reading" not in valid(report_of(certificate.claim))


def test_what_audits_show_is_reported_against_the_claimed_measure() -> None:
    """Half the noise refutes mu = 1 as it is; delta of the audit is the one at which epsilons are read."""

    def released(value: float, rng: np.random.Generator, n_runs: int) -> Any:
        return np.round((value + rng.normal(0, 0.25, n_runs)) * 64) / 64

    claim = MuClaim(mu=1.0, **WHO)
    rng = np.random.default_rng(1)
    found = audit(released, neighbours=(0.0, 1.0), claim=claim, runs=2_000, rng=rng, how=Settings(control_runs=0))
    assert found.verdict == "violation"
    report = report_of(claim, SUM, audits=(found,))
    data = valid(report)
    assert data["verdict"] == "VIOLATION"
    assert "measured mu of at least" in data["reasons"][0]
    assert data["reading"]["claim"]["delta"] == found.delta
    assert "roc-1" in render(report)["report.html"]
    numbers = axis_numbers(report)
    assert (numbers.number, numbers.claimed, numbers.attacks[0].ceiling) == ("mu", 1.0, None)
    assert 1.0 < numbers.attacks[0].lower < 4.0
    assert found.tested is not None
    other = replace(found.tested, measure="rho")  # says nothing of mu
    translated = axis_numbers(report_of(claim, SUM, audits=(replace(found, tested=other),)))
    assert (translated.number, translated.said[:8]) == ("epsilon", "implied ")
    with pytest.raises(ValueError, match=r"its mu is 1\.0, the certificate's 2\.0"):
        report_of(MuClaim(mu=2.0, **WHO), SUM, audits=(found,))


def test_a_report_tells_what_changed_since_a_claim_in_another_measure() -> None:
    """From epsilon to rho, and from rho to another rho."""
    epsilon, first, second = (
        report_of(claim) for claim in (Claim(epsilon=7.0, delta=1e-5, **WHO), CLAIMS["rho"], RhoClaim(rho=2.0, **WHO))
    )
    changes = [
        {row[0]: row[1:] for row in valid(replace(now, previous=then.to_dict()))["sections"][-1]["grids"][0]["rows"]}
        for then, now in ((epsilon, first), (first, second))
    ]
    assert changes[0]["Claimed epsilon"] == ["7", "absent"]
    assert changes[0]["Claimed"] == ["absent", "rho = 1"]
    assert changes[1]["Claimed"] == ["rho = 1", "rho = 2"]


def test_an_account_in_rho_is_the_same_in_a_report_on_a_terminal_in_markdown_and_on_a_page(tmp_path: Path) -> None:
    """Budget, the rule of each booking and the rho so far; report.json meets its schema with any ledger."""
    ledger = Ledger(store_at(str(tmp_path / "ledger.db"), create=True))
    ledger.open(Account(name="data", budget=RhoClaim(rho=1.0, **WHO)), "2026-01-01T00:00:00+00:00")
    ledger.book("data", certify(SUM, RhoClaim(rho=0.5, **WHO)), "first", "2026-01-02T00:00:00+00:00")
    ledger.book("data", certify(SUM, Claim(epsilon=5.0, delta=1e-5, **WHO)), "second", "2026-01-03T00:00:00+00:00")
    statement = ledger.statement()
    document = statement_document(statement)
    for text in (to_text(terminal(document), 200), markdown(document), page(document)):
        plain = " ".join(text.split())
        assert all(told in plain for told in ("rho = 1", "rho = 0.5 (counted as its rho)", "rho so far at most 1"))
        assert "epsilon 5 (counted as the losses that it declares, added up)" in plain
    data = valid(replace(report_of(CLAIMS["rho"]), balance=ledger.balance("data"), ledger_head=statement.head))
    assert data["ledger"]["counts"][0]["rho_so_far"] == pytest.approx(1.0)
    shape = schemas.load("ledger")["$defs"]["account"]["properties"]
    assert schemas.load("report")["$defs"]["account_at"]["properties"].keys() == {"head", *shape}


def test_a_rho_beside_a_xi_is_named_so_wherever_its_ends_are_shown() -> None:
    """A pure epsilon has rho 0 beside a xi of its size, and not rho 0. The twin: a claim without xi names rho alone."""
    response = Release(label="answer", mechanism=RandomisedResponse(epsilon=0.9, neighbours="replace_one"))
    both, alone = (RhoClaim(rho=0.5, xi=xi, neighbours="replace_one") for xi in (0.9, 0.0))
    certificate = certify(response, both)
    assert isinstance(certificate.tight, Ends)
    read = Certificate.from_json(certificate.to_json())
    for ends in (certificate.tight, read.tight):
        assert isinstance(ends, Ends)
        assert uppers_phrase(ends) == "rho (beside xi 0.9) at most 0"
    assert bounds_rows(certificate.tight)[0][0] == "rho (beside xi 0.9)"
    ends = certify(response, alone).tight
    assert isinstance(ends, Ends)
    assert uppers_phrase(ends).startswith("rho at most 0.3")
