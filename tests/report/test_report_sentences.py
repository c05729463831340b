"""Each sentence of a report with a number: the number is computed here again, by other means."""

import math
import re
from dataclasses import replace
from typing import Any

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpaudit import Claim, Release, Sequential, Stated, certify
from dpaudit.accounting.loss_tail import LossTail
from dpaudit.figures.canvas import Canvas, text_width
from dpaudit.model.bracket import Bracket
from dpaudit.model.deployment import Assertion, Contributions, Deployment, Identity, Scope
from dpaudit.model.measures.claims import MuClaim
from dpaudit.model.readings import Tight
from dpaudit.report import Report, render
from dpaudit.report.compliance.sections import sections_of
from dpaudit.report.facts import gather
from dpaudit.report.marks import marked, unattacked_phrase
from dpaudit.report.meaning import meaning_of, odds_of, person_of, person_sentence, proved_of, share_sentence, tail_of
from dpaudit.report.verdicts import outcome_of, provided_of, shown_word
from dpaudit.wording.numerals import at_least, at_least_beside, at_most, at_most_beside, ends, exact
from dpaudit.wording.sentences import SENTENCES
from mechanisms import Gaussian
from tests.accounting.test_loss_tail import merged_tail
from tests.narrowing import present

SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
MU = 1 / 3.7307
VOID = ("refuted", "not_proved", "violation", "infinite")


def numbers(text: str) -> list[Any]:
    """Return the numbers of a sentence, powers of ten put together."""
    text = re.sub(r"\(C\d+[^)]*\)", "", text).replace(",", "")
    found = re.finditer(r"(?<![\w.])(\d+(?:\.\d+)?)(?: × 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)|([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", text)
    values = []
    for one in found:
        if one.group(3):
            values.append(float(f"1e{one.group(3).translate(SUPERSCRIPTS)}"))
        else:
            values.append(float(f"{one.group(1)}e{(one.group(2) or '0').translate(SUPERSCRIPTS)}"))
    return values


def up(value: float, truth: float, tolerance: float = 2e-3) -> bool:
    """Return whether a printed upper bound is one, and close."""
    return truth * (1 - 1e-12) <= value <= truth * (1 + tolerance)


def gaussian_epsilon(mu: float, delta: float) -> float:
    """Return epsilon of N(mu, 1) at delta, from the textbook curve."""
    return brentq(lambda e: norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu) - delta, 1e-9, 60)


def gaussian(stories: dict[str, Report], **more: Any) -> tuple[Report, LossTail | None]:
    """Return a report on one Gaussian release, with its tail."""
    report = replace(stories["checked"], **more)
    return report, tail_of(report, gather(report).curve)


def claim_sentence(stories: dict[str, Report]) -> None:
    text = outcome_of(stories["refuted"]).sentence
    assert text.startswith("The claim was that epsilon = 1, delta = 10⁻⁵ for one person's year of care: ")


def proved_sentence(stories: dict[str, Report]) -> None:
    report, _ = gaussian(stories)
    epsilon, factor, beside = numbers(proved_of(report))
    truth = gaussian_epsilon(MU, 1e-5)
    assert up(epsilon, truth)
    assert up(factor, math.exp(truth))
    assert beside == 1e-5


def reaches_sentence(stories: dict[str, Report]) -> None:
    epsilon, factor, beside = numbers(proved_of(stories["refuted"]))
    truth = gaussian_epsilon(math.hypot(1 / 3.0, 1 / 2.0), 1e-5)
    alone = gaussian_epsilon(1 / 2.0, 1e-5)  # the last release by itself, which some pair of neighbours attains
    assert alone * 0.998 <= epsilon <= truth
    assert math.exp(epsilon) * 0.998 <= factor <= math.exp(truth)
    assert beside == 1e-5


def open_sentence(stories: dict[str, Report]) -> None:
    report = stories["paper"]
    wide = Tight(epsilon=Bracket(lower=0.5, upper=1.5, engines=("x",)), delta=report.certificate.tight.delta)
    held = replace(report.certificate, verdict="not_proved", tight=wide)
    assert numbers(proved_of(replace(report, certificate=held, audits=())))[:2] == [0.5, 1.5]


def no_proof_sentence(stories: dict[str, Report]) -> None:
    assert numbers(proved_of(stories["open"])) == [0.3]


