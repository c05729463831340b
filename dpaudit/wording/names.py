"""Fixed wording: what nodes, models and statuses are called, the glossary, and the disclaimer."""

import math
from typing import assert_never

from dpaudit.model.claim import Claim, Model, Neighbours
from dpaudit.model.declaration import (
    Billboard,
    Cells,
    Declaration,
    Group,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    Stated,
    Subsample,
)
from dpaudit.wording.numerals import at_most, nearest

DISCLAIMER = (
    "This report is evidence for an assessment. It is not a legal determination, and it gives no score: a privacy "
    "guarantee is its parameters together with its unit, its neighbours and its conditions."
)

MODEL_WORDS: dict[Model, str] = {
    "central": "central: every published output is protected; the curator sees the data",
    "joint": "joint: what all the other users see is protected; each user sees their own outcome",
    "local": "local: each user's own message is protected before it leaves the device",
}

NEIGHBOUR_WORDS: dict[Neighbours, str] = {
    "replace_one": "replace one: one record's value is replaced by any other; the number of records is public",
    "add_remove": "add or remove: one record is added or taken away; presence itself is protected",
}

GLOSSARY: tuple[tuple[str, str], ...] = (
    ("Unit", "What one person contributes, and so what is protected. The same numbers for another unit mean less."),
    ("Neighbours", "Two data sets that differ in one unit. The guarantee compares what an observer sees on each."),
    ("Epsilon", "The logarithm of the factor by which the probability of any event may change. Smaller protects more."),
    ("Delta", "What that probability may change by beside the factor. It should be far below one in the users."),
    ("Declaration", "Which noisy answers an algorithm releases, and how they compose. The proof reads nothing else."),
    ("Bracket", "A lower and an upper bound, both proved. The true value of the declaration lies between them."),
    ("Printed argument", "The proof that the paper gives, replayed rule by rule with the paper's own budgets."),
    ("Attacked", "A lower bound on epsilon measured by running the code on two neighbouring data sets."),
    ("Significance", "The probability that correct code would be accused. It is not a degree of belief."),
    ("Power", "The smallest violation that an audit would have caught, and with which probability."),
    ("Ceiling", "The most that any attack could have shown with so many runs, had every guess been right."),
    ("Condition", "What a proof needs beside its arithmetic: checked, assumed, or seen violated."),
)


def observer(model: Model) -> str:
    """Return whose view the claim speaks about."""
    match model:
        case "central":
            return "anybody who sees the output"
        case "joint":
            return "the other users together"
        case "local":
            return "anybody who sees the user's message"
        case _:
            assert_never(model)


def promise(claim: Claim) -> str:
    """Return in one sentence what the claim means to the person behind a record."""
    whatever = (
        f"Whether or not {claim.unit} is there" if claim.neighbours == "add_remove" else f"Whatever {claim.unit} is"
    )
    factor = f"e^{nearest(claim.epsilon)}" if claim.epsilon > 100 else at_most(math.exp(claim.epsilon))
    change = f"by no more than a factor of {factor}" if claim.epsilon else "not at all"
    if claim.delta:
        change = (
            f"{change}, plus {nearest(claim.delta)}" if claim.epsilon else f"by no more than {nearest(claim.delta)}"
        )
    return f"{whatever}, the probability of anything that {observer(claim.model)} may see changes {change}."


def node_name(node: Declaration) -> str:
    """Return the name of a kind of node, in words."""
    match node:
        case Release():
            return "Release"
        case Sequential():
            return "In sequence"
        case Repeat():
            return "Repeated"
        case Parallel():
            return "In parallel"
        case Cells():
            return "Cells"
        case Group():
            return "Group"
        case Subsample():
            return "Subsample"
        case PostProcess():
            return "Post-processing"
        case Billboard():
            return "Billboard"
        case Local():
            return "On the device"
        case Stated():
            return "Stated"
        case _:
            assert_never(node)


def node_rule(node: Declaration) -> str:
    """Return how the tight reading treats a node, in one short sentence."""
    match node:
        case Release():
            return "exact loss of the noise"
        case Sequential():
            return "losses of all parts are composed"
        case Repeat(times=times):
            return f"composed {times:,} times"
        case Parallel(key=key):
            return f"worst part counts; {key} decides which part a record touches"
        case Cells():
            return "same cell, or one cell emptied and another filled"
        case Group(size=size):
            return f"one person owns up to {size:,} records"
        case Subsample(rate=rate, scheme=scheme):
            return f"sampled at rate {rate:g} ({scheme.replace('_', ' ')})"
        case PostProcess(steps=steps):
            return f"costs nothing: {', '.join(steps)}" if steps else "costs nothing"
        case Billboard(reads=reads):
            return f"public, combined with {', '.join(reads)}" if reads else "public, combined with own data"
        case Local():
            return "one message a user"
        case Stated(source=source):
            return f"taken on trust from {source}"
        case _:
            assert_never(node)
