"""Claims in rho, mu, Renyi divergences and points of a profile: proved, refuted or neither, in their own measure."""

import copy
import json
import math
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry

from dpaudit import Claim, Release, Repeat, Sequential, Stated, Subsample, certify, schemas
from dpaudit.accounting.calibration import smallest_noise
from dpaudit.accounting.curves.concentrated import rho_of_range
from dpaudit.certification.certificate import Certificate
from dpaudit.errors import ConfigError, UnsupportedError
from dpaudit.model.certificate import digest_of
from dpaudit.model.claim import Neighbours
from dpaudit.model.codec import decode_claim, encode
from dpaudit.model.declaration import Declaration, Group, scaled
from dpaudit.model.measures.claims import MuClaim, ProfileClaim, RenyiClaim, RhoClaim
from dpaudit.verifier import verify
from mechanisms import Finite, Gaussian, Laplace, RandomisedResponse

RELATION: Neighbours = "replace_one"
SUM = Release(label="sum", mechanism=Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours=RELATION))
COUNT = Release(label="count", mechanism=Laplace(scale=1.0, l1_sensitivity=1.0, neighbours=RELATION))
ANSWER = Release(label="answer", mechanism=RandomisedResponse(epsilon=1.0, neighbours=RELATION))
FOUR = Repeat(part=SUM, times=4)
TOLD = Stated(epsilon=1.0, source="a vendor")
LAPLACE_RHO, ANSWER_RHO = math.exp(-1), math.tanh(0.5)


def rho(value: float) -> RhoClaim:
    """A claim in rho."""
    return RhoClaim(rho=value, neighbours=RELATION)


def mu(value: float) -> MuClaim:
    """A claim in mu."""
    return MuClaim(mu=value, neighbours=RELATION)


@pytest.mark.parametrize(
    ("declaration", "claim", "verdict"),
    [
        (SUM, rho(0.5), "certified"),
        (SUM, rho(0.4999999), "refuted"),
        (FOUR, rho(2.0), "certified"),
        (FOUR, mu(2.0), "certified"),
        (FOUR, mu(1.9999999), "refuted"),
        (COUNT, rho(LAPLACE_RHO * (1 + 1e-6)), "certified"),
        (COUNT, rho(LAPLACE_RHO * (1 - 1e-6)), "refuted"),
        (ANSWER, rho(ANSWER_RHO * (1 + 1e-6)), "certified"),
        (ANSWER, rho(ANSWER_RHO * (1 - 1e-6)), "refuted"),
        (COUNT, mu(math.sqrt(2 * LAPLACE_RHO)), "refuted"),
        (COUNT, mu(1.03007), "certified"),
        (SUM, RenyiClaim(renyi=((2.0, 1.0), (3.0, 1.5)), neighbours=RELATION), "certified"),
        (SUM, RenyiClaim(renyi=((2.0, 1.0), (3.0, 1.49)), neighbours=RELATION), "refuted"),
        (SUM, ProfileClaim(profile=((1.0, 0.1270), (2.0, 0.021)), neighbours=RELATION), "certified"),
        (SUM, ProfileClaim(profile=((1.0, 0.1269), (2.0, 0.021)), neighbours=RELATION), "refuted"),
        (TOLD, rho(0.4622), "stated"),
        (TOLD, rho(0.4621), "not_proved"),
        (Stated(epsilon=0.1, delta=1e-9, source="a vendor"), rho(9.0), "not_proved"),
        (Sequential(parts=(SUM, TOLD)), rho(1.0), "stated"),
        (Sequential(parts=(SUM, TOLD)), rho(0.4), "refuted"),
    ],
)
def test_the_verdict_is_that_of_the_measure(declaration: Declaration, claim: Claim, verdict: str) -> None:
    """Equality counts as met, rationals are compared as rationals, and the checker comes to the same verdict."""
    certificate = certify(declaration, claim)
    assert certificate.verdict == verdict, certificate.reasons
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert not verify(certificate.to_json()).complaints
    if verdict == "refuted":
        assert certificate.witnesses


def test_a_sample_saves_nothing_in_rho_and_mu() -> None:
    """Rho of a sampled Gaussian release stays that of the whole one; rho times the squared rate is refuted."""
    noise = Gaussian(stddev=1.0, l2_sensitivity=1.0, neighbours="add_remove")
    present = Release(label="sum", mechanism=noise)
    rare = Subsample(part=present, rate=0.01)
    for claim, verdict in ((0.5, "certified"), (0.5 * 0.01**2, "refuted")):
        assert certify(rare, RhoClaim(rho=claim, neighbours="add_remove")).verdict == verdict
    for size, verdict in ((1.0, "certified"), (0.99, "refuted")):
        assert certify(rare, MuClaim(mu=size, neighbours="add_remove")).verdict == verdict