def no_proof_of_code_sentence(stories: dict[str, Report]) -> None:
    assert numbers(proved_of(stories["violation"])) == []
    assert "an attack on the code contradicts" in proved_of(stories["violation"])


def on_trust(stories: dict[str, Report]) -> Report:
    """Return a report on two parts that others state, of pure epsilon 0.25 and 0.125."""
    parts = tuple(Stated(epsilon=epsilon, source=f"vendor {epsilon}") for epsilon in (0.25, 0.125))
    claim = replace(stories["pure"].certificate.claim, model="central")
    return replace(stories["pure"], audits=(), certificate=certify(Sequential(parts=parts), claim))


def stated_sentence(stories: dict[str, Report]) -> None:
    text = proved_of(on_trust(stories))
    epsilon, delta = numbers(text)
    assert up(epsilon, 0.375)
    assert delta == 0
    assert text.endswith("nothing of that word was proved or checked here.")


def stated_claim_sentence(stories: dict[str, Report]) -> None:
    text = meaning_of(on_trust(stories))
    assert numbers(text)[:2] == [2, 0]
    assert "follows only from what vendor 0.25 and vendor 0.125 stated" in text


def never_sentence(stories: dict[str, Report]) -> None:
    (factor, *_) = numbers(odds_of(stories["pure"], None))
    assert up(factor, math.exp(2.0))


def claim_tail_sentence(stories: dict[str, Report]) -> None:
    factor, probability = numbers(odds_of(stories["checked"], None))
    assert up(factor, 2 * math.e)
    assert probability == 2e-5


def tail_sentence(stories: dict[str, Report]) -> None:
    report, tail = gaussian(stories)
    _, _, factor, probability, rarely, delta, *_ = numbers(odds_of(report, tail))
    assert up(factor, math.e)
    assert up(probability, merged_tail(MU, 1.0))
    assert up(rarely, math.exp(brentq(lambda e: merged_tail(MU, e) - 1e-5, 1.0, 3.0)), 5e-3)
    assert delta == 1e-5


def tail_of_releases_sentence(stories: dict[str, Report]) -> None:
    report, tail = gaussian(stories)
    *_, factor, probability, rarely, delta = numbers(odds_of(report, tail))
    assert up(factor, math.e)
    assert up(probability, norm.cdf(MU / 2 - 1 / MU))
    assert up(rarely, math.exp(brentq(lambda e: norm.cdf(MU / 2 - e / MU) - 1e-5, 0.5, 3.0)))
    assert delta == 1e-5


def tail_never_sentence(stories: dict[str, Report]) -> None:
    report = stories["pure"]
    tail = tail_of(report, gather(report).curve)
    assert up(numbers(odds_of(report, tail))[-1], math.exp(2.0))


def person_numbers(stories: dict[str, Report]) -> None:
    report, _ = gaussian(stories, units_per_person=5)
    units, epsilon, delta = numbers(person_sentence(report, present(person_of(report))))
    assert (units, delta) == (5, 1e-5)
    assert up(epsilon, gaussian_epsilon(5 * MU, 1e-5))


def person_by_claim_sentence(stories: dict[str, Report]) -> None:
    report, _ = gaussian(stories, units_per_person=3)
    text = person_sentence(report, replace(present(person_of(report)), epsilon=None))
    units, epsilon, delta = numbers(text)
    assert (units, epsilon) == (3, 3)
    assert up(delta, 1e-5 * (1 + math.e + math.e**2))


def one_unit_sentence(stories: dict[str, Report]) -> None:
    report, _ = gaussian(stories, units_per_person=1)
    assert person_sentence(report, present(person_of(report))) == "One person contributes one unit."


def share_numbers(stories: dict[str, Report]) -> None:
    report, _ = gaussian(stories, number_of_units=12_345)
    assert up(numbers(share_sentence(report))[0], 0.12345)
    assert numbers(share_sentence(report))[1] == 12_345


def large_epsilon_sentence(stories: dict[str, Report]) -> None:
    text = sections_of(gather(stories["checked"]))[8].grids[0].rows[0][2]
    factor, advantage, *_ = numbers(text)
    assert up(factor, math.e)
    assert up(advantage, (math.e - 1 + 2e-5) / (math.e + 1))


def violation_sentence(stories: dict[str, Report]) -> None:
    assert numbers(outcome_of(stories["violation"]).reasons[0])[0] == 1.82


