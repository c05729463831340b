"""The page of a ledger is legible on a phone, in the dark and on paper."""

from dpaudit.documents.page import page, style_sheet
from dpaudit.ledger import recompute
from dpaudit.render.budget import statement_document


def test_the_dark_scheme_is_for_screens_and_words_and_dates_stay_whole() -> None:
    """A dark screen prints on white paper; head words and days are never broken."""
    sheet = style_sheet("colours.css", "page.css")
    assert "@media (prefers" not in sheet
    assert "th { overflow-wrap: normal;" in sheet
    assert "td.quiet { white-space: nowrap; }" in sheet
    assert style_sheet("page.css") in page(statement_document(recompute(()), created="2027-01-04"))
