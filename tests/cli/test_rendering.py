"""What people read: every verdict in words, bounds rounded outwards, nothing wider than the terminal."""

import math
from dataclasses import replace

import pytest

from dpaudit import AuditResult, Claim, Condition, Release, Repeat, Stated, certify
from dpaudit.documents.markdown import cell, markdown, table
from dpaudit.documents.terminal import bar, terminal, to_text
from dpaudit.model.audit_result import AuditVerdict, Counts, LowerBound, Power
from dpaudit.model.bracket import Bracket
from dpaudit.model.trace import Finding
from dpaudit.render.audit import audit_document
from dpaudit.render.certificate import certificate_document
from dpaudit.render.derivation import derivation_document
from dpaudit.report.marks import certificate_word
from dpaudit.wording.audits import audit_meaning
from dpaudit.wording.certificates import bracket_phrase
from dpaudit.wording.claims import promise
from mechanisms import Gaussian

CLAIM = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", unit="one order")
SUMS = Release(label="sums", mechanism=Gaussian(stddev=5.0, l2_sensitivity=1.0, neighbours="replace_one"))

CERTIFICATES = {
    "certified": certify(SUMS, CLAIM),
    "refuted": certify(Repeat(part=SUMS, times=100), CLAIM),
    "not proved": certify(Stated(epsilon=2.0, source="the vendor"), CLAIM),
    "without any epsilon": certify(SUMS, replace(CLAIM, delta=0.0)),
    "violated": certify(
        SUMS,
        CLAIM,
        conditions=(Condition(kind="clipping", about=("values",), text="Values are clipped.", status="violated"),),
        findings=(Finding(rule="DPA227", where="sums", message="'sums' carries the noise of 'sums' again."),),
    ),
    "vast": certify(SUMS, replace(CLAIM, epsilon=1e6)),
    "of total variation": certify(SUMS, replace(CLAIM, epsilon=0.0, delta=0.5)),
}


def _audit(verdict: AuditVerdict, lower: float, certified: float) -> AuditResult:
    counts = Counts(
        runs=900, guesses=300, correct=200, true_positives=100, false_positives=50, positives=450, negatives=450
    )
    return AuditResult(
        name="sum",
        verdict=verdict,
        epsilon_lower=lower,
        delta=1e-5,
        significance=0.01,
        runs=1000,
        ceiling=5.0,
        power=Power(epsilon=1.5, probability=0.9, error=0.1, kind="less_noise", repetitions=36),
        view="published",
        attack="given statistic",
        bound="gaussian",
        bounds=(
            LowerBound(
                name="gaussian",
                epsilon=lower,
                significance=0.01,
                assumption="" if certified == math.inf else "normal scores",
            ),
        ),
        counts=counts,
        seed=None,
        claim=CLAIM,
        certified=certified,
    )


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("name", CERTIFICATES)
def test_nothing_is_wider_than_the_terminal(name: str, width: int) -> None:
    """Certificate and derivation wrap at 40, 80 and 120 columns."""
    certificate = CERTIFICATES[name]
    for rendered in (terminal(certificate_document(certificate)), terminal(derivation_document(certificate))):
        assert max(map(len, to_text(rendered, width).splitlines())) <= width


@pytest.mark.parametrize("name", CERTIFICATES)
def test_the_verdict_comes_first_in_every_format(name: str) -> None:
    """The first words of the text and of the Markdown are the word of the report; it begins with the verdict."""
    certificate = CERTIFICATES[name]
    verdict = certificate_word(certificate)
    assert verdict.startswith(certificate.verdict.replace("_", " ").upper())
    assert to_text(terminal(certificate_document(certificate)), 80).strip().startswith(verdict)
    assert markdown(certificate_document(certificate)).startswith(f"## {verdict}\n")
    assert markdown(derivation_document(certificate)).startswith("## Derivation\n")