def test_the_rho_of_a_table_is_known_to_a_millionth_from_both_sides() -> None:
    """(.5, .5) against (.9323, .0677): .7272837, at an order of about 1.456."""
    table = Finite(first=(0.5, 0.5), second=(0.9323, 0.0677), neighbours=RELATION)
    ends: Any = certify(Release(label="table", mechanism=table), rho(1.0)).tight
    (end,) = ends.rows
    assert 0.7272837 - 1e-6 <= end.lower <= 0.7272838
    assert 0 <= end.upper - end.lower <= 1e-6


@pytest.mark.parametrize(
    ("span", "value"),
    [(0.1, 0.00124982643), (0.5, 0.0311420923), (1, 0.1233015615), (2, 0.4744746471), (8, 4.92290754)],
)
def test_the_rho_of_a_bounded_range(span: float, value: float) -> None:
    low, high = rho_of_range(span)
    assert low <= high <= low * (1 + 1e-9)
    assert high == pytest.approx(value, rel=1e-8)


def test_a_mass_on_one_side_refutes_every_finite_rho() -> None:
    """An output that only one neighbour has makes rho and mu infinite, however rare it is."""
    table = Finite(first=(1 - 1e-9, 1e-9), second=(1.0, 0.0), neighbours=RELATION)
    for claim in (rho(100.0), mu(100.0)):
        certificate = certify(Release(label="leak", mechanism=table), claim)
        assert certificate.verdict == "refuted"
        assert "happens on one side only" in certificate.reasons[0]
        assert not verify(certificate.to_json()).complaints


