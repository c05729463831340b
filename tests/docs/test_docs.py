"""The pages say what is so: their examples run, their links lead somewhere, and they name nobody's machine."""

import doctest
import re
from doctest import DocTest
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md")
THEORY = tuple(page for page in PAGES if page.parent in (ROOT / "docs" / "theory", ROOT / "docs" / "papers"))

FENCE = re.compile(r"^\s*(```|~~~).*$", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SOURCE_PATH = re.compile(r"`((?:dpaudit|mechanisms|algorithms|audits|docs|tests|examples|benchmarks)/[\w/.]*)`")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)

MACHINE_PATH = re.compile(r"(?<![\w.:/])(?:/|\.\./)(?:home|root|tmp|opt|work|mnt|srv|Users|shared|var|usr)\b(?:/|\b)")
HOST = re.compile(r"\b(?:[a-z0-9-]+\.)+(?:org|com|net|io|dev)\b", re.IGNORECASE)
PUBLISHERS = {"arxiv.org", "doi.org", "json-schema.org", "in-toto.io"}


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def without_fences(text: str) -> str:
    """The text with the fences of code blocks blanked, so that line numbers stay and a fence is no output."""
    return FENCE.sub("", text)


def examples(page_text: str, title: str, path: str) -> DocTest:
    return doctest.DocTestParser().get_doctest(without_fences(page_text), {"__name__": "docs"}, title, path, 0)


def failures(test: DocTest) -> tuple[int, str]:
    """How many examples of one page fail, and what they say."""
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append)
    return runner.failures, "".join(said)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, by the rule of the common Markdown renderers."""
    plain = (re.sub(r"[`*]", "", heading).strip().lower() for heading in HEADING.findall(without_code(text)))
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}


def without_code(text: str) -> str:
    return re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.MULTILINE | re.DOTALL)


def dead_links(page: Path, text: str) -> list[Any]:
    """The internal links of a page that lead nowhere."""
    dead = []
    for link in LINK.findall(without_code(text)):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            dead.append(link)
    return dead


def forbidden(text: str) -> list[Any]:
    """What a page must not contain: somebody's paths, and hosts other than those of publishers."""
    hosts = (match.group() for match in HOST.finditer(text))
    return [*MACHINE_PATH.findall(text), *(host for host in hosts if host.lower() not in PUBLISHERS)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_example_of_a_page_runs(page: Path) -> None:
    """Each `>>>` gives what stands below it, in one namespace a page."""
    failed, said = failures(examples(page.read_text(encoding="utf-8"), name(page), str(page)))
    assert not failed, said


@pytest.mark.parametrize("page", THEORY, ids=name)
def test_every_page_of_theory_has_an_example_and_a_length_one_reads(page: Path) -> None:
    """Three examples at least, and no more than 160 lines."""
    text = page.read_text(encoding="utf-8")
    assert len(examples(text, name(page), str(page)).examples) >= 3
    assert len(text.splitlines()) <= 160


def test_an_example_that_is_wrong_is_caught() -> None:
    """A page with one wrong line fails once, and a fence is never taken for output."""
    good = "```python\n>>> 1 + 1\n2\n```\n\nText.\n"
    assert failures(examples(good, "good", "good")) == (0, "")
    assert failures(examples(good.replace("2\n", "3\n"), "bad", "bad"))[0] == 1


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_internal_link_leads_somewhere(page: Path) -> None:
    """Files exist, and so do the headings that anchors name."""
    assert dead_links(page, page.read_text(encoding="utf-8")) == []


def test_a_link_to_nowhere_is_caught() -> None:
    """A missing file, a missing heading, and neither of the two."""
    page = ROOT / "docs" / "reference" / "architecture.md"
    assert dead_links(page, "[a](nowhere.md) [b](architecture.md#no-such-heading)") == [
        "nowhere.md",
        "architecture.md#no-such-heading",
    ]
    assert dead_links(page, "[a](architecture.md) [b](../theory/composition.md#the-theorems)") == []


@pytest.mark.parametrize("page", [ROOT / "docs" / "reference" / "architecture.md", *THEORY], ids=name)
def test_every_source_path_that_a_page_names_exists(page: Path) -> None:
    """A path in code font below one of the project's folders is a file or a folder; how-to pages may invent some."""
    found = SOURCE_PATH.findall(without_code(page.read_text(encoding="utf-8")))
    assert [path for path in found if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_page_names_a_machine_or_a_host(page: Path) -> None:
    """No absolute paths, no hosts but those of publishers."""
    assert forbidden(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text", ["see /home/me/x", "in /tmp/", "(/work/main)", "../shared/x", "from files.example.org", "at http://a.io/x"]
)
def test_a_forbidden_word_is_caught(text: str) -> None:
    """Paths of a machine and strange hosts are found; fractions and publishers are not."""
    assert forbidden(text)
    assert not forbidden("epsilon/2, and/or, runs/home, arxiv.org, dpaudit/work")
