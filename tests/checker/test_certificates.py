"""Certificates: verdicts, the printed reading, slack, conditions, and the way to JSON and back."""

import json
import math
from contextlib import suppress
from dataclasses import replace

import pytest

import dpaudit as dp
from dpaudit.errors import CertificateError, DeclarationError, UnsupportedError
from dpaudit.model.certificate import digest_of
from dpaudit.model.condition import Condition
from dpaudit.model.trace import Finding
from dpaudit.printed import slack
from dpaudit.printed.argument import printed_budget
from dpaudit.render.certificate import delta_phrase
from mechanisms import Gaussian

CLAIM = dp.Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", model="joint", unit="one round")


def epochs(horizon: int, parts: int, claim: dp.Claim, stddev_factor: float = 1.0) -> dp.Billboard:
    """The argument of a paper: classic Gaussian noise in each of ln(T) slots, of which `parts` exist."""
    slots = math.log(horizon)
    multiplier = 2 * slots / claim.epsilon * math.sqrt(math.log(1.25 * slots / claim.delta)) * stddev_factor
    noise = Gaussian(stddev=multiplier, l2_sensitivity=1.0, neighbours="replace_one")
    leaf = dp.Printed(rule="classic_gaussian", epsilon=claim.epsilon / slots, delta=claim.delta / slots)
    releases = tuple(dp.Release(label=f"epoch {i + 1}", mechanism=noise, printed=leaf) for i in range(parts))
    whole = dp.Printed(rule="basic", epsilon=claim.epsilon, delta=claim.delta, slots=slots)
    return dp.Billboard(
        part=dp.Parallel(parts=releases, key="the arrival time", printed=whole),
        reads=("their own context",),
        printed=dp.Printed(rule="billboard", epsilon=claim.epsilon, delta=claim.delta),
    )


def one(stddev: float, model: str = "joint") -> dp.Release | dp.Billboard:
    release = dp.Release(label="sum", mechanism=Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="replace_one"))
    return dp.Billboard(part=release) if model == "joint" else release


def test_noise_at_the_claim_is_certified_and_one_part_in_a_million_less_is_refuted() -> None:
    needed = Gaussian.calibrated(CLAIM, l2_sensitivity=1.0).stddev
    assert needed == pytest.approx(3.7306316351, rel=1e-9)  # Balle and Wang (2018), Theorem 8
    assert dp.certify(one(needed), CLAIM).verdict == "certified"
    assert dp.certify(one(needed * (1 - 1e-6)), CLAIM).verdict == "refuted"


def test_a_joint_proof_does_not_certify_a_central_claim() -> None:
    certificate = dp.certify(one(30.0), replace(CLAIM, model="central"))
    assert certificate.verdict == "not_proved"
    assert "joint view" in certificate.reasons[0]


def test_a_violated_condition_or_a_finding_takes_the_certificate_away() -> None:
    broken = (Condition(kind="clipping", about=("rewards",), status="violated"),)
    assert dp.certify(one(30.0), CLAIM, conditions=broken).verdict == "not_proved"
    finding = (Finding(rule="DPA227", where="sum", message="'sum' carries the noise of 'x' again."),)
    assert dp.certify(one(30.0), CLAIM, findings=finding).verdict == "not_proved"


def test_a_stated_budget_above_the_claim_is_not_proved_and_never_refuted() -> None:
    certificate = dp.certify(dp.Billboard(part=dp.Stated(epsilon=2.0, source="vendor")), CLAIM)
    assert certificate.verdict == "not_proved"
    assert certificate.slack is None


@pytest.mark.parametrize(
    ("horizon", "parts", "epsilon", "delta", "true", "inflation"),
    [
        (1000, 5, 0.5, 1e-3, 0.0121, 18.0),
        (1000, 5, 1.0, 1e-5, 0.0573, 13.7),
        (1000, 5, 4.0, 1e-5, 0.2610, 11.8),
        (10**4, 6, 0.1, 1e-5, 0.0030, 22.4),
        (10**4, 6, 1.0, 1e-5, 0.0412, 18.4),
        (10**5, 8, 1.0, 1e-5, 0.0319, 23.2),
    ],
)
def test_slack_multiplies_to_claim_over_truth_and_to_noise_over_need(
    horizon: int, parts: int, epsilon: float, delta: float, true: float, inflation: float
) -> None:
    claim = replace(CLAIM, epsilon=epsilon, delta=delta)
    slack = dp.certify(epochs(horizon, parts, claim), claim).slack
    assert slack is not None
    assert epsilon / slack.epsilon_ratio == pytest.approx(true, rel=2e-2)
    assert slack.noise_ratio == pytest.approx(inflation, abs=0.06)
    assert math.prod(f.factor for f in slack.factors) == pytest.approx(slack.epsilon_ratio, rel=1e-9)
    assert math.prod(f.noise_factor for f in slack.factors) == pytest.approx(slack.noise_ratio, rel=1e-9)


