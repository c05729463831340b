"""Every rule of the accountant has a line on a page, a proof or a source, and a seed that rests on it."""

import math
import re
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dpaudit import bracket_delta
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.table import RULES
from dpaudit.accounting.derivation.walker import derive, derived
from dpaudit.accounting.derivation.whitelist import ALLOWED, LEAVES, TRANSPARENT
from dpaudit.accounting.fold import folded
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import NEIGHBOURS
from dpaudit.model.condition import MOVED, NEEDED
from dpaudit.model.moves import Exchange, Move, Remove, reads_of
from dpaudit.semantics import pairs, value
from dpaudit.semantics.seeds import TABLES
from tests.semantics.certified import as_black_box, as_table, stated_for
from tests.semantics.seeds import seeds

THEORY = Path(__file__).parents[2] / "docs" / "theory"
PAGE = (THEORY / "rules.md").read_text(encoding="utf-8")
SEEDS = seeds()
CITED = re.compile(r"\b(?:19|20)\d\d\b|by definition")


def columns() -> dict[str, tuple[str, str, str, str]]:
    """Return what the code says of each rule: its node, its moves, the moves it reads of its parts, its conditions."""
    found: dict[str, tuple[str, list[type[Move]]]] = {}
    for (node, move), rule in RULES.items():
        found.setdefault(rule.name, (node, []))[1].append(move)
    return {
        name: (f"`{node}`", ", ".join(move.name for move in moves), premises(node, moves), conditions(node, moves))
        for name, (node, moves) in found.items()
    }


def premises(node: str, moves: list[type[Move]]) -> str:
    """Return the moves that a rule reads of its parts, as the page writes them."""
    if node in LEAVES:
        return "the bound for X" if node == "release" else "none"
    read = {move.name: ", ".join(inside.name for _, inside in reads_of(node, move)) for move in moves}
    if all(inside == name for name, inside in read.items()):
        return "X"
    if len(set(read.values())) == 1:
        return next(iter(read.values()))
    return "; ".join(f"{name}: {inside}" for name, inside in read.items())


def conditions(node: str, moves: list[type[Move]]) -> str:
    """Return the kinds of conditions that a rule takes for granted, the same under all of its moves."""
    kind, _, relations = MOVED.get(node, ("", "", ()))
    (moved,) = {(kind,) if move.relation in relations else () for move in moves}
    return ", ".join(f"`{kind}`" for kind in (*(needed for needed, _ in NEEDED[node]), *moved))


@cache
def lines() -> dict[str, list[str]]:
    """Return the cells of each line of the page's first table, by the name of the rule."""
    table = PAGE.split("## Rules of losses")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table if line[:2] == "| "]
    return {row[0]: row[1:] for row in rows if row[0] != "rule"}


@cache
def rests_on(seed: str) -> frozenset[str]:
    """Return the rules of a seed's derivations under all relations that do not refuse it."""
    found: set[str] = set()
    for relation in NEIGHBOURS:
        with suppress(UnsupportedError):
            for read in (as_black_box, as_table):
                declared = stated_for(SEEDS[seed], TABLES, relation, read)
                found |= {judgement.rule.name for judgement in judgements(derived(declared, relation))}
    return frozenset(found)


def judgements(judgement: Judgement) -> Iterator[Judgement]:
    """Yield a judgement and all that it rests on."""
    yield judgement
    for group in judgement.premises:
        for premise in group:
            yield from judgements(premise)


def test_the_page_has_a_line_for_each_rule_and_no_other() -> None:
    """Names, nodes, moves, premises and conditions are those of the code."""
    assert {name: tuple(cells[:4]) for name, cells in lines().items()} == columns()


@pytest.mark.parametrize("name", sorted({rule.name for rule in RULES.values()}))
def test_a_rule_has_a_conclusion_a_source_and_seeds(name: str) -> None:
    """Links lead to a section or to a proof, or a publication is cited; each seed's derivation uses the rule."""
    conclusion, source, played = lines()[name][4:]
    links = re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", source)
    assert conclusion
    assert links or CITED.search(source)
    for file, section in links:
        text = (THEORY / (file or "rules.md")).read_text(encoding="utf-8")
        headings = (line.strip("# ").lower().replace(" ", "-") for line in text.splitlines() if line.startswith("#"))
        assert not section or section in {re.sub(r"[^\w-]", "", heading) for heading in headings}
    assert CITED.search(source) or any(section or file.endswith(".v") for file, section in links)
    for seed in played.split(", "):
        assert name in rests_on(seed), seed


def test_a_line_that_is_missing_is_seen() -> None:
    """The twin: a seed of another node does not rest on a rule, and a page without a line is not that of the code."""
    assert "shuffle" not in rests_on("poisson over sharp")
    assert {name: cells for name, cells in lines().items() if name != "shuffle"}.keys() != columns().keys()


def test_every_nest_of_the_whitelist_has_a_rule_for_its_outer_node() -> None:
    """A row of the whitelist without a rule would promise what nothing concludes; but for what is refused later."""
    pairs = {(node, move) for node, rows in ALLOWED.items() for move in rows}
    without = {(node, move.name) for node, move in pairs if (node, move) not in RULES}
    assert without == {
        *(("truncated_poisson", move) for move in ("replace", "zero")),
        *(("with_replacement", move) for move in ("remove", "zero")),
    }
    assert {node for node, _ in RULES} - {*ALLOWED, *LEAVES, *TRANSPARENT} == set()


@pytest.mark.parametrize("name", ["local over sharp", "parallel over sharp", "cells over sharp"])
def test_an_exchange_costs_no_less_than_its_game(name: str) -> None:
    """Exchanges come from inside samples alone, so that no claim is about one; a derivation may be."""
    form = folded(derive(SEEDS[name], Exchange()).above, ())
    single = folded(derive(SEEDS[name], Remove()).above, ())
    rng = np.random.default_rng(7)
    for x in (Fraction(3, 2), Fraction(3)):
        pairs_of_two = (pair for pair in pairs("exchange") if max(map(len, pair)) <= 2)
        game = max(value(SEEDS[name], TABLES, pair, x, most_queries=64, rng=rng) for pair in pairs_of_two)
        assert bracket_delta(form, math.log(x)).upper >= game * (1 - 1e-12)
        assert bracket_delta(single, math.log(x)).upper < game, "the twin: one message, part or cell is too few"
