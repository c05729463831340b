"""Certificates in rho, mu and Renyi divergences whose accountant is off by less than a millionth are not accepted."""

import json
import math
from typing import Any

import pytest
from scipy.stats import norm

from dpaudit import Allocate, Claim, Group, Release, Repeat, Sequential, Stated, Subsample, certify, verify
from dpaudit.accounting.curves import measures
from dpaudit.model.certificate import digest_of
from dpaudit.model.measures.claims import RenyiClaim, RhoClaim
from dpaudit.verifier.measured import divergences
from mechanisms import AboveThreshold, DiscreteLaplace, Exponential, Finite, Gaussian, Laplace, RandomisedResponse

GAUSSIAN = Repeat(
    part=Release(label="a", mechanism=Gaussian(stddev=3.0, l2_sensitivity=1.0, neighbours="add_remove")), times=10
)
LAPLACE = Release(label="a", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="add_remove"))
TABLE = Release(label="a", mechanism=Finite(first=(7.0, 3.0), second=(2.0, 8.0), neighbours="add_remove"))
CASES: dict[str, tuple[Any, str, str, Any]] = {
    "rho of Gaussian noise": (GAUSSIAN, "rho", "rho_between", 10 / 18),
    "mu of Gaussian noise": (GAUSSIAN, "mu", "squared_mu_between", math.sqrt(10) / 3),
    "a divergence of Gaussian noise": (GAUSSIAN, "renyi", "renyi_between", 4 * 10 / 18),
    "rho of Laplace noise": (LAPLACE, "rho", "rho_between", math.exp(-1)),
}


def gaussian_delta(mu: float, epsilon: float) -> float:
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def claimed(measure: str, value: float) -> Claim:
    """A claim in a measure, of order 4 where it needs one."""
    given: Any = {measure: ((4.0, value),) if measure == "renyi" else value}
    return Claim(**given, neighbours="add_remove")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("off", [-5e-7, 5e-7])
def test_an_accountant_that_errs_by_half_a_millionth_is_not_believed(
    case: str, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A false claim just below the truth is not verified as certified, nor a true one just above as refuted."""
    tree, measure, name, truth = CASES[case]
    right = getattr(measures, name)
    honest = certify(tree, claimed(measure, truth * (1 + 1e-6)))
    assert (honest.verdict, verify(honest.to_json()).accepted) == ("certified", True)
    power = 2 if measure == "mu" else 1

    def wrong(*given: Any) -> Any:
        return tuple(float(end) * (1 + off) ** power for end in right(*given))

    monkeypatch.setattr(measures, name, wrong)
    forged = certify(tree, claimed(measure, truth * (1 + off / 2)))
    assert forged.verdict == ("certified" if off < 0 else "refuted")
    found = verify(forged.to_json())
    assert not found.accepted
    assert found.complaints


@pytest.mark.parametrize("order", [1.5, 2.0, 30.0])
def test_a_divergence_of_a_table_is_not_contradicted(order: float) -> None:
    """Just above and below the divergence by hand; the checker may leave an upper end of a table open."""
    p, q = (0.7, 0.3), (0.2, 0.8)
    sums = [sum(a**order * b ** (1 - order) for a, b in zip(*pair, strict=True)) for pair in ((p, q), (q, p))]
    truth = math.log(max(sums)) / (order - 1)
    for factor, verdict in ((1.001, "certified"), (0.999, "refuted")):
        claim: Claim = RenyiClaim(renyi=((order, truth * factor),), neighbours="add_remove")
        certificate = certify(TABLE, claim)
        assert (certificate.verdict, verify(certificate.to_json()).complaints) == (verdict, ())


BARE = AboveThreshold(threshold_scale=1.0, query_scale=0.0, linf_sensitivity=1.0, neighbours="add_remove", horizon=2)
SHOWN: dict[str, Any] = {
    "no noise on queries": Release(label="a", mechanism=BARE),
    "a part stated of one record, for two": Group(part=Stated(rho=0.5, source="a vendor"), size=2),
    "a stated part without end, beside noise": Sequential(parts=(GAUSSIAN, Stated(epsilon=math.inf, source="x"))),
}


@pytest.mark.parametrize("tree", SHOWN)
@pytest.mark.parametrize(("measure", "name"), [(case[1], case[2]) for case in list(CASES.values())[:3]])
def test_what_hides_nothing_is_not_proved_in_any_measure(
    tree: str, measure: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An honest certificate is accepted, and one whose accountant forgets the loss that shows everything is not."""
    honest = certify(SHOWN[tree], claimed(measure, 1.0))
    assert honest.verdict in ("not_proved", "refuted")
    assert verify(honest.to_json()).accepted
    monkeypatch.setattr(measures, name, lambda *given: (0.0, 0.3))
    forged = certify(SHOWN[tree], claimed(measure, 1.0))
    assert forged.verdict in ("certified", "stated")
    assert not verify(forged.to_json()).accepted


@pytest.mark.parametrize(
    ("claim", "labels"),
    [
        (Claim(rho=0.12, neighbours="add_remove"), ["normal"]),
        (Claim(renyi=((1.01, 0.1), (100.0, 0.1)), neighbours="add_remove"), ["normal"]),
        (Claim(mu=0.5, neighbours="add_remove"), ["two-sided"]),
        (Claim(profile=((0.0, 0.2), (0.75, 0.01)), neighbours="add_remove"), ["two-sided", "normal"]),
    ],
    ids=lambda given: getattr(given, "measure", "labels"),
)
def test_the_witnesses_are_the_queries_that_attain_the_lower_ends(claim: Claim, labels: list[str]) -> None:
    """Of normal and Laplace noise of mu and shift 1/2 the former has the larger rho, the latter the larger mu."""
    normal = Release(label="normal", mechanism=Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="add_remove"))
    other = Release(label="two-sided", mechanism=Laplace(scale=2.0, l1_sensitivity=1.0, neighbours="add_remove"))
    certificate = certify(Sequential(parts=(normal, other)), claim)
    found = verify(certificate.to_json())
    assert [label for witness in certificate.witnesses for label in witness.labels] == labels
    assert (certificate.verdict, found.complaints) == ("refuted", ())


