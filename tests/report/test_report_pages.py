"""The files: complete, self-contained, accessible, deterministic, and safe to open."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from dpaudit.documents.page import style_sheet
from dpaudit.errors import ConfigError
from dpaudit.report import Report, render, write
from dpaudit.wording.escaping import markdown

SCRIPT = '<script>alert("x")</script>'


class Page(HTMLParser):
    """Collects what the rules below look at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.ids, self.headings, self.words = list[Any](), list[Any](), list[Any](), list[Any]()
        self.regions = list[Any]()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = dict(attrs)
        self.tags.append((tag, held))
        if "id" in held:
            self.ids.append(held["id"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def faults(self) -> list[Any]:
        """Return every rule of accessibility or self-containment that the page breaks."""
        found = []
        names = [tag for tag, _ in self.tags]
        found += [f"no <{tag}>" for tag in ("header", "main", "nav", "footer") if names.count(tag) != 1]
        found += [f"<{tag}>" for tag in ("script", "iframe", "img", "object", "form", "base") if tag in names]
        if names.count("title") != 1 + sum(held.get("role") == "img" for _, held in self.tags):
            found.append("a page or a figure without title")
        if self.headings[:1] != [1] or self.headings.count(1) != 1:
            found.append("headings do not start with one h1")
        steps = zip(self.headings, self.headings[1:], strict=False)
        found += [f"h{after} follows h{before}" for before, after in steps if after > before + 1]
        found += [f"id {ident} twice" for ident in set(self.ids) if self.ids.count(ident) > 1]
        for tag, held in self.tags:
            found += [f"{tag} {key}" for key in held if key.startswith("on") or key in ("src", "srcset", "action")]
            if held.get("href", "#")[0] != "#" and held.get("href") != "data:,":
                found.append(f"link to {held['href']}")
            if tag == "th" and "scope" not in held:
                found.append("th without scope")
            if tag == "svg" and held.get("aria-hidden") != "true" and held.get("role") != "img":
                found.append("svg without role")
            if held.get("role") == "region" and "aria-label" in held:
                found += ["landmark named twice"] if held["aria-label"] in self.regions else []
                self.regions.append(held["aria-label"])
            for name in (*(held.get("aria-labelledby") or "").split(), held.get("href", "#")[1:]):
                if name and tag != "link" and name not in self.ids:
                    found.append(f"{name} refers to nothing")
        return found


@pytest.fixture(scope="module")
def rendered(stories: dict[str, Report], story_pages: dict[str, dict[str, str]]) -> dict[Any, dict[str, str]]:
    return {name: story_pages[name] for name in stories}


def test_every_page_keeps_the_rules(rendered: dict[Any, dict[str, str]]) -> None:
    """Landmarks, headings in order, scopes, titles, unique names, no request, no script."""
    for name, texts in rendered.items():
        assert Page(texts["report.html"]).faults() == [], name


def test_a_broken_page_is_caught(rendered: dict[Any, dict[str, str]]) -> None:
    """The rules see each fault when it is planted."""
    page = rendered["paper"]["report.html"]
    planted = {
        "<script>": page.replace("</main>", "<script>alert(1)</script></main>"),
        "link": page.replace('href="#claim"', 'href="https://example.org"'),
        "th without scope": page.replace('<th scope="row"', "<th", 1),
        "landmark named twice": page.replace("The claim, field by field", "Composition, field by field"),
        "twice": page.replace('id="claim"', 'id="audits"', 1),
        "refers to nothing": page.replace('id="claim-title"', "", 1),
        "no <main>": page.replace("<main", "<div", 1),
        "follows": page.replace("<h2", "<h4", 3),
        "svg without role": page.replace('role="img"', "", 1),
        "src": page.replace("<figure", '<figure src="x"', 1),
    }
    for fault, text in planted.items():
        assert any(fault in found for found in Page(text).faults()), fault


def test_no_page_names_another_place(rendered: dict[Any, dict[str, str]]) -> None:
    """Style sheets and figures fetch nothing: no url(), no @import, no address but the SVG name space."""
    for name, texts in rendered.items():
        for path, text in texts.items():
            if name == "hostile" or not path.endswith((".html", ".svg")):
                continue
            rest = text.replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"url\(|@import|https?:|//[a-z]", rest), (name, path)


def test_hostile_text_is_words_and_nothing_else_in_html(rendered: dict[Any, dict[str, str]]) -> None:
    """Markup in names adds no element and no attribute: the page's tags are those of harmless names."""
    text = rendered["hostile"]["report.html"]
    assert SCRIPT not in text
    assert not any(tag == "img" for tag, _ in Page(text).tags)
    assert not any(tag == "script" for tag, _ in Page(text).tags)
    assert "\x00" not in text
    assert "\u202e" not in text
    assert 'alert("x")' in "".join(Page(text).words)


def test_markdown_escapes_what_starts_a_list_and_leaves_numbers_alone() -> None:
    """A decimal stays readable; a list, a rule or a heading at the start of a line does not come about."""
    assert markdown("9.21 slots") == "9.21 slots"
    assert markdown("9. slots") == "9\\. slots"
    assert markdown("- x") == "\\- x"
    assert markdown("# x\ny") == "\\# x y"


def test_figures_are_well_formed_and_titled_whatever_the_names(rendered: dict[Any, dict[str, str]]) -> None:
    """Every SVG file parses as XML, and has a title and a description; hostile names stay text."""
    space = "{http://www.w3.org/2000/svg}"
    for texts in rendered.values():
        for path, text in texts.items():
            if path.endswith(".svg"):
                root = ElementTree.fromstring(text)  # noqa: S314 - our own text
                assert root.find(f"{space}title").text
                assert root.find(f"{space}desc").text
                known = {"svg", "title", "desc", "style", "rect", "line", "circle", "path", "text"}
                assert {element.tag.removeprefix(space) for element in root.iter()} <= known


def test_equal_reports_give_equal_bytes(stories: dict[str, Report], rendered: dict[Any, dict[str, str]]) -> None:
    """Rendering again changes nothing, in any story."""
    for name, report in stories.items():
        assert render(report) == rendered[name]


def test_verdict_and_disclaimer_stand_in_every_format(
    stories: dict[str, Report], rendered: dict[Any, dict[str, str]]
) -> None:
    """Each format carries the verdict, the meaning and the disclaimer, and none a score."""
    for name, report in stories.items():
        for path in ("report.html", "report.md", "report.json"):
            text = rendered[name][path]
            assert report.verdict in text
            assert "not a legal determination" in text
            assert not re.search(
                r"\d\s*%|compliance score", re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
            )


def test_the_reference_story_is_told(rendered: dict[Any, dict[str, str]]) -> None:
    """The slack in one sentence, what eliminates nothing, and every bound, in both readable formats with the annex."""
    page, report, annex = (rendered["paper"][path] for path in ("report.html", "report.md", "annex.md"))
    assert "annex.md" in report
    for path, text in (("report.html", page), ("report.md", report + annex)):
        for words in ("18.4 times larger than the claim needs", "they eliminate nothing", "0.04122", "6 parts alike"):
            assert words in text, (path, words)


def test_without_audits_the_page_says_not_assessed(rendered: dict[Any, dict[str, str]]) -> None:
    """A missing audit is told on the cover, in its section and in the figure."""
    text = rendered["refuted"]["report.html"]
    assert text.count("obody attacked") >= 3
    assert "no fault of the code would have been caught" in text


def test_files_are_written_below_the_folder_and_named_by_us(
    stories: dict[str, Report], rendered: dict[Any, dict[str, str]], tmp_path: Path
) -> None:
    """The returned paths exist, lie in the folder, and hold what `render` says; names never come from the report."""
    paths = write(stories["hostile"], tmp_path / "new" / "folder")
    statements = {"test-result.intoto.json", "privacy-report.intoto.json"}
    assert {str(path.relative_to(tmp_path / "new" / "folder")) for path in paths} == {*rendered["hostile"], *statements}
    assert all(
        re.fullmatch(r"(report\.(html|md|json)|annex\.md|figures/[a-z]+(-\d+)?\.svg)", name)
        for name in rendered["hostile"]
    )
    assert (tmp_path / "new" / "folder" / "report.html").read_bytes().decode() == rendered["hostile"]["report.html"]


def test_an_unwritable_folder_is_a_clear_error(stories: dict[str, Report], tmp_path: Path) -> None:
    """A file in the way is named, with the remedy."""
    blocked = tmp_path / "taken"
    blocked.write_text("here")
    with pytest.raises(ConfigError, match=r"taken: cannot be written to .*name another folder"):
        write(stories["checked"], blocked)


def luminance(colour: str) -> Any:
    """Return the relative luminance of a colour, as WCAG defines it."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: Any) -> Any:
    """Return the contrast ratio of two colours."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_text_colour_has_contrast_in_both_schemes() -> None:
    """Text is at least 4.5 to 1 on both grounds, in light and dark; a pale grey would fail."""
    sheet = style_sheet("colours.css")
    schemes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block)) for block in sheet.split("@media")]
    assert len(schemes) == 2
    assert set(schemes[0]) == set(schemes[1])
    for colours in schemes:
        for text in ("ink", "muted", "claim", "proved", "attacked", "good", "caveat", "open", "bad"):
            for ground in ("paper", "raised"):
                assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground, colours[text])
    assert contrast("#999999", schemes[0]["paper"]) < 4.5


def test_a_longer_title_changes_no_other_word(stories: dict[str, Report]) -> None:
    """Only what was changed changes: the title is not part of the evidence."""
    report = stories["checked"]
    texts = render(report), render(replace(report, title="Another title"))
    assert texts[0]["report.html"].replace("Privacy report", "Another title") == texts[1]["report.html"]