def test_what_was_seen_violated_stands_before_what_was_checked() -> None:
    """Findings and violated conditions are printed, and come before the conditions that are merely assumed."""
    text = to_text(terminal(certificate_document(CERTIFICATES["violated"])), 80)
    assert text.index("DPA227") < text.index("✗ violated") < text.index("○ assumed")


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [
        (0.0406412, 0.0406491, "between 0.04064 and 0.04065"),
        (0.0, 0.0, "0"),
        (0.0, 0.12341, "at most 0.1235"),
        (0.12349, math.inf, "at least 0.1234, with no upper bound"),
        (0.0, math.inf, "not bounded by what is known"),
        (math.inf, math.inf, "infinite"),
    ],
)
def test_a_bracket_is_said_in_words_and_rounded_outwards(lower: float, upper: float, said: str) -> None:
    """No digit that is printed claims more than what is proved."""
    assert bracket_phrase(Bracket(lower=lower, upper=upper, engines=())) == said


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (CLAIM, "any output changes by a factor of at most 2.719, plus 10⁻⁵."),
        (replace(CLAIM, delta=0.0, model="local"), "any message of the user changes by a factor of at most 2.719."),
        (
            replace(CLAIM, epsilon=0.0, model="joint"),
            "anything that the other users see together changes by at most 10⁻⁵.",
        ),
        (replace(CLAIM, epsilon=0.0, delta=0.0), "any output stays the same."),
        (replace(CLAIM, epsilon=5e3), "by a factor of at most e^5,000, plus 10⁻⁵."),
    ],
)
def test_the_promise_is_the_definition_of_differential_privacy_in_words(claim: Claim, said: str) -> None:
    """P(S) <= e^epsilon Q(S) + delta, for the observer of each model; e = 2.71828 is rounded up."""
    assert promise(claim).startswith("If one order is replaced by another, the probability of any")
    assert promise(claim).endswith(said)
    absent = replace(claim, neighbours="add_remove", model="central")
    assert promise(absent).startswith("If one order is added or removed, ")


@pytest.mark.parametrize(
    ("verdict", "lower", "certified", "said"),
    [
        ("violation", 1.2, math.inf, "above the claimed 1"),
        ("violation", 0.8, 0.5, "The code is not what is declared."),
        ("consistent", 0.8, 1.0, "within the claimed 1"),
        ("inconclusive", 0.1, math.inf, "whether it would have caught a violation"),
    ],
)
def test_an_audit_says_what_it_means(verdict: AuditVerdict, lower: float, certified: float, said: str) -> None:
    """A violation of the claim and one of the declaration are told apart; power, ceiling and assumption are printed."""
    result = _audit(verdict, lower, certified)
    text = " ".join(to_text(terminal(audit_document(result)), 100).split())
    assert text.startswith(verdict.upper())
    assert said in text
    assert "only the noise of epsilon 1.5 would have been caught with probability" in text
    assert ("normal scores" in text) is (certified < math.inf)
    assert markdown(audit_document(result)).startswith(f"## {verdict.upper()}: sum\n")


def test_an_audit_without_power_says_how_many_runs_to_ask_for() -> None:
    """Four times as many where controls were run and not caught; twin: no number where no control could be run."""
    result = _audit("inconclusive", 0.1, math.inf)
    none = Power(epsilon=math.inf, probability=0.0, error=0.0, kind="none", repetitions=700)
    assert "(700 runs of controls): ask for runs = 4,000 or more" in audit_meaning(replace(result, power=none))
    assert audit_meaning(replace(result, power=replace(none, repetitions=0))).endswith("is not known.")


@pytest.mark.parametrize(
    ("share", "drawn"), [(1.0, "████"), (0.5, "██  "), (1e-9, "▏   "), (0.0, "    "), (7.0, "████")]
)
def test_a_bar_is_as_long_as_its_share(share: float, drawn: str) -> None:
    """To an eighth of a cell; what is above zero is never invisible, what is above one never too long."""
    assert bar(share, 4) == drawn


def test_text_from_outside_cannot_leave_its_cell() -> None:
    """Bars, tags and line ends in a cell are escaped or joined."""
    assert cell("a|b\n<script>") == r"a\|b &lt;script&gt;"
    assert table(("x",), [("1|2",)]).splitlines()[-1] == r"| 1\|2 |"


def test_the_part_of_the_significance_for_other_attacks_is_printed() -> None:
    """A bound at .01 less 1e-9 is not printed as one at .01; a bound at all of it stands alone."""
    whole = _audit("consistent", 0.5, math.inf)
    rest = replace(whole, bounds=(replace(whole.bounds[0], significance=0.01 - 1e-9),))
    assert "significance 0.01\n" in to_text(terminal(audit_document(whole)), 200)
    assert "significance 0.01, of which 10⁻⁹ is for the audit's other attacks" in to_text(
        terminal(audit_document(rest)), 200
    )
    assert "0.01, of which" in markdown(audit_document(rest))
    assert "of which" not in markdown(audit_document(whole))