def told_of_mu(claimed: float, declaration: Any = None) -> str:
    """What a report says is proved of one Gaussian release of mu 1/2, or of a declaration, against a claimed mu."""
    noise = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")
    claim = MuClaim(mu=claimed, neighbours="replace_one", unit="one person")
    certificate = certify(declaration or Release(label="sum", mechanism=noise), claim)
    return proved_of(Report(certificate=certificate, created="2026-01-31"))


def proved_in_measure_sentence(stories: dict[str, Report]) -> None:
    del stories
    assert "hold (C1, C2, C3): mu = 0.5. At delta" in told_of_mu(0.6)


def reached_in_measure_sentence(stories: dict[str, Report]) -> None:
    del stories
    assert told_of_mu(0.4).endswith("What the declaration provably reaches: mu at least 0.5.")


def stated_in_measure_sentence(stories: dict[str, Report]) -> None:
    """An epsilon of 1 has the mu whose unit-variance Gaussian test is as good at its corner: 2 Phi^-1(e/(1+e))."""
    del stories
    (mu,) = numbers(told_of_mu(1.3, Stated(epsilon=1.0, source="a vendor")))
    assert up(mu, 2 * norm.ppf(math.e / (1 + math.e)))


def at_delta_sentence(stories: dict[str, Report]) -> None:
    del stories
    told = told_of_mu(0.6)
    delta, epsilon, factor, beside = numbers(told[told.index("At delta") :])
    truth = gaussian_epsilon(0.5, 1e-5)
    assert delta == beside == 1e-5
    assert up(epsilon, truth)
    assert up(factor, math.exp(truth))


def units_as_users_sentence(stories: dict[str, Report]) -> None:
    plain, _ = gaussian(stories, units_per_person=5)
    for report, there in ((replace(stories["paper"], deployment=plain.deployment), True), (plain, False)):
        once = any(condition.kind == "one_appearance" for condition in report.certificate.conditions)
        assert once is there
        person = replace(present(person_of(plain)), epsilon=2.0)
        assert ("Each of the 5 units counts as a user there" in person_sentence(report, person)) is there


ORACLES = {
    "claim": claim_sentence,
    "proved": proved_sentence,
    "reaches": reaches_sentence,
    "open": open_sentence,
    "no_proof": no_proof_sentence,
    "proved_in_measure": proved_in_measure_sentence,
    "reached_in_measure": reached_in_measure_sentence,
    "stated_in_measure": stated_in_measure_sentence,
    "at_delta": at_delta_sentence,
    "no_proof_of_code": no_proof_of_code_sentence,
    "stated_claim": stated_claim_sentence,
    "stated": stated_sentence,
    "never": never_sentence,
    "claim_tail": claim_tail_sentence,
    "tail": tail_sentence,
    "tail_of_releases": tail_of_releases_sentence,
    "tail_never": tail_never_sentence,
    "person": person_numbers,
    "person_by_claim": person_by_claim_sentence,
    "one_unit": one_unit_sentence,
    "units_as_users": units_as_users_sentence,
    "share": share_numbers,
    "large_epsilon": large_epsilon_sentence,
    "violation": violation_sentence,
}


def test_each_template_has_an_oracle() -> None:
    """A sentence without an independent computation of its numbers cannot be added."""
    assert set(ORACLES) == set(SENTENCES)


@pytest.mark.parametrize("name", ORACLES)
def test_the_numbers_of_a_sentence_are_right(stories: dict[str, Report], name: str) -> None:
    """The numbers in a sentence are those of another computation, rounded in the direction of its words."""
    ORACLES[name](stories)