def test_of_two_infinite_ends_the_witness_is_that_of_the_larger_mass() -> None:
    rare = Release(
        label="rare", mechanism=Finite(first=(0.9, 0.1, 0.0), second=(0.9, 0.0, 0.1), neighbours="add_remove")
    )
    sure = Release(label="sure", mechanism=Finite(first=(1.0, 0.0), second=(0.5, 0.5), neighbours="add_remove"))
    certificate = certify(Sequential(parts=(rare, sure)), Claim(rho=9.0, neighbours="add_remove"))
    assert [witness.labels for witness in certificate.witnesses] == [("sure",)]
    assert verify(certificate.to_json()).accepted


@pytest.mark.parametrize("case", CASES)
def test_a_lower_end_of_0_where_a_pair_attains_twice_the_claim_is_not_accepted(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that such a certificate states is wrong, and a broken claim is left open."""
    tree, measure, name, truth = CASES[case]
    right = getattr(measures, name)
    monkeypatch.setattr(measures, name, lambda *given: (right(*given)[0] * 0, right(*given)[1]))
    found = verify(certify(tree, claimed(measure, truth / 2)).to_json())
    assert (found.verdict, found.complaints) == ("not_proved", ())
    assert any("leaves it open" in told for told in found.unconfirmed)


@pytest.mark.parametrize("measure", ["rho", "mu", "renyi"])
@pytest.mark.parametrize("tree", [LAPLACE, TABLE, Repeat(part=TABLE, times=7), Repeat(part=LAPLACE, times=5)])
def test_a_claim_at_the_upper_end_of_a_certificate_is_certified(tree: Any, measure: str) -> None:
    """The decimal of a printed upper end is no smaller than the bound that is proved."""
    printed: Any = certify(tree, claimed(measure, 1.0)).tight
    certificate = certify(tree, claimed(measure, printed.rows[0].upper))
    assert (certificate.verdict, verify(certificate.to_json()).complaints) == ("certified", ())


@pytest.mark.parametrize("order", [2.0, 16.0])
def test_the_witness_of_a_divergence_is_the_query_that_has_it(order: float) -> None:
    """Of choices with a range and counts, the pair of the choices has the larger divergence, as the checker finds."""
    choices = Release(label="b", mechanism=Exponential(epsilon=1.771, linf_sensitivity=1.0, neighbours="add_remove"))
    counts = Release(label="c", mechanism=DiscreteLaplace(scale=3.42, l1_sensitivity=2, neighbours="add_remove"))
    parts = (Repeat(part=choices, times=3), Repeat(part=counts, times=7))
    alone, both = (
        certify(tree, RenyiClaim(renyi=((order, 90.0),), neighbours="add_remove"))
        for tree in (parts[0], Sequential(parts=parts))
    )
    assert both.tight.rows[0].lower == alone.tight.rows[0].lower
    assert [witness.labels for witness in both.witnesses] == [("b",)]
    assert not verify(both.to_json()).complaints


@pytest.mark.parametrize(("order", "truth"), [(1.1, 0.02952954181511181), (2.5, 0.09632798787901771)])
def test_a_divergence_of_a_sample_is_confirmed_between_whole_orders(order: float, truth: float) -> None:
    """At rate .2 and mu 1, by a quadrature of 50 digits; a chord between whole orders is 2.3 and 1.2 times as large."""
    noise = Release(label="a", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove"))
    sample = Subsample(part=noise, rate=0.2)
    for factor, verdict in ((1 + 1e-6, "certified"), (1 - 1e-6, "refuted")):
        claim = RenyiClaim(renyi=((order, truth * factor),), neighbours="add_remove")
        certificate = certify(sample, claim)
        assert (certificate.verdict, verify(certificate.to_json()).accepted) == (verdict, True)


@pytest.mark.parametrize(("measure", "name"), [("rho", "rho_between"), ("renyi", "renyi_between")])
@pytest.mark.parametrize("off", [1.5e-7, 5e-7])
def test_an_end_just_below_what_is_proved_is_not_confirmed(
    measure: str, name: str, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of what a vendor states, which no pair is known to attain. Twin: the honest end, a ten-millionth above."""
    told = Stated(epsilon=1.0, source="a vendor")
    right = getattr(measures, name)
    honest = verify(certify(told, claimed(measure, 9.0)).to_json())
    assert honest.accepted
    monkeypatch.setattr(measures, name, lambda *given: (right(*given)[0], float(right(*given)[1]) * (1 - off)))
    found = verify(certify(told, claimed(measure, 9.0)).to_json())
    assert not found.complaints
    assert any("not confirmed" in words for words in found.unconfirmed)
    assert [any("proved side" in note for note in one.notes) for one in (honest, found)] == [True, False]


@pytest.mark.parametrize("tree", [LAPLACE, Repeat(part=LAPLACE, times=10)])
def test_a_noise_ratio_just_above_what_suffices_is_not_confirmed(tree: Any) -> None:
    """Half a thousandth less noise is not proved to be enough. Twin: the ratio of the accountant is confirmed."""
    certificate = certify(tree, Claim(epsilon=12.0, delta=1e-5, neighbours="add_remove"))
    assert verify(certificate.to_json()).accepted
    data = json.loads(certificate.to_json())
    data["slack"]["noise_ratio"] *= 1.0005
    data["slack"]["factors"][0]["noise_factor"] *= 1.0005
    data["digest"] = digest_of(data)
    found = verify(json.dumps(data))
    assert found.complaints or any("of the noise is not confirmed" in words for words in found.unconfirmed)


@pytest.mark.parametrize(
    "tree",
    [
        Subsample(part=Subsample(part=GAUSSIAN, rate=0.1), rate=0.5),
        Allocate(part=GAUSSIAN, steps=4),
        Subsample(part=Repeat(part=LAPLACE, times=3), rate=0.9),
    ],
)
def test_the_rho_of_a_hidden_draw_is_confirmed_to_be_at_most_that_of_what_it_holds(tree: Any) -> None:
    """A claim at the upper end is confirmed, and with a millionth less neither by the accountant nor by the checker."""
    most = certify(tree, claimed("rho", 0.1)).tight.rows[0].upper
    for factor, verdict in ((1.0, "certified"), (1 - 1e-6, "not_proved")):
        certificate = certify(tree, claimed("rho", most * factor))
        assert certificate.verdict == verdict
        assert verify(certificate.to_json()).accepted
    data = certify(tree, claimed("rho", most)).to_dict()
    less = json.loads(json.dumps(data).replace(json.dumps(most), json.dumps(most * (1 - 1e-6))))
    less["reasons"] = [reason.replace(f"{most!r}", f"{most * (1 - 1e-6)!r}") for reason in less["reasons"]]
    del less["digest"]
    assert not verify(json.dumps(less | {"digest": digest_of(less)})).accepted


@pytest.mark.parametrize("stddev", [3.0, 3.31, 5.2, 7.7])
@pytest.mark.parametrize("off", [0.0, -1e-15, 1e-15, -5e-7])
def test_a_claim_next_to_the_truth_is_read_alike_by_both_programs(stddev: float, off: float) -> None:
    """A double beside the ratio is not contradicted: what is refuted lies below the end as it is written."""
    noise = Release(label="a", mechanism=Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="add_remove"))
    rho, curve = (1 + off) / (2 * stddev**2), gaussian_delta(1 / stddev, 0.1) * (1 + off)
    claims = [Claim(rho=rho, neighbours="add_remove"), Claim(renyi=((4.0, 4 * rho),), neighbours="add_remove")]
    for claim in (*claims, Claim(profile=((0.1, curve),), neighbours="add_remove")):
        assert verify(certify(noise, claim).to_json()).complaints == ()


@pytest.mark.parametrize(("cells", "confirmed"), [(2_000, True), (100, False)])
def test_rho_of_tiny_losses_is_confirmed(cells: int, confirmed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """At epsilon .001 orders up to a thousand show nearly the supremum. Twin: few cells are cut."""
    response = RandomisedResponse(epsilon=1e-3, categories=4, neighbours="replace_one")
    certificate = certify(
        Release(label="answer", mechanism=response), RhoClaim(rho=3e-7, neighbours="replace_one")
    ).to_json()
    divergences._largest_of_atoms.cache_clear()
    monkeypatch.setattr(divergences, "_FLAT", cells)
    assert (not verify(certificate).unconfirmed) is confirmed
    divergences._largest_of_atoms.cache_clear()