def test_slack_factors_of_ten_thousand_rounds() -> None:
    """1.41 constants, 1.45 tail, 1.53 slots, 2.39 basic against exact, 2.45 sequence against parallel."""
    slack = dp.certify(epochs(10**4, 6, CLAIM), CLAIM).slack
    assert slack is not None
    found = {factor.name: round(factor.noise_factor, 2) for factor in slack.factors}
    assert found == {
        "constants": 1.41,
        "theorem at each release": 1.45,
        "number of parts": 1.53,
        "composition theorem": 2.39,
        "structure": 2.45,
    }


def test_a_printed_argument_that_holds_is_valid_and_each_way_to_break_it_is_named() -> None:
    good = dp.certify(epochs(1000, 5, CLAIM), CLAIM)
    assert good.printed is not None
    assert good.printed.valid
    assert good.printed.epsilon == 1.0

    thin = dp.certify(epochs(1000, 5, CLAIM, stddev_factor=0.5), CLAIM).printed
    assert thin is not None
    assert {problem.rule for problem in thin.problems} == {"classic_gaussian"}

    crowded = dp.certify(epochs(1000, 9, CLAIM), CLAIM).printed
    assert crowded is not None
    assert any("9 parts are composed in 6.9" in problem.message for problem in crowded.problems)

    large = replace(CLAIM, epsilon=20.0)
    beyond = dp.certify(epochs(1000, 5, large), large).printed
    assert beyond is not None
    assert not beyond.valid
    assert all("true although unproved" in problem.message for problem in beyond.problems)


def test_an_argument_that_ends_above_the_claim_is_not_valid() -> None:
    weaker = dp.certify(epochs(1000, 5, replace(CLAIM, epsilon=2.0)), CLAIM).printed
    assert weaker is not None
    assert [problem.rule for problem in weaker.problems] == ["claim"]


def test_an_unknown_rule_is_refused_with_the_nearest_name() -> None:
    tree = dp.Repeat(part=one(30.0), times=1, printed=dp.Printed(rule="basics", epsilon=1.0))
    with pytest.raises(DeclarationError, match="did you mean 'basic'"):
        dp.certify(tree, CLAIM)


def test_json_round_trip_keeps_every_field_and_the_digest() -> None:
    certificate = dp.certify(
        dp.Sequential(parts=(epochs(1000, 5, CLAIM), dp.Stated(epsilon=0.1, source="x"))), replace(CLAIM, epsilon=3.0)
    )
    text = certificate.to_json()
    again = dp.Certificate.from_json(text)
    assert again.to_json() == text
    assert again.declaration == certificate.declaration
    assert again.claim == certificate.claim


def test_a_certificate_that_was_touched_is_refused() -> None:
    text = dp.certify(one(30.0), CLAIM).to_json()
    with pytest.raises(CertificateError, match="digest"):
        dp.Certificate.from_json(text.replace('"epsilon": 1.0', '"epsilon": 0.5'))
    with pytest.raises(CertificateError, match="truncated"):
        dp.Certificate.from_json(text[: len(text) // 2])
    with pytest.raises(CertificateError, match="object"):
        dp.Certificate.from_json("[]")


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, "[" * 900 + "]" * 900, "9" * 6_000])
def test_a_certificate_that_nests_or_counts_without_end_is_refused(text: str) -> None:
    with pytest.raises(CertificateError, match="JSON"):
        dp.Certificate.from_json(text)


@pytest.mark.parametrize("value", [True, 1e308, -1.0, "nan", "x", None, [], 10**30])
@pytest.mark.parametrize("place", ["tight", "versions", "declaration", "claim", "lower", "upper"])
def test_a_malformed_certificate_of_its_own_digest_is_refused(place: str, value: object) -> None:
    """Whoever writes a certificate can write its digest: empty brackets and tables that are none are told."""
    data = json.loads(dp.certify(one(30.0), CLAIM).to_json())
    table = data["tight"]["epsilon"] if place in ("lower", "upper") else data
    table[place] = value
    data["digest"] = digest_of(data)
    with pytest.raises(CertificateError) if place not in ("lower", "upper") else suppress(CertificateError):
        dp.Certificate.from_json(json.dumps(data))


def test_a_claim_far_beyond_floats_is_shown() -> None:
    """Delta at epsilon = 1e308 has an exponent that no float holds; the words bound it still."""
    claims = [replace(CLAIM, epsilon=epsilon) for epsilon in (1e6, 1e100, 1e300, 1e308)]
    shown = [delta_phrase(dp.certify(one(30.0), claim)) for claim in claims]
    assert all(text.startswith("at most 10⁻") and len(text) < 30 for text in shown)


def test_json_has_the_published_fields_and_spells_infinity() -> None:
    data = json.loads(dp.certify(one(30.0), replace(CLAIM, delta=0.0)).to_json())
    assert data["verdict"] == "refuted"
    assert data["tight"]["epsilon"] == {"lower": "inf", "upper": "inf"}
    published = {
        "verdict",
        "claim",
        "tight",
        "conditions",
        "declaration",
        "engines",
        "versions",
        "source_digest",
        "digest",
    }
    assert published <= set(data)


