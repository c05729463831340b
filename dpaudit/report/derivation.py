"""The derivation as rows: one for each node; equal siblings share a row, and long lists are shortened."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import groupby, islice

from dpaudit.certification.certificate import Certificate
from dpaudit.certification.measured import ends_of
from dpaudit.checks import Count, Natural
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model import declaration as nodes
from dpaudit.model.bracket import Bracket
from dpaudit.model.claim import Neighbours
from dpaudit.model.condition import conditions_of
from dpaudit.model.declaration import Declaration, Printed, children, with_children
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import Ends
from dpaudit.model.mechanism import Mechanism
from dpaudit.model.moves import relation_below
from dpaudit.report.curves import own_epsilon
from dpaudit.report.theorems import theorems_of
from dpaudit.wording.measures import bounds_rows
from dpaudit.wording.nodes import node_words
from dpaudit.wording.numerals import at_least, interval, nearest, whole
from dpaudit.wording.references import Reference

MOST_SIBLINGS = 8
MOST_ROWS = 80
_NOTHING = nodes.Stated(epsilon=0.0, source="nothing below this node")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the derivation: a node, or `alike` equal siblings, or an ellipsis where `node` is empty.

    `epsilon` brackets the node's own loss at `delta`, the printed delta where the paper assigns one and the
    claim's elsewhere; it is None where no engine covers the node. Of a claim in another measure `ends` stand in its
    place. `conditions` are places in the certificate.
    `theorems` says what each rule of the node rests on.
    """

    path: str
    depth: Natural
    node: str
    name: str
    rule: str = ""
    alike: Count = 1
    sensitivity: str = ""
    noise: str = ""
    printed: Printed | None = None
    delta: float = 0.0
    epsilon: Bracket | None = None
    ends: Ends | None = None
    conditions: tuple[Natural, ...] = ()
    theorems: tuple[Reference, ...] = ()


def rows_of(certificate: Certificate) -> tuple[Row, ...]:
    """Return the rows of the whole tree, parents first, at most `MOST_ROWS` of them and an ellipsis."""
    whole_tree = _rows(certificate, (certificate.declaration,), certificate.claim.neighbours, "root", 0)
    rows = list(islice(whole_tree, MOST_ROWS + 1))
    if len(rows) > MOST_ROWS:
        rows[-1] = _ellipsis("root", 1, "further nodes are in the JSON certificate")
    return tuple(rows)


def _rows(
    certificate: Certificate, equal: tuple[Declaration, ...], relation: Neighbours, path: str, depth: int
) -> Iterator[Row]:
    """Yield the row of siblings that are equal but for their labels, the first at `path`, then those of its parts."""
    node = equal[0]
    yield _row(certificate, equal, relation, path, depth)
    groups = alike(children(node))
    hidden = groups[5:-2] if len(groups) > MOST_SIBLINGS else []
    for number, (first, siblings) in enumerate(groups):
        if hidden and number == 5:
            count = sum(len(members) for _, members in hidden)
            yield _ellipsis(f"{path}.{first}", depth + 1, f"{whole(count)} further parts, all in the JSON certificate")
        if not 5 <= number < 5 + len(hidden):
            below = relation_below(node, first, relation)
            yield from _rows(certificate, siblings, below, f"{path}.{first}", depth + 1)


def _row(certificate: Certificate, equal: tuple[Declaration, ...], relation: Neighbours, path: str, depth: int) -> Row:
    """Return the row of a node and of its equals."""
    node, root = equal[0], path == "root"
    claim, label, last = certificate.claim, _label(node), _label(equal[-1])
    measured = claim if isinstance(claim, MeasuredClaim) else None
    delta = 0.0 if measured else node.printed.delta if node.printed and not root else claim.delta
    epsilon = certificate.tight.epsilon if root and measured is None else None
    if not root and measured is None:
        epsilon = own_epsilon(unwrapped(node), relation, delta)
    mechanism, words = node.mechanism if isinstance(node, nodes.Release) else None, node_words(node)
    return Row(
        path=path,
        depth=depth,
        node=words.name,
        name=label if label == last else f"{label} … {last}",
        rule=words.rule,
        alike=len(equal),
        sensitivity=sensitivity_of(mechanism) if mechanism else "",
        noise=noise_of(mechanism) if mechanism else "",
        printed=node.printed,
        delta=delta,
        epsilon=epsilon,
        ends=_ends(node, replace(measured, neighbours=relation, model="central")) if measured else None,
        conditions=_conditions(certificate, node),
        theorems=theorems_of(node, relation),
    )


