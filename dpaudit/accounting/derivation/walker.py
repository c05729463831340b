"""The one walker: from a node and a move to its judgement, by the row of the table and the whitelist of nests.

Nodes in sequence, repeats and post-processing are transparent: what counts below a node is the next one that is none of
these.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dpaudit.accounting.derivation.judgement import Judgement, Rule
from dpaudit.accounting.derivation.table import rule_of
from dpaudit.accounting.derivation.whitelist import (
    ALLOWED,
    LEAVES,
    NOT_PROVED,
    NUMBERLESS,
    POPULATIONS,
    TRANSPARENT,
    UNDER,
    UNKNOWN,
    WHY,
)
from dpaudit.errors import UnsupportedError
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Billboard, Declaration, Group, Subsample, children
from dpaudit.model.moves import MOVES, Move, name_of, reads_of

_SAMPLING = (*POPULATIONS, "poisson", "allocate")


def derive(node: Declaration, move: Move) -> Judgement:
    """Return the judgement of `node` under `move`, each of whose premises has a rule.

    Guarantee: the derivation depends on the tree alone, not on the size of any noise.
    Raises: UnsupportedError: the first nest for which no rule is proved, with both nodes, the move, and what would be
        needed; or a node's own integers that contradict its rule.

    >>> from dpaudit.model.declaration import Allocate, Stated
    >>> from dpaudit.model.moves import Remove
    >>> steps = Allocate(part=Stated(epsilon=0.5, source="a supplier"), steps=10)
    >>> derive(steps, Remove()).rule.name
    'removed from secret steps'
    >>> derive(Group(part=steps, size=2), Remove())
    Traceback (most recent call last):
    dpaudit.errors.UnsupportedError: 'group' over 'allocate' under remove: no rule. ...
    """
    return _Walker().judge(node, move, "root", None, sampled=False)


def derived(node: Declaration, neighbours: Neighbours) -> Judgement:
    """Return the judgement of a whole declaration for data sets related by `neighbours`."""
    return derive(node, MOVES[neighbours]())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Outer:
    """The next node above that is not transparent, and whether it is listed with leaves alone below it."""

    node: Declaration
    name: str
    move: Move
    leaves: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walker:
    """The recursion over a tree; `judgements` has each judgement by path and move, and by what is above."""

    judgements: dict[tuple[str, Move, _Outer | None], Judgement] = field(default_factory=dict)

    def judge(self, node: Declaration, move: Move, path: str, outer: _Outer | None, *, sampled: bool) -> Judgement:
        """Return the judgement of a node at its place, once for all premises that ask for it.

        `sampled` says that a sample stands above, which may hold the record alone.
        """
        key = path, move, outer
        if key not in self.judgements:
            self.judgements[key] = self._judged(node, move, path, outer, sampled=sampled)
        return self.judgements[key]

    def _judged(self, node: Declaration, move: Move, path: str, outer: _Outer | None, *, sampled: bool) -> Judgement:
        """Return the same: by what is listed, by what integers say, and by every premise."""
        name = name_of(node)
        rule = rule_of(name, type(move))
        leaves = outer is not None and name not in TRANSPARENT and _leaves_alone(node, name, outer)
        if rule.refusal and (refusal := rule.refusal(node, move)):
            raise UnsupportedError(refusal)
        premises: Iterable[tuple[Judgement, ...]] = ()
        if name not in LEAVES:
            if name not in TRANSPARENT:
                if type(move) not in ALLOWED[name]:
                    raise UnsupportedError(f"'{name}' under {move.name}: no rule. {UNDER.get(name, NOT_PROVED)}")
                outer = _Outer(node=node, name=name, move=move, leaves=leaves)
            below = name in _SAMPLING or (sampled and name != "local")
            premises = self._premises(node, move, rule, path, outer, sampled=below)
        return Judgement(node=node, move=move, path=path, rule=rule, premises=tuple(premises), sampled=sampled)

    def _premises(
        self, node: Declaration, move: Move, rule: Rule, path: str, outer: _Outer | None, *, sampled: bool
    ) -> Iterator[tuple[Judgement, ...]]:
        """Yield the judgements of each premise, for each number of records that it is read for."""
        parts, size = children(node), node.size if isinstance(node, Group) else 1
        numbers = {"one": 1, "all": move.records, "group": move.records * size}
        for at, read in reads_of(name_of(node), type(move)):
            for records in dict.fromkeys(numbers[count] for count in rule.counts):
                inside = move if type(move) is read and records == move.records else read(records)
                yield tuple(
                    self.judge(part, inside, f"{path}.{i}", outer, sampled=sampled)
                    for i, part in enumerate(parts)
                    if at in (None, i)
                )


def _leaves_alone(node: Declaration, name: str, outer: _Outer) -> bool:
    """Return whether a node is listed with leaves alone below it; refuse it where it is not listed at all."""
    rows = [outer.name]
    if isinstance(outer.node, Billboard) and outer.move.records > 1:  # transparent to the records of a person
        rows.append("group")
    alone = [f"{name}/leaves" in ALLOWED[row][type(outer.move)] for row in rows]
    for row, leaves in zip(rows, alone, strict=True):
        listed = name in ALLOWED[row][type(outer.move)] and (not outer.leaves or name in LEAVES)
        if not (leaves or listed):
            why = UNKNOWN if name in POPULATIONS and row in NUMBERLESS else WHY.get(name, NOT_PROVED)
            raise _refused(row, name, outer.move, why.format(outer=row))
    _require_population(outer, node)
    return alone[0]


def _refused(outer: str, inner: str, move: Move, why: str) -> UnsupportedError:
    """Return the refusal of a nest."""
    return UnsupportedError(f"'{outer}' over '{inner}' under {move.name}: no rule. {why}")


def _require_population(outer: _Outer, inner: Declaration) -> None:
    """Refuse a sample of a sample whose population is not the number of records that the outer one passes on."""
    if isinstance(outer.node, Subsample) and isinstance(inner, Subsample) and inner.scheme in POPULATIONS:
        passed, said = outer.node.batch_size, inner.population
        if passed is None or passed != said:
            why = f"The outer one has batch_size={passed}, the inner one population={said}: give both the same number."
            raise _refused(outer.name, inner.scheme, outer.move, why)


def removals_change_sizes(judgement: Judgement) -> bool:
    """Return whether records that are removed one after another meet samples of other sizes, as the population falls.

    >>> from dpaudit.model.declaration import Stated
    >>> from dpaudit.model.moves import Remove
    >>> removals_change_sizes(derive(Subsample(part=Stated(epsilon=1.0, source="a supplier"), rate=0.1), Remove()))
    False
    """
    name = name_of(judgement.node)
    if name in TRANSPARENT or isinstance(judgement.node, Group | Billboard):
        return any(map(removals_change_sizes, judgement.parts))
    return judgement.move.name == "remove" and name in POPULATIONS
