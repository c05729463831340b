"""The length and look of a report: a cover on one screen, few words and pages, and legible tables."""

import re
from dataclasses import replace
from pathlib import Path

from dpaudit.configuration.deployment_file import read_deployment
from dpaudit.documents.page import page, style_sheet
from dpaudit.ledger import recompute
from dpaudit.model.trace import Finding
from dpaudit.render.budget import statement_document
from dpaudit.report import Report, render
from dpaudit.report.marks import undischarged
from dpaudit.report.verdicts import outcome_of
from dpaudit.report.writing import on_paper
from dpaudit.wording.audits import strongest
from dpaudit.wording.escaping import markdown
from dpaudit.wording.glossary import GLOSSARY

MOST_WORDS, MOST_PAGES = 3000, 6
FULL = Path(__file__).with_name("deployment.toml")


def words(page: str) -> str:
    """Return the text of a part of a page, in single spaces."""
    return " ".join(re.sub(r"<[^>]*>", " ", page).replace("&#39;", "'").split())


def test_no_story_needs_more_than_three_thousand_words(story_pages: dict[str, dict[str, str]]) -> None:
    """Without the annex, which the report names; the annex holds the tables that the page folds."""
    for name, texts in story_pages.items():
        assert len(texts["report.md"].split()) <= MOST_WORDS, name
        assert "annex.md" in texts["report.md"].partition("\n## ")[0], name


def test_the_reference_story_is_printed_on_six_pages(stories: dict[str, Report]) -> None:
    """The annex is among them."""
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", on_paper(stories["paper"]))) <= MOST_PAGES


def test_the_cover_holds_claim_verdict_measurement_conditions_and_the_command(
    stories: dict[str, Report], story_pages: dict[str, dict[str, str]]
) -> None:
    """All of it stands before the first figure, the conditions without evidence by their words; the odds do not."""
    report, page = stories["paper"], story_pages["paper"]["report.html"]
    cover = words(page[page.index("<main") : page.index("<figure")])
    for text in (report.verdict, report.meaning, "at least", "dpaudit verify report.json"):
        assert text in cover, text
    named = [line for line in undischarged(report) if " ".join(line.condition.text.split()) in cover]
    assert len(named) == min(6, len(undischarged(report)))
    assert f"{len(undischarged(report)) - 6} more" in cover or len(named) == len(undischarged(report))
    assert "of odds" not in cover
    assert "of odds" in words(page)


def test_audits_that_agree_are_one_line_and_a_violation_keeps_its_own(stories: dict[str, Report]) -> None:
    """The strongest stands for its view; another verdict, view or assumption is a line of its own."""
    (audit,) = stories["checked"].audits[:1]
    weaker = replace(audit, name="weaker", epsilon_lower=audit.epsilon_lower / 2)
    assert strongest((weaker, audit)) == ((audit, f"strongest of 2, view {audit.view}"),)
    assert [name for _, name in strongest((audit, replace(weaker, view="other")))] == [audit.name, "weaker"]
    assert len(strongest((audit, replace(weaker, verdict="inconclusive")))) == 2


def test_a_table_of_details_is_folded_on_the_page_and_whole_in_the_annex(
    story_pages: dict[str, dict[str, str]],
) -> None:
    """Conditions, groups and bounds are behind a line that names them, and stand in annex.md."""
    texts = story_pages["paper"]
    folded = re.findall(r"<details class=\"annex\"[^>]*><summary>(.*?)</summary>", texts["report.html"])
    titles = re.findall(r"^## \d+ · (.*)$", texts["annex.md"], flags=re.MULTILINE)
    plain = [title.replace("\\", "") for title in titles]
    assert {words(text) for text in folded} >= set(plain)
    assert any(text.startswith("Conditions") for text in plain)
    assert not any(text.startswith("Conditions") for text in texts["report.md"].splitlines())


def test_a_section_that_nobody_assessed_is_one_line(stories: dict[str, Report]) -> None:
    """Governance has a section once somebody declares it, and a line before."""
    bare, full = (render(report)["report.md"] for report in (stories["checked"], declared(stories["checked"])))
    assert "\n## 11 · Governance" not in bare
    assert len([line for line in bare.splitlines() if line.startswith("- **11 Governance**:")]) == 1
    assert "\n## 11 · Governance" in full


def declared(report: Report) -> Report:
    """Return a report whose owner declared everything."""
    return replace(report, deployment=read_deployment(FULL))


def test_a_glossary_term_is_plain_words() -> None:
    """No sign of Markdown, so that the page, the annex and the PDF print the same letters."""
    for word, sense in GLOSSARY:
        assert markdown(f"{word} {sense}") == f"{word} {sense}", word


def test_noise_without_slack_has_a_sentence_and_no_table(
    stories: dict[str, Report], story_pages: dict[str, dict[str, str]]
) -> None:
    """A slack of one has no factors; the reference story, with 18 times too much noise, has a table of them."""
    assert "Slack factor by factor" in story_pages["paper"]["annex.md"]
    slack = stories["paper"].certificate.slack
    assert slack is not None
    even = replace(slack, noise_ratio=1.0, factors=())
    report = replace(stories["paper"], certificate=replace(stories["paper"].certificate, slack=even))
    texts = render(report)
    assert "Slack factor by factor" not in texts["annex.md"]
    assert "ith noticeably less noise the claim is not proved" in texts["report.md"]


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


def test_the_dark_scheme_is_for_screens_and_words_and_dates_stay_whole() -> None:
    """A dark screen prints on white paper; head words and days are never broken."""
    sheet = style_sheet("colours.css", "page.css")
    assert "@media (prefers" not in sheet
    assert "th { overflow-wrap: normal;" in sheet
    assert "td.quiet { white-space: nowrap; }" in sheet
    assert style_sheet("page.css") in page(statement_document(recompute(()), created="2027-01-04"))