def unwrapped(node: Declaration) -> Declaration:
    """Return what a node wraps that changes who sees what, and not the loss."""
    while isinstance(node, nodes.PostProcess | nodes.Billboard | nodes.Local):
        node = node.part
    return node


def _ends(node: Declaration, claim: MeasuredClaim) -> Ends | None:
    """Return a node's own ends in the measure of a claim, or None where no rule covers it."""
    try:
        return ends_of(node, claim)
    except (UnsupportedError, DeclarationError):
        return None


def alike(parts: tuple[Declaration, ...]) -> list[tuple[int, tuple[Declaration, ...]]]:
    """Return runs of siblings that are equal but for their labels, each with the place of its first."""
    groups = (tuple(group) for _, group in groupby(enumerate(parts), key=lambda part: _anonymous(part[1])))
    return [(group[0][0], tuple(node for _, node in group)) for group in groups]


def _anonymous(node: Declaration) -> Declaration:
    """Return `node` without the labels of its releases."""
    if isinstance(node, nodes.Release):
        return replace(node, label="-")
    return with_children(node, tuple(_anonymous(child) for child in children(node)))


def _ellipsis(path: str, depth: int, text: str) -> Row:
    """Return a row that stands for those left out."""
    return Row(path=path, depth=depth, node="", name=text)


def _label(node: Declaration) -> str:
    """Return a release's label; other nodes have none."""
    return node.label if isinstance(node, nodes.Release) else ""


def _conditions(certificate: Certificate, node: Declaration) -> tuple[int, ...]:
    """Return the places, in the certificate, of the conditions that this node brings and its parts do not."""
    alone = with_children(node, (_NOTHING,) * len(children(node)))
    own = {condition.identity for condition in conditions_of(alone, certificate.claim.neighbours)}
    if alone is not node:
        own -= {condition.identity for condition in conditions_of(_NOTHING)}
    return tuple(number for number, condition in enumerate(certificate.conditions) if condition.identity in own)


def node_bounds(row: Row, *, void: bool) -> str:
    """Return the epsilon of a node, or its numbers in the measure of the claim; empty where no rule covers it.

    Where no upper bound is known of the code it is the lower end alone.
    """
    if row.ends is not None:
        return ", ".join(map(" ".join, bounds_rows(row.ends, void=void)))
    if row.epsilon is None:
        return ""
    return f"at least {at_least(row.epsilon.lower)}" if void else interval(row.epsilon)


def sensitivity_of(mechanism: Mechanism) -> str:
    """Return a mechanism's sensitivities with their norms."""
    return ", ".join(
        f"{value} in {name.split('_')[0]} norm" if name[0] == "l" else f"{value}"
        for name, value in _fields(mechanism)
        if "sensitivity" in name
    )


def noise_of(mechanism: Mechanism) -> str:
    """Return a mechanism's name and its parameters, the noise multiplier last."""
    parameters = [
        f"{name.replace('_', ' ')} {value}" for name, value in _fields(mechanism) if "sensitivity" not in name
    ]
    multiplier = getattr(mechanism, "noise_multiplier", None)
    if isinstance(multiplier, float):
        parameters.append(f"multiplier {nearest(multiplier)}")
    return f"{mechanism.name.replace('_', ' ')}: {', '.join(parameters)}"


def _fields(mechanism: object) -> Iterator[tuple[str, str]]:
    """Yield the public fields of a mechanism but its relation, as text; a mechanism inside is taken apart."""
    if not is_dataclass(mechanism):
        return
    for entry in fields(mechanism):
        value = getattr(mechanism, entry.name)
        if isinstance(value, Mechanism):
            yield from _fields(value)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield entry.name, nearest(value)
        elif entry.name != "neighbours":
            yield entry.name, str(value)
