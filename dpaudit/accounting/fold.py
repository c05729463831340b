"""The one place where composition is defined: from a declaration to what engines compute with.

A declaration folds into a `NormalForm`: alternatives, each a multiset of losses. A neighbouring pair meets
one alternative, so the worst of them counts. One derivation gives what bounds every pair, and what single pairs attain.

A sensitivity is stated for one query, and some pair attains it. Several queries may need several pairs, so that losses
add up only where one pair moves all of them: copies of one query, or releases that a checked condition names together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.plans import Asked, Found, named_once, shared_keys
from dpaudit.accounting.derivation.walker import derived
from dpaudit.accounting.dominance import heaviest
from dpaudit.accounting.normal_form import Alternatives, NormalForm
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import Composition
from dpaudit.model.witness import Attainment, Witness


@dataclass(frozen=True, slots=True, kw_only=True)
class Attained:
    """The losses that one pair attains, and the witness that says which pair."""

    composition: Composition
    witness: Witness


def fold(node: Declaration, neighbours: Neighbours, conditions: tuple[Condition, ...] = ()) -> NormalForm:
    """Return the normal form of `node` for data sets related by `neighbours`.

    The lower side is the loss that one pair attains: that of the worst query, or of all queries that a checked
    condition of kind "attained" names.

    Raises:
        DeclarationError: a mechanism's sensitivity is stated for other neighbours.
        UnsupportedError: a node that no rule here covers, named in the message.

    >>> from dpaudit import Repeat, Stated
    >>> told = Stated(epsilon=0.5, source="a supplier")
    >>> fold(Repeat(part=told, times=3), "replace_one").upper[0].parts
    ((ApproximateLoss(epsilon=0.5, delta=0.0), 3),)
    """
    judgement = derived(node, neighbours)
    return folded(judgement.above, attained_by_one_pair(judgement, conditions))


def folded(upper: Alternatives, attained: tuple[Attained, ...]) -> NormalForm:
    """Return the normal form of what bounds from above and of what single pairs attain, if any."""
    return NormalForm(upper=upper, lower=tuple(pair.composition for pair in attained) or (Composition(),))


def above(node: Declaration, neighbours: Neighbours) -> Alternatives:
    """Return alternatives of which one dominates the loss of any pair of neighbours.

    Raises: as for `fold`.
    """
    return derived(node, neighbours).above


def attained_by_one_pair(judgement: Judgement, conditions: tuple[Condition, ...] = ()) -> tuple[Attained, ...]:
    """Return what single pairs of neighbours attain: one query each, and what a checked condition names together.

    Guarantee: each composition is the loss of one pair, if each sensitivity is attained by some pair and each checked
    condition of kind "attained" holds. Compositions that another one dominates are left out, and of many plans the
    last ones.
    Edge cases: nothing where no pair is known to move any release.

    >>> from dpaudit import Release, Sequential
    >>> from mechanisms import Gaussian
    >>> noise = Gaussian(stddev=2.0, l2_sensitivity=1.0, neighbours="replace_one")
    >>> both = Sequential(parts=(Release(label="sums", mechanism=noise), Release(label="counts", mechanism=noise)))
    >>> [pair.composition.events for pair in attained_by_one_pair(derived(both, "replace_one"))]
    [1]
    >>> named = Condition(kind="attained", about=("sums", "counts"), status="checked")
    >>> [pair.composition.events for pair in attained_by_one_pair(derived(both, "replace_one"), (named,))]
    [2]
    """
    together = dict.fromkeys(row.about for row in conditions if row.kind == "attained" and row.status == "checked")
    pairs = list(_witnessed(judgement.below(Asked(shared=shared_keys(judgement.node))), "by_definition"))
    for labels in together:
        pairs += attained_together(judgement, labels, "checked")
    return _undominated(pairs)


def attained_together(judgement: Judgement, labels: tuple[str, ...], attained: Attainment) -> tuple[Attained, ...]:
    """Return what a pair attains that moves all releases of `labels` at once, or all there are where it is empty.

    A checked pair names the values of several keys if each of its releases stands in one part only; an assumed one has
    any. Under replacement it fills one cell of an array and empties another, and both reach their bound. Of a person
    with several records every record moves the releases by as much, all in one direction.
    """
    named = attained == "assumed" or named_once(judgement.node, labels)
    asked = Asked(labels=labels, named=named, shared=shared_keys(judgement.node))
    return _undominated(list(_witnessed(judgement.below(asked), attained)))


def _witnessed(by_query: Found, attained: Attainment) -> Iterator[Attained]:
    """Yield each plan that moves something, with its witness."""
    for query, plans in by_query.items():
        labels = tuple(str(label) for label in query[0]) if isinstance(query[0], tuple) else (str(query[0]),)
        for plan in plans:
            if plan.composition.parts:
                witness = Witness(labels=labels, plan=plan.entries, attained=attained)
                yield Attained(composition=plan.composition, witness=witness)


def _undominated(pairs: list[Attained]) -> tuple[Attained, ...]:
    """Return what no other one dominates, the first of equal ones."""
    first = {pair.composition: pair for pair in reversed(pairs)}
    return tuple(first[composition] for composition in heaviest(first))