@pytest.mark.parametrize(
    "given",
    [
        {"rho": 0.5},
        {"rho": 0.5, "xi": 0.1},
        {"mu": 1},
        {"renyi": {"order": 2, "epsilon": 0.5}},
        {"renyi": [{"order": 2, "epsilon": 0.5}, {"order": 3, "epsilon": 1}]},
        {"profile": [{"epsilon": 1, "delta": 1e-5}]},
    ],
)
def test_a_claim_keeps_its_measure_through_json(given: dict[str, Any]) -> None:
    """One form: by keyword, from a table, and back; it has no epsilon that could be read by mistake."""
    claim = decode_claim(given | {"neighbours": RELATION})
    assert decode_claim(encode(claim)) == claim == copy.deepcopy(claim)
    assert encode(claim)["measure"] in given
    with pytest.raises(UnsupportedError, match="the claim is"):
        _ = claim.epsilon


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rho": 0.5, "epsilon": 1.0}, "got epsilon and rho"),
        ({"rho": 0.5, "mu": 1.0}, "got rho and mu"),
        ({"rho": -1.0}, "rho=-1"),
        ({"renyi": [{"order": 1, "epsilon": 0.5}]}, "order=1"),
        ({"profile": []}, "Expected profile to list"),
        ({"rho": 0.5, "xii": 1.0}, "did you mean 'xi'"),
    ],
)
def test_two_measures_and_odd_numbers_are_refused_by_name(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        decode_claim(given | {"neighbours": RELATION})


@pytest.mark.parametrize("claim", [rho(0.5), mu(1.0), RenyiClaim(renyi=((2.0, 1.0),), neighbours=RELATION)])
def test_a_forged_end_in_a_measure_is_no_accepted_certificate(claim: Claim) -> None:
    """A smaller claim with smaller ends, and a verdict that does not follow: the checker's own bounds say no."""
    honest = certify(SUM, claim)
    Draft202012Validator(schemas.load("certificate"), registry=Registry()).validate(json.loads(honest.to_json()))
    assert verify(honest.to_json()).accepted
    measure = honest.to_dict()["claim"]["measure"]
    for factor in (0.5, 0.99):
        text = honest.to_json().replace(": 0.5", f": {0.5 * factor}").replace(": 1.0,", f": {factor},")
        data = json.loads(text)
        held = data["tight"][measure]
        for end in held if isinstance(held, list) else [held]:
            end |= {"lower": 0.0, "upper": end["upper"] * (factor if factor < end["upper"] else 1)}
        data["declaration"] = honest.to_dict()["declaration"]
        assert not verify(json.dumps(data | {"digest": digest_of(data)})).accepted


@pytest.mark.parametrize("release", [SUM, COUNT, ANSWER], ids=lambda release: str(release.label))
@pytest.mark.parametrize(
    "claim",
    [rho(0.1), mu(0.5), RenyiClaim(renyi=((2.0, 0.2), (4.0, 0.3)), neighbours=RELATION)],
    ids=lambda claim: str(claim.measure),
)
def test_the_calibrated_noise_certifies_and_a_little_less_is_refuted(release: Release, claim: Claim) -> None:
    """The smallest noise in the measure of the claim: 1e-4 less is refuted by the same pair."""
    factor = smallest_noise(release, claim)
    assert certify(scaled(release, factor), claim).verdict == "certified"
    assert certify(scaled(release, factor * (1 - 1e-4)), claim).verdict == "refuted"


def test_the_calibrated_noise_of_a_gaussian_release_is_that_of_its_formula() -> None:
    """stddev = sensitivity / sqrt(2 rho), and sensitivity / mu."""
    assert smallest_noise(SUM, rho(0.1)) == pytest.approx(math.sqrt(5), rel=1e-9)
    assert smallest_noise(FOUR, mu(0.5)) == pytest.approx(4.0, rel=1e-9)
    points = ProfileClaim(profile=((1.0, 0.1270), (2.0, 0.021)), neighbours=RELATION)
    assert smallest_noise(SUM, points) == pytest.approx(1.0, rel=1e-3)


def test_the_noise_beside_a_stated_rho_is_that_of_what_the_claim_leaves() -> None:
    """rho 0.6 less 0.1 stated leaves 0.5: the declared noise; with 0.6 stated nothing is left."""
    beside = Sequential(parts=(SUM, Stated(rho=0.1, source="a vendor")))
    assert smallest_noise(beside, rho(0.6)) == pytest.approx(1.0, rel=1e-9)
    with pytest.raises(UnsupportedError, match=r"rho = 0\.6"):
        smallest_noise(Sequential(parts=(SUM, Stated(rho=0.6, source="a vendor"))), rho(0.6))


def test_no_noise_reaches_a_rho_where_a_part_is_stated() -> None:
    with pytest.raises(UnsupportedError, match=r"rho = 0\.1"):
        smallest_noise(Sequential(parts=(SUM, TOLD)), rho(0.1))


@pytest.mark.parametrize(
    ("declaration", "claim", "verdict"),
    [
        (Stated(rho=2.63, source="a census"), rho(2.63), "stated"),
        (Stated(rho=2.63, source="a census"), rho(2.62), "not_proved"),
        (Stated(rho=2.63, source="a census"), RenyiClaim(renyi=((2.0, 5.26),), neighbours=RELATION), "stated"),
        (Stated(rho=2.63, source="a census"), RenyiClaim(renyi=((2.0, 5.25),), neighbours=RELATION), "not_proved"),
        (Stated(rho=0.5, source="a census"), mu(9.0), "not_proved"),
        (Stated(mu=1.0, source="a vendor"), rho(0.5), "stated"),
        (Stated(mu=3.0, source="a vendor"), mu(3.0), "stated"),
        (Sequential(parts=(FOUR, Stated(mu=1.5, source="a vendor"))), mu(2.5), "stated"),
        (Sequential(parts=(FOUR, Stated(mu=1.5, source="a vendor"))), mu(2.49), "not_proved"),
        (Sequential(parts=(FOUR, Stated(rho=1.0, source="a vendor"))), rho(3.0), "stated"),
        (Sequential(parts=(FOUR, Stated(rho=1.0, source="a vendor"))), rho(1.99), "refuted"),
        (Repeat(part=Stated(rho=0.1, source="a vendor"), times=3), rho(0.3), "stated"),
        (Repeat(part=Stated(rho=0.1, source="a vendor"), times=3), rho(0.2999), "not_proved"),
        (Subsample(part=Stated(rho=0.1, source="a vendor"), rate=0.5), None, "not_proved"),
        (Stated(rho=0.1, source="a census"), Claim(epsilon=9.0, delta=1e-5, neighbours=RELATION), "stated"),
        (Stated(rho=0.1, source="a census"), Claim(epsilon=1.9, delta=1e-5, neighbours=RELATION), "not_proved"),
        (Stated(mu=1.0, source="a census"), Claim(epsilon=4.378, delta=1e-5, neighbours=RELATION), "stated"),
        (Group(part=Stated(rho=0.1, source="a census"), size=3), rho(0.9), "stated"),
        (Group(part=Stated(rho=0.1, source="a census"), size=3), rho(0.89), "not_proved"),
    ],
)
def test_a_part_stated_in_rho_or_mu_adds_what_it_states(
    declaration: Declaration, claim: Claim | None, verdict: str
) -> None:
    """Rho adds up, mu in squares, mu bounds rho, rho no mu; k records cost k^2 rho; on a sample nothing follows."""
    relation: Neighbours = RELATION if claim is not None else "add_remove"
    certificate = certify(declaration, claim or RhoClaim(rho=5.0, neighbours=relation))
    assert certificate.verdict == verdict, certificate.reasons
    assert verify(certificate.to_json()).accepted, verify(certificate.to_json())
    assert Certificate.from_json(certificate.to_json()) == certificate
    schema = Draft202012Validator(schemas.load("certificate"), registry=Registry())
    schema.validate(json.loads(certificate.to_json()))


def test_a_smaller_stated_sum_than_its_parts_is_no_accepted_certificate() -> None:
    """A forged claim, end and reason of half of what is stated: the checker adds the parts up itself."""
    honest = certify(Stated(rho=2.0, source="a census"), rho(2.0))
    data = json.loads(honest.to_json().replace('"rho": 2.0', '"rho": 1.0').replace('"upper": 2.0', '"upper": 1.0'))
    data["declaration"]["rho"] = data["derivation"][0]["parameters"]["rho"] = 2.0
    verification = verify(json.dumps(data | {"digest": digest_of(data)}))
    assert not verification.accepted
    assert "this checker proves 2" in verification.unconfirmed[0]


def test_a_stated_part_without_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected one of epsilon, rho and mu"):
        Stated(source="a vendor")
