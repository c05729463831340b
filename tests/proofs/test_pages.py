"""Pages and proofs name each other: a statement leads to its proof, and a proof to the pages that use it."""

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROOFS = ROOT / "docs" / "proofs"
HELPERS = frozenset({"Sums.v", "Laws.v"})
PAGES = tuple(
    path
    for folder in ("theory", "papers")
    for path in sorted((ROOT / "docs" / folder).glob("*.md"))
    if path.name != "rules.md"  # a list of all rules; tests/semantics holds each row against its proof
)


def named_pages(source: str) -> frozenset[str]:
    """Return the pages that the first comment of a proof names after "Used by" or as a side-condition."""
    return frozenset(re.findall(r"docs/((?:theory|papers)/\w+\.md)", source.split("*)", maxsplit=1)[0]))


def linked_proofs(page: str) -> frozenset[str]:
    """Return the proofs that a page of `docs/theory` or `docs/papers` links to."""
    return frozenset(re.findall(r"\]\(\.\./proofs/(\w+\.v)\)", page))


def one_sided(proofs: Mapping[str, str], pages: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return the pairs (proof, page) of which one names the other, and the other does not answer."""
    forward = {(proof, page) for proof, source in proofs.items() for page in named_pages(source)}
    back = {(proof, page) for page, text in pages.items() for proof in linked_proofs(text)}
    return frozenset(forward ^ back)


def proofs() -> dict[str, str]:
    """Return the text of each proof by its file's name."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(PROOFS.glob("*.v"))}


def pages() -> dict[str, str]:
    """Return the text of each page by its path below `docs`."""
    return {path.relative_to(ROOT / "docs").as_posix(): path.read_text(encoding="utf-8") for path in PAGES}


def test_a_proof_and_a_page_name_each_other() -> None:
    """Every page that a proof names links to it, and every proof that a page links to names the page."""
    assert one_sided(proofs(), pages()) == frozenset()


def test_every_proof_is_used_by_a_page() -> None:
    """Only the two files of words and sums have no page."""
    assert {name for name, source in proofs().items() if not named_pages(source)} == HELPERS


def test_a_link_that_is_taken_away_is_seen_in_both_directions() -> None:
    """The twins: a page without its link, a proof without its page, a link to a proof that does not exist."""
    sources, texts = proofs(), pages()
    silent = {**texts, "theory/trees.md": texts["theory/trees.md"].replace("../proofs/Prefixes.v", "Prefixes.v")}
    assert one_sided(sources, silent) == {("Prefixes.v", "theory/trees.md")}
    mute = {**sources, "Prefixes.v": sources["Prefixes.v"].replace("docs/theory/trees.md", "a page")}
    assert one_sided(mute, texts) == {("Prefixes.v", "theory/trees.md")}
    invented = {**texts, "theory/trees.md": texts["theory/trees.md"] + "[x](../proofs/Absent.v)"}
    assert one_sided(sources, invented) == {("Absent.v", "theory/trees.md")}


def test_the_readme_names_pages_that_the_proof_names() -> None:
    """The table of what is proved leads to pages that the file itself names."""
    table = (PROOFS / "README.md").read_text(encoding="utf-8").split("## What is proved")[1].split("\n## ")[0]
    rows = re.findall(r"^\| \[(\w+\.v)\]\(\w+\.v\) \|.*\| (.*) \|$", table, flags=re.MULTILINE)
    assert {name for name, _ in rows} == set(proofs()) - HELPERS
    for name, cell in rows:
        linked = set(re.findall(r"\]\(\.\./([\w/]+\.md)", cell))
        assert linked <= named_pages(proofs()[name]), name
        assert linked or name == "Needed.v"
