"""What of a declaration rests on somebody else's word, and what is proved without it.

On trust are `stated` parts, releases whose mechanism (or a leaf of it) is a plug-in that states its own loss, and a
condition of kind "stated" that a caller adds. Assumptions about the code that runs, such as ideal noise or norms, are
conditions of a proof instead.
"""

import math
from collections.abc import Callable
from dataclasses import replace

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.fold import above, folded
from dpaudit.certification.digits import most
from dpaudit.certification.evidence import is_met
from dpaudit.checks import FieldError
from dpaudit.engines import BY_EFFORT
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model.bracket import Effort
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration, Release, Stated, children, walk, with_children
from dpaudit.model.mechanism import is_plugged_in, rests_on_plug_ins, with_leaves
from dpaudit.model.readings import Trust

ALONE = "STATED by {source}: nothing here was proved or checked."
MIXED = "In {measure}: proved parts alone {proved}; with stated parts at their word {whole}; share on trust {share} %."


def trust_of(
    declaration: Declaration, claim: Claim, conditions: tuple[Condition, ...], effort: Effort, proved_epsilon: float
) -> Trust | None:
    """Return what the claim takes on trust; None where it holds with every stated part at infinity.

    `proved_epsilon` is the proved upper end of epsilon, with the stated parts at their word.
    """
    sources = sources_of(declaration, conditions)
    if sources == sources_of(declaration) and (not sources or _met_without(declaration, claim, conditions, effort)):
        return None

    def upper(alone: Declaration) -> float:
        """Return the proved epsilon of a declaration."""
        form = folded(above(alone, claim.neighbours), ())
        return bracket_epsilon(form, claim.delta, replace(BY_EFFORT[effort], above_alone=True)).upper

    return trust_in(sources, declaration, proved_epsilon, upper)


def trust_in(
    sources: tuple[str, ...],
    declaration: Declaration,
    with_sources: float,
    upper: Callable[[Declaration], float],
    power: int = 1,
) -> Trust:
    """Return the trust in `sources`: what is proved without them, and which share of `with_sources` they have.

    `upper` is the proved upper end of a declaration; ends add up when they are raised to `power`.
    """
    alone = _with_word(declaration, 0.0)
    if not any(isinstance(node, Release) for _, node in walk(alone)):
        return Trust(sources=sources)
    try:
        proved = upper(alone)
    except (UnsupportedError, DeclarationError, FieldError):
        return Trust(sources=sources)
    share = max(0.0, 1 - (proved / with_sources) ** power) if 0 < with_sources < math.inf else 1.0
    return Trust(sources=sources, proved=proved, share=share)


def sources_of(declaration: Declaration, conditions: tuple[Condition, ...] = ()) -> tuple[str, ...]:
    """Return whose word a declaration rests on, each once, in the order of the tree; then those of conditions.

    >>> sources_of(Stated(epsilon=1.0, source="a data sheet"))
    ('a data sheet',)
    """
    sources: list[str] = []
    for _, node in walk(declaration):
        if isinstance(node, Stated):
            sources.append(node.source)
        elif isinstance(node, Release):
            sources += [
                f"the plug-in mechanism {part.name}" for part in with_leaves(node.mechanism) if is_plugged_in(part)
            ]
    promised = (condition for condition in conditions if condition.kind == "stated" and condition.status != "violated")
    sources += [", ".join(condition.about) for condition in promised]
    return tuple(dict.fromkeys(sources))


def sentences_on(trust: Trust, measure: str, claimed: float, with_sources: float) -> tuple[str, ...]:
    """Return a line for each source, and of a mixture what is proved without them, in the words of a measure."""
    lines = tuple(ALONE.format(source=source) for source in trust.sources)
    if trust.proved is None:
        return lines
    numbers = {"proved": most(trust.proved, claimed), "whole": most(with_sources, claimed)}
    return (*lines, MIXED.format(measure=measure, share=f"{100 * trust.share:.3g}", **numbers))


def _met_without(declaration: Declaration, claim: Claim, conditions: tuple[Condition, ...], effort: Effort) -> bool:
    """Return whether the claim holds whatever the stated parts are; False where no rule says so."""
    try:
        return is_met(_with_word(declaration, math.inf), claim, conditions, effort)
    except (UnsupportedError, DeclarationError, FieldError):
        return False


def _with_word(node: Declaration, epsilon: float) -> Declaration:
    """Return the tree with each part on trust stated at another epsilon, and no delta."""
    match node:
        case Stated(source=source, neighbours=neighbours):
            return Stated(epsilon=epsilon, source=source, neighbours=neighbours)
        case Release(label=label, mechanism=mechanism):
            if rests_on_plug_ins(mechanism):
                return Stated(epsilon=epsilon, source=label, neighbours=mechanism.neighbours)
            return node
        case _:
            return with_children(node, tuple(_with_word(part, epsilon) for part in children(node)))
