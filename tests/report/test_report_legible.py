"""The pages of a report: each reason once, numbers as readers know them, and tables in one piece on paper."""

from dataclasses import replace

from dpaudit.model.trace import Finding
from dpaudit.report import Report
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


def test_a_printed_page_keeps_tables_whole(story_pages: dict[str, dict[str, str]]) -> None:
    """The print rules ask the browser not to break a table that fits on a page; its caption stays above it."""
    page = story_pages["paper"]["report.html"]
    printed = page.partition("@media print")[2]
    assert "table { break-inside: avoid; }" in printed
    assert "h2, h3, caption { break-after: avoid; }" in printed