def test_a_wrong_number_is_caught(stories: dict[str, Report], monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin: "except with probability delta" in place of the tail fails its oracle."""
    monkeypatch.setattr("dpaudit.accounting.loss_tail.LossTail.above", lambda self, epsilon: 1e-5)
    with pytest.raises(AssertionError):
        tail_sentence(stories)


@pytest.mark.parametrize("story", VOID)
def test_a_report_without_a_valid_proof_prints_no_upper_figure(
    stories: dict[str, Report], story_pages: dict[str, dict[str, str]], story: str
) -> None:
    """Refuted, contradicted or with a violated condition: "The claim was that", and no figure of at most so much."""
    texts = story_pages[story]
    assert meaning_of(stories[story]).startswith("The claim was that")
    assert outcome_of(stories[story]).sentence.startswith("The claim was that")
    for name in ("report.html", "report.md"):
        words = re.sub(r"<(style|script)>.*?</\1>", "", texts[name], flags=re.DOTALL)
        words = re.sub(r"<[^>]*>", "", words)
        words = words.replace("changes by a factor of at most", "")  # the claim in words, which is said of no proof
        assert not re.search(r"at most \d", words), (name, re.search(r".{60}at most \d.{20}", words))
        assert "The proof rests on" not in words
    assert "figures/curve.svg" not in texts


def test_a_report_with_a_proof_prints_upper_figures(story_pages: dict[str, dict[str, str]]) -> None:
    """The twin of the rule above: where the proof holds the figures are there."""
    assert re.search(r"at most \d", story_pages["paper"]["report.md"])


def test_each_shown_number_keeps_its_conditions(stories: dict[str, Report]) -> None:
    """The cover's audited epsilon names its assumption; the proved one names the conditions without evidence."""
    fields = {field.name: field.value for field in sections_of(gather(stories["paper"]))[0].fields}
    assert "(if scores are normal)" in fields["Audited epsilon"]
    assert re.search(r"provided that \d+ conditions without evidence hold \(C1", proved_of(stories["paper"]))
    assert "provided" not in proved_of(stories["checked"])


def test_bounds_are_rounded_outwards_and_told_apart_from_the_claim() -> None:
    """At most rounds up, at least down, and neither crosses the claim that it stands beside."""
    assert (at_most(6.25e-5, 1), at_least(6.25e-5, 1)) == ("7 × 10⁻⁵", "6 × 10⁻⁵")
    assert exact(6.25e-5) == "6.25 × 10⁻⁵"
    assert at_most_beside(23.59412, 23.5946) == "23.5942"
    assert at_least_beside(23.59468, 23.5946) == "23.59468"
    assert at_most_beside(1.00004, 1.0) == "1.001"
    assert ends(Bracket(lower=0.40001, upper=0.40002, engines=())) == ("0.40001", "0.40002")
    assert ends(Bracket(lower=0.5, upper=0.75, engines=())) == ("0.5", "0.75")


def test_a_bracket_keeps_its_ends_inside_what_is_printed() -> None:
    """Over many widths the printed ends enclose the bracket and widen it to twice at most, down to seven digits."""
    for power in range(1, 7):
        lower, upper = 0.123456789, 0.123456789 + 10.0**-power
        printed = [float(text) for text in ends(Bracket(lower=lower, upper=upper, engines=()))]
        assert printed[0] <= lower
        assert upper <= printed[1]
        assert printed[1] - printed[0] <= 2.01 * (upper - lower)


def test_three_marks_tell_who_looked(stories: dict[str, Report]) -> None:
    """A run that looked, a computation, a person who asserts and nobody are four different marks."""
    report = stories["paper"]
    kinds = {line.condition.kind: line.mark for line in marked(report)}
    assert kinds["sensitivity"] == "checked"
    assert kinds["public_key"] == "to confirm"
    assert kinds["floating_point"] == "assumed"
    said = replace(report, deployment=Deployment(assertions=(Assertion(kind="public_key", because="It is a date."),)))
    assert {line.condition.kind: line.mark for line in marked(said)}["public_key"] == "confirmed"
    assert "provided that 8 conditions" in provided_of(said)
    with pytest.raises(ValueError, match="because"):
        Assertion(kind="public_key", because=" ")


def test_a_report_has_units_person_share_and_a_place_to_sign(stories: dict[str, Report]) -> None:
    """Five units a person, delta times n, the algorithm's own unit, what the model leaves open, and the digest."""
    report = replace(stories["paper"], number_of_units=10_000, units_per_person=5, own_unit="one round")
    fields = {field.name: field for section in sections_of(gather(report)) for field in section.fields}
    assert fields["One person"].value.startswith("One person contributes up to 5 units.")
    assert (
        fields["Delta times the number of units"].value
        == "The claim allows about 0.1 of 10,000 units to leak completely; it should be far below 1."
    )
    assert fields["Unit in the algorithm's own words"].value == "one round"
    assert fields["Left open by the model"].value.startswith("each person's own output")
    page, digest = render(report)["report.html"], report.to_dict()["digest_to_sign"]
    assert re.fullmatch("[0-9a-f]{64}", digest)
    assert digest in page
    assert "To check and to sign" in page
    assert "--deployment" in page
    other = replace(report, deployment=Deployment(identity=Identity(author="A. Person")))
    assert digest != other.to_dict()["digest_to_sign"]


def test_what_the_deployment_says_comes_before_what_the_algorithm_knows(stories: dict[str, Report]) -> None:
    """A declared number replaces the algorithm's, and is marked as declared."""
    said = Deployment(scope=Scope(number_of_units=50), contributions=Contributions(units_per_person=2))
    report = replace(stories["paper"], number_of_units=10_000, units_per_person=5, deployment=said)
    fields = {field.name: field for section in sections_of(gather(report)) for field in section.fields}
    assert (
        fields["Delta times the number of units"].value
        == "The claim allows about 5 × 10⁻⁴ of 50 units to leak completely; it should be far below 1."
    )
    assert (fields["One person"].status, numbers(fields["One person"].value)[0]) == ("declared", 2)


def test_the_word_for_a_proved_claim_is_the_owners(stories: dict[str, Report]) -> None:
    """`word = "proved"` changes what is printed, and not the verdict that scripts read."""
    report = replace(stories["checked"], word="proved")
    assert (report.verdict, shown_word("NOT PROVED", "proved")) == ("CERTIFIED", "NOT PROVED")
    texts = render(report)
    assert '<p class="word">PROVED</p>' in texts["report.html"]
    assert "CERTIFIED" not in re.sub("<[^>]*>", "", texts["report.html"])


def test_labels_keep_off_the_line_of_the_claim() -> None:
    """A label goes right or left of a line, never across it; where nothing fits the shorter words are written."""
    for mark in range(20, 320, 10):
        canvas = Canvas(width=344.0)
        canvas.label(mark, 20, ("at least 0.8971, ceiling 53", "at least 0.8971"), "value halo", 10, (180.0,))
        text = re.search(r'<text[^>]* x="([\d.]+)"[^>]*>([^<]*)<', canvas.parts[-1])
        start, end = float(text.group(1)), float(text.group(1)) + text_width(text.group(2))
        assert not start < 180 < end, mark
        assert start >= 0
        assert end <= 344
        assert canvas.parts[0].startswith('<rect class="paper"')


def test_a_gaussian_claim_at_calibrated_noise_is_told_with_its_tail() -> None:
    """A release of one's own, end to end: the tail on the cover is that of the calibrated noise, not delta."""
    claim = Claim(epsilon=2.0, delta=1e-6, neighbours="add_remove", unit="one stay")
    noise = Gaussian.calibrated(claim, l2_sensitivity=1.0)
    report = Report(certificate=certify(Release(label="sum", mechanism=noise), claim), created="2026-03-01")
    tail = tail_of(report, gather(report).curve)
    mu = 1 / noise.stddev
    assert up(tail.above(2.0), merged_tail(mu, 2.0), 1e-2)
    assert tail.above(2.0) > 10 * claim.delta


def test_the_word_of_an_owner_on_what_a_run_could_show_is_shown_and_is_no_evidence(stories: dict[str, Report]) -> None:
    """The condition stays assumed, with the reason beside it; a kind that nobody spoke of has none."""
    words = (Assertion(kind="floating_point", because="The sampler is patched."),)
    said = marked(replace(stories["paper"], deployment=Deployment(assertions=words)))
    lines = {line.condition.kind: line for line in said}
    assert lines["floating_point"].mark == "assumed"
    assert lines["floating_point"].text.endswith("The owner's word, which is no evidence: The sampler is patched.")
    assert not lines["public_key"].because


def test_a_run_that_was_watched_is_not_denied_where_no_audit_is_in_the_report(stories: dict[str, Report]) -> None:
    """A report without audits says that nobody attacked the code only where no run was watched either."""
    plain, _ = gaussian(stories)
    seen, unseen = replace(stories["paper"], audits=()), replace(plain, audits=())
    assert any(line.mark == "checked" for line in marked(seen))
    assert unattacked_phrase(seen).startswith("No attack on the output is part of this report.")
    conditions = tuple(replace(c, status="assumed") for c in unseen.certificate.conditions)
    unseen = replace(unseen, certificate=replace(unseen.certificate, conditions=conditions))
    assert unattacked_phrase(unseen) == "Nobody attacked the running code."
