"""The reasons on the cover: each is given once, and numbers are written as readers know them."""

from dataclasses import replace

from dpaudit import Finding, Report
from dpaudit.report.verdicts import outcome_of


def test_a_difference_that_a_reason_states_is_not_stated_again(stories: dict[str, Report]) -> None:
    """The certificate's reason quotes the finding; without the quote the finding stands by itself."""
    report = stories["paper"]
    finding = Finding(rule="DPA220", where="sum", message="'sum' moved by 3 times its stated sensitivity.")
    quoted = f"The run and its declaration disagree (DPA220): {finding.message}"
    certificate = replace(report.certificate, verdict="not_proved", findings=(finding,), reasons=(quoted,))
    assert [r for r in outcome_of(replace(report, certificate=certificate)).reasons if "moved" in r] == [quoted]
    silent = replace(certificate, reasons=("Something else, at delta 1e-05, epsilon inf or more.",))
    reasons = outcome_of(replace(report, certificate=silent)).reasons
    assert finding.message in reasons
    assert "Something else, at delta 10⁻⁵, epsilon ∞ or more." in reasons
