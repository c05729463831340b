"""The page of a ledger is legible on a phone, in the dark and on paper."""

import re

from dpaudit.documents.page import page, style_sheet
from dpaudit.ledger import recompute
from dpaudit.render.budget import statement_document


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.1)."""
    digits = colour.removeprefix("#")
    wide = "".join(2 * digit for digit in digits) if len(digits) == 3 else digits
    parts = [int(wide[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours, from 1 to 21."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_words_have_contrast_in_both_schemes() -> None:
    """At least 4.5 (WCAG AA) for text and for each tone, on the paper of its own scheme."""
    light, dark = style_sheet("colours.css").split("@media screen")
    for scheme in (light, dark):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]+)", scheme))
        for name in ("ink", "muted", "good", "caveat", "bad"):
            assert contrast(colours[name], colours["paper"]) >= 4.5, (name, scheme[:20])
    assert contrast("#1d6a43", "#16181c") < 4.5


def test_the_dark_scheme_is_for_screens_and_words_and_dates_stay_whole() -> None:
    """A dark screen prints on white paper; head words and days are never broken."""
    sheet = style_sheet("colours.css", "page.css")
    assert "@media (prefers" not in sheet
    assert "th { overflow-wrap: normal;" in sheet
    assert "td.quiet { white-space: nowrap; }" in sheet
    assert style_sheet("page.css") in page(statement_document(recompute(()), created="2027-01-04"))