@pytest.mark.parametrize(
    ("tree", "rule", "said"),
    [
        (dp.Repeat(part=dp.Stated(epsilon=0.1, source="x"), times=40), "parallel", "Parallel"),
        (dp.Repeat(part=dp.Stated(epsilon=0.1, source="x"), times=40), "post_processing", "PostProcess"),
        (dp.Group(part=dp.Stated(epsilon=0.1, source="x"), size=50), "parallel", "Parallel"),
        (dp.Group(part=dp.Stated(epsilon=0.1, source="x"), size=50), "basic", "Sequential"),
        (one(1.0, model="central"), "laplace", "gaussian"),
    ],
)
def test_a_rule_at_a_node_it_does_not_speak_of_is_a_problem(tree: dp.Declaration, rule: str, said: str) -> None:
    printed = replace(tree, printed=dp.Printed(rule=rule, epsilon=0.1, delta=0.0))
    reading = dp.certify(printed, dp.Claim(epsilon=0.1, neighbours="replace_one")).printed
    assert reading is not None
    assert not reading.valid
    assert said in reading.problems[0].message


def test_an_unannotated_group_or_cell_array_costs_the_printed_argument_what_it_costs() -> None:
    part = dp.Stated(epsilon=0.1, delta=1e-9, source="x")
    group = printed_budget(dp.Group(part=part, size=10), "replace_one")
    assert group.epsilon == pytest.approx(1.0)
    assert group.delta == pytest.approx(1e-9 * math.expm1(1.0) / math.expm1(0.1))
    assert printed_budget(dp.Cells(inside=part, touched=part), "replace_one").epsilon == pytest.approx(0.2)
    assert printed_budget(dp.Repeat(part=part, times=3), "replace_one").epsilon == pytest.approx(0.3)


def test_a_group_over_a_part_that_may_fail_keeps_no_pure_claim() -> None:
    """Four times .1 at delta 1e-6 is .4 at the delta of the group property, and nothing at delta 0."""
    node = dp.Group(part=dp.Stated(epsilon=0.1, delta=1e-6, source="x"), size=4)
    pure = dp.certify(node, dp.Claim(epsilon=0.4, neighbours="replace_one"))
    assert (pure.verdict, pure.tight.epsilon.upper) == ("not_proved", math.inf)
    grown = 1e-6 * math.expm1(0.4) / math.expm1(0.1)
    for share, verdict in ((1 + 1e-9, "stated"), (1 - 1e-6, "not_proved")):
        assert dp.certify(node, dp.Claim(epsilon=0.4, delta=grown * share, neighbours="replace_one")).verdict == verdict


def test_gaussian_noise_printed_with_delta_0_is_a_problem_of_its_step() -> None:
    """The classic rule divides by delta."""
    printed = replace(one(6.0), printed=dp.Printed(rule="classic_gaussian", epsilon=0.9, delta=0.0))
    reading = dp.certify(printed, dp.Claim(epsilon=0.9, delta=1e-5, neighbours="replace_one")).printed
    assert reading is not None
    assert {(step.node, step.rule) for step in reading.problems} == {("root", "classic_gaussian")}


def test_a_message_that_needs_a_billboard_is_no_message() -> None:
    tree = dp.Local(part=dp.Billboard(part=one(30.0, model="central")))
    with pytest.raises(UnsupportedError, match="'local' over 'billboard' under replace: no rule"):
        dp.certify(tree, replace(CLAIM, model="local"))
    assert dp.certify(dp.Local(part=one(30.0, model="central")), replace(CLAIM, model="local")).verdict == "certified"


def test_a_stated_part_for_other_neighbours_is_refused() -> None:
    part = dp.Stated(epsilon=0.1, source="vendor", neighbours="add_remove")
    with pytest.raises(DeclarationError, match="vendor"):
        dp.certify(part, replace(CLAIM, model="central"))


def test_joint_privacy_is_about_replaced_records() -> None:
    with pytest.raises(ValueError, match="replace_one"):
        replace(CLAIM, neighbours="add_remove")


def test_noise_is_searched_once_where_the_paper_composes_as_the_tree_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reading by composition and the tight one are then the same; the search for either took half of the time."""
    noise = Gaussian(stddev=6.0, l2_sensitivity=1.0, neighbours="replace_one")
    leaf = dp.Printed(rule="classic_gaussian", epsilon=0.9, delta=1e-6)
    whole = dp.Printed(rule="advanced", epsilon=20.0, delta=1e-4, slots=12)
    tree = dp.Repeat(part=dp.Release(label="sum", mechanism=noise, printed=leaf), times=10, printed=whole)
    searched: list[dp.Declaration] = []

    def counted(subject: dp.Declaration, claim: dp.Claim) -> float:
        searched.append(subject)
        return dp.smallest_noise(subject, claim)

    monkeypatch.setattr(slack, "smallest_noise", counted)
    found = slack.slack_of(tree, replace(CLAIM, epsilon=20.0, delta=1e-4))
    assert searched == [tree]
    assert found is not None
    assert found.factors[-1].name == "composition theorem"
    assert math.prod(factor.noise_factor for factor in found.factors) == pytest.approx(found.noise_ratio, rel=1e-12)
