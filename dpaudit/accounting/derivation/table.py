"""The table of rules: one row for a node, or a sample's scheme, and its moves.

The walker finds a row by these two alone. What a row reads of its parts stands in `dpaudit.model.moves`, and which
nodes may lie inside which in `whitelist`. docs/theory/rules.md has a line for each row, with its conclusion, its source
and proof, and the seeds that play it; a test compares both.
"""

from functools import partial
from typing import NoReturn

from dpaudit.accounting.derivation import allocating, composing, sampling, selecting, shuffles
from dpaudit.accounting.derivation.judgement import Judgement, Rule
from dpaudit.accounting.derivation.plans import Asked
from dpaudit.errors import DeclarationError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, walk
from dpaudit.model.moves import MOVES, Exchange, Move, Remove, Replace, Zero, name_of, proved_relations

_ALL = (Remove, Zero, Replace, Exchange)
_KEPT = (Remove, Zero, Replace)

_passing = partial(Rule, choice="as the parts", counts=("all",))
_ordered = partial(Rule, choice="order above none")

_TABLE: dict[str, dict[tuple[type[Move], ...], Rule]] = {
    "release": {_ALL: _passing("release", composing.released, composing.release_attained)},
    "stated": {_ALL: _passing("stated", composing.told, composing.nothing_known)},
    "sequential": {_ALL: _passing("sequence", composing.summed, composing.summed_attained)},
    "repeat": {_ALL: _passing("repeat", composing.repeated, composing.repeated_attained)},
    "filtered": {_KEPT: Rule("filter", composing.filtered, composing.nothing_known, choice="as the parts")},
    "filtered_per_record": {
        (Remove,): Rule("filter of a record", composing.filtered, composing.nothing_known, choice="as the parts")
    },
    "post_process": {_ALL: _passing("post-process", composing.as_the_part, composing.as_the_part_attained)},
    "billboard": {(Replace,): _passing("billboard", composing.as_the_part, composing.as_the_part_attained)},
    "group": {
        _ALL: Rule(
            "group",
            composing.as_the_part,
            composing.as_the_part_attained,
            choice="none above none",
            counts=("group",),
            refusal=composing.others_own_as_many,
        )
    },
    "local": {
        _KEPT: Rule(
            "message", composing.as_the_part, composing.sent_attained, choice="none above none", counts=("all", "one")
        ),
        (Exchange,): Rule("exchanged message", composing.two_touched, composing.nothing_known),
    },
    "parallel": {
        _KEPT: Rule("parallel parts", composing.largest, composing.largest_attained, counts=("one", "all")),
        (Exchange,): Rule("exchanged part", composing.two_touched, composing.nothing_known),
    },
    "secret parallel": {_KEPT: Rule("secret part", composing.largest, composing.nothing_known)},
    "cells": {
        (Remove,): Rule("touched cell", composing.one_after_another, composing.cell_attained),
        (Replace, Exchange): Rule("two cells", composing.two_touched, composing.two_cells_attained),
    },
    "poisson": {
        (Remove,): _ordered("removed from a Poisson sample", sampling.removed_from_poisson, sampling.poisson_attained),
        (Zero,): _ordered(
            "zeroed on a Poisson sample",
            sampling.removed_from_poisson,
            sampling.poisson_attained,
            others="below rate 1",
        ),
        (Replace, Exchange): Rule(
            "replaced on a Poisson sample", sampling.replaced_on_poisson, sampling.apart_attained, others="needed"
        ),
    },
    "without_replacement": {
        (Remove,): Rule(
            "removed from a set",
            sampling.removed_from_a_set,
            sampling.set_attained,
            refusal=sampling.removal_leaves_a_set,
        ),
        (Replace, Exchange): Rule("replaced in a set", sampling.replaced_in_a_set, sampling.set_attained),
        (Zero,): _ordered(
            "zeroed in a set", sampling.zeroed_in_a_set, sampling.zeroed_in_a_set_attained, others="needed"
        ),
    },
    "truncated_poisson": {
        (Remove,): _ordered(
            "removed from a cut sample", sampling.removed_from_a_cut_sample, sampling.cut_attained, others="needed"
        )
    },
    "with_replacement": {
        (Replace,): Rule("draws with replacement", sampling.replaced_with_replacement, sampling.copied_attained)
    },
    "allocate": {
        (Remove,): _ordered("removed from secret steps", allocating.removed_from_steps, allocating.steps_attained),
        (Zero,): _ordered(
            "zeroed at secret steps", allocating.removed_from_steps, allocating.steps_attained, others="needed"
        ),
        (Replace,): Rule(
            "replaced at secret steps", allocating.replaced_at_steps, allocating.apart_attained, others="needed"
        ),
    },
    "best_of": {
        _KEPT: Rule("best run", selecting.best, selecting.best_run_attained, choice="none above none", counts=("all",))
    },
    "shuffle": {(Replace,): Rule("shuffle", shuffles.shuffled, shuffles.reports_attained)},
    "shuffled_table": {(Replace,): Rule("shuffled table", shuffles.shuffled, shuffles.table_attained)},
}

RULES = {(node, move): rule for node, rows in _TABLE.items() for moves, rule in rows.items() for move in moves}
"""Each rule, by the name of its node and the move of the whole."""


def _unproved(judgement: Judgement, asked: Asked | None = None) -> NoReturn:
    """Refuse a scheme under a move that nothing is proved of."""
    name = name_of(judgement.node)
    proved = " and ".join(map(repr, proved_relations(name)))
    raise DeclarationError(
        f"'subsample' with scheme={name!r} is proved for neighbours={proved}, but is read for "
        f"neighbours={judgement.move.relation!r}. Change the claim's neighbours, or the scheme if the code samples "
        "otherwise."
    )


_UNPROVED = Rule("no rule", _unproved, _unproved)


def rule_of(name: str, move: type[Move]) -> Rule:
    """Return the row of a node's name under a move; without one, a rule that refuses as soon as a number is asked for.

    >>> rule_of("poisson", Replace).name, rule_of("billboard", Remove).name
    ('replaced on a Poisson sample', 'no rule')
    """
    return RULES.get((name, move), _UNPROVED)


def needs_others(declaration: Declaration, neighbours: Neighbours) -> bool:
    """Return whether some node's rule, under the move of the whole, needs records that no sensitivity promises.

    >>> from dpaudit.model.declaration import Stated, Subsample
    >>> sample = Subsample(part=Stated(epsilon=0.5, source="a supplier"), rate=0.1)
    >>> needs_others(sample, "replace_one"), needs_others(sample, "add_remove")
    (True, False)
    """
    return any(rule_of(name_of(node), MOVES[neighbours]).needs_others(node) for _, node in walk(declaration))
