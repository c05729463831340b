"""The verdict in words follows from the evidence."""

from dataclasses import replace

import pytest

from dpaudit import Claim, Condition, Release, certify
from dpaudit.documents.markdown import markdown
from dpaudit.documents.terminal import terminal, to_text
from dpaudit.model.trace import Finding
from dpaudit.render.certificate import certificate_document
from dpaudit.render.derivation import derivation_document
from dpaudit.report import Report, System
from dpaudit.report.marks import certificate_word, marked
from dpaudit.report.verdicts import outcome_of
from dpaudit.wording.claims import promise
from mechanisms import DiscreteLaplace, Laplace
from tests.narrowing import present


@pytest.mark.parametrize(
    ("story", "word"),
    [
        ("paper", "CERTIFIED WITH CAVEATS"),
        ("checked", "CERTIFIED"),
        ("refuted", "REFUTED"),
        ("not_proved", "NOT PROVED"),
        ("violation", "VIOLATION"),
        ("inconclusive", "INCONCLUSIVE"),
        ("infinite", "REFUTED"),
        ("open", "NOT PROVED"),
        ("pure", "CERTIFIED WITH CAVEATS"),
        ("huge", "CERTIFIED WITH CAVEATS"),
    ],
)
def test_each_story_has_its_word(stories: dict[str, Report], story: str, word: str) -> None:
    """Each story ends in its own word."""
    assert stories[story].verdict == word


def test_one_thing_less_takes_certified_away(stories: dict[str, Report]) -> None:
    """CERTIFIED does not survive the loss of any single piece of evidence."""
    report = stories["checked"]
    held = report.certificate
    condition = Condition(kind="other", about=("a thing nobody looked at",), text="Nobody looked at this.")
    finding = Finding(rule="DPA213", where="x", message="'x' was released but never declared.")
    weaker = {
        "no audit": replace(report, audits=()),
        "assumed": replace(report, certificate=replace(held, conditions=(*held.conditions, condition))),
        "violated": replace(report, certificate=replace(held, conditions=(replace(condition, status="violated"),))),
        "finding": replace(report, certificate=replace(held, findings=(finding,))),
        "printed": replace(report, certificate=replace(held, printed=replace(present(held.printed), valid=False))),
        "not proved": replace(report, certificate=replace(held, verdict="not_proved")),
        "ceiling": replace(report, audits=(replace(report.audits[0], ceiling=0.9),)),
        "other delta": replace(report, audits=(replace(report.audits[0], delta=1e-3),)),
        "no code location": replace(report, code=""),
        "unit": replace(report, system=System(name="Totals", unit="one record")),
        "sensitivity": replace(
            report, certificate=replace(held, conditions=tuple(c for c in held.conditions if c.kind != "sensitivity"))
        ),
        "second audit": replace(report, audits=(*report.audits, replace(report.audits[0], verdict="inconclusive"))),
    }
    words = {name: other.verdict for name, other in weaker.items()}
    assert "CERTIFIED" not in words.values()
    assert words["violated"] == words["finding"] == words["not proved"] == "NOT PROVED"


def test_the_first_reason_is_the_violation(stories: dict[str, Report]) -> None:
    """A violation by attack is named first, with both numbers."""
    first = outcome_of(stories["violation"]).reasons[0]
    assert "1.82" in first
    assert "what the declaration allows, 1 (if scores are normal)" in first
    story = stories["violation"]
    free = replace(story.audits[0], bound="binomial")
    assert "the claimed 1" in outcome_of(replace(story, audits=(free,))).reasons[0]


def test_a_violation_below_a_slack_claim_is_told_against_the_declaration(stories: dict[str, Report]) -> None:
    """A bound above the certificate and below the claim is no violation of the claim, and the reason says so."""
    report = stories["paper"]
    hidden = replace(report.audits[0], verdict="violation", epsilon_lower=0.2)
    changed = replace(report, audits=(hidden,))
    assert changed.verdict == "VIOLATION"
    assert "more than what the declaration allows, 0.04122" in outcome_of(changed).reasons[0]


def test_the_meaning_is_the_definition_with_the_claims_numbers_and_unit(stories: dict[str, Report]) -> None:
    """P(S) <= e^epsilon Q(S) + delta: the sentence of the terminal, in the owner's unit."""
    report = stories["paper"]
    assert report.meaning == promise(replace(report.certificate.claim, unit="one person's year of care"))
    assert report.meaning == (
        "If one person's year of care is replaced by another, the probability of anything that the other users see "
        "together changes by a factor of at most 2.719, plus 10⁻⁵."
    )
    assert stories["pure"].meaning.endswith("by a factor of at most 7.39.")


def test_an_audit_of_another_claim_is_refused(stories: dict[str, Report]) -> None:
    """A report speaks of one claim only."""
    report = stories["checked"]
    other = replace(report.audits[0], claim=replace(report.audits[0].claim, epsilon=2.0))
    with pytest.raises(ValueError, match=r"its epsilon is 2\.0"):
        replace(report, audits=(other,))


@pytest.mark.parametrize("created", ["yesterday", "20260301", "2026-3-1", "2026-02-30", ""])
def test_a_date_that_is_no_iso_date_is_refused(stories: dict[str, Report], created: str) -> None:
    """Only the calendar form of an ISO date is accepted."""
    with pytest.raises(ValueError, match="ISO date"):
        replace(stories["checked"], created=created)


def test_a_terminal_and_a_report_say_the_same_word_and_the_same_marks() -> None:
    """Of one certificate in doubles both have caveats and the same marks; of one in integers neither has."""
    claim = Claim(epsilon=1.0, neighbours="replace_one", unit="one vote")
    for mechanism in (
        Laplace(scale=1.0, l1_sensitivity=1.0, neighbours="replace_one"),
        DiscreteLaplace(scale=1.0, l1_sensitivity=1, neighbours="replace_one"),
    ):
        held = certify(Release(label="count", mechanism=mechanism), claim)
        looked = tuple(c if c.kind == "floating_point" else c.seen(holds=True) for c in held.conditions)
        certificate = replace(held, conditions=looked)
        report = Report(certificate=certificate, created="2026-03-01")
        texts = (
            to_text(terminal(certificate_document(certificate)), 100),
            markdown(certificate_document(certificate)),
            to_text(terminal(derivation_document(certificate)), 100),
        )
        word = "CERTIFIED WITH CAVEATS" if isinstance(mechanism, Laplace) else "CERTIFIED"
        assert certificate_word(certificate) == word
        for text in texts:
            assert word in text
            assert ("WITH CAVEATS" in text) == ("WITH CAVEATS" in word)
            assert all(line.mark in text for line in marked(report))
