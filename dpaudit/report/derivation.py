"""The derivation as rows: one for each node, with equal siblings told once and long lists shortened."""

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import groupby

from dpaudit.accountant import bracket_epsilon
from dpaudit.bracket import Bracket
from dpaudit.certificate import Certificate
from dpaudit.claim import Neighbours
from dpaudit.condition import conditions_of
from dpaudit.declaration import Cells, Declaration, Printed, Release, children, with_children
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.folding import fold
from dpaudit.mechanism import Mechanism
from dpaudit.report.numerals import nearest, whole
from dpaudit.report.wording import node_name, node_rule

MOST_SIBLINGS = 8
MOST_ROWS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the derivation: a node, or `alike` equal siblings, or an ellipsis where `node` is empty.

    `epsilon` brackets the node's own loss at `delta`, the printed delta where the paper assigns one and the
    claim's elsewhere; it is None where no engine covers the node. `conditions` are places in the certificate.
    """

    path: str
    depth: int
    node: str
    name: str
    rule: str = ""
    alike: int = 1
    sensitivity: str = ""
    noise: str = ""
    printed: Printed | None = None
    delta: float = 0.0
    epsilon: Bracket | None = None
    conditions: tuple[int, ...] = ()


def rows_of(certificate: Certificate) -> tuple[Row, ...]:
    """Return the rows of the whole tree, parents first, at most `MOST_ROWS` of them and an ellipsis."""
    rows: list[Row] = []
    walker = _rows(certificate, certificate.declaration, certificate.claim.neighbours, "root", 0, 1)
    for row in walker:
        if len(rows) == MOST_ROWS:
            rows.append(_ellipsis("root", 1, "further nodes are in the JSON report"))
            break
        rows.append(row)
    return tuple(rows)


def _rows(
    certificate: Certificate, node: Declaration, relation: Neighbours, path: str, depth: int, alike: int, last: str = ""
) -> Iterator[Row]:
    """Yield the row of `node`, then those of its parts."""
    yield _row(certificate, node, relation, path, depth, alike, last)
    groups = _alike(children(node))
    hidden = groups[5:-2] if len(groups) > MOST_SIBLINGS else []
    for place, group in groups:
        if hidden and place == hidden[0][0]:
            count = sum(len(members) for _, members in hidden)
            yield _ellipsis(f"{path}.{place}", depth + 1, f"{whole(count)} further parts, all in the JSON report")
        if any(place == other for other, _ in hidden):
            continue
        inner: Neighbours = "add_remove" if isinstance(node, Cells) and place == 1 else relation
        yield from _rows(
            certificate, group[0], inner, f"{path}.{place}", depth + 1, len(group), _label(group[-1])
        )


def _alike(parts: tuple[Declaration, ...]) -> list[tuple[int, list[Declaration]]]:
    """Return runs of siblings that are equal but for their labels, each with the place of its first."""
    runs: list[tuple[int, list[Declaration]]] = []
    place = 0
    for _, run in groupby(parts, key=_anonymous):
        members = list(run)
        runs.append((place, members))
        place += len(members)
    return runs


def _anonymous(node: Declaration) -> Declaration:
    """Return `node` without the labels of its releases."""
    if isinstance(node, Release):
        return replace(node, label="")
    return with_children(node, tuple(_anonymous(child) for child in children(node)))


def _row(
    certificate: Certificate, node: Declaration, relation: Neighbours, path: str, depth: int, alike: int, last: str
) -> Row:
    """Return the row of one node, or of `alike` equal siblings of which it is the first."""
    label = _label(node)
    name = f"{label} … {last}" if alike > 1 and label and label != last else label
    delta = node.printed.delta if node.printed and path != "root" else certificate.claim.delta
    mechanism = node.mechanism if isinstance(node, Release) else None
    return Row(
        path=path,
        depth=depth,
        node=node_name(node),
        name=name,
        rule=node_rule(node),
        alike=alike,
        sensitivity=_sensitivity(mechanism) if mechanism else "",
        noise=_noise(mechanism) if mechanism else "",
        printed=node.printed,
        delta=delta,
        epsilon=certificate.tight.epsilon if path == "root" else _epsilon(node, relation, delta),
        conditions=_conditions(certificate, node),
    )


def _ellipsis(path: str, depth: int, text: str) -> Row:
    """Return a row that stands for those left out."""
    return Row(path=path, depth=depth, node="", name=text)


def _label(node: Declaration) -> str:
    """Return a release's label; other nodes have none."""
    return node.label if isinstance(node, Release) else ""


def _epsilon(node: Declaration, relation: Neighbours, delta: float) -> Bracket | None:
    """Return a bracket on the node's own epsilon at `delta`, or None where no engine covers it."""
    try:
        return bracket_epsilon(fold(node, relation), delta)
    except (UnsupportedError, DeclarationError):
        return None


def _conditions(certificate: Certificate, node: Declaration) -> tuple[int, ...]:
    """Return the places, in the certificate, of the conditions that this node brings and its parts do not."""
    below = {condition.text for child in children(node) for condition in conditions_of(child)}
    own = {condition.text for condition in conditions_of(node)} - below
    return tuple(place for place, held in enumerate(certificate.conditions) if held.text in own)


def _sensitivity(mechanism: Mechanism) -> str:
    """Return a mechanism's sensitivities with their norms."""
    return ", ".join(f"{name.split('_')[0]} {value}" for name, value in _fields(mechanism) if "sensitivity" in name)


def _noise(mechanism: Mechanism) -> str:
    """Return a mechanism's name and its parameters, the noise multiplier last."""
    held = [f"{name.replace('_', ' ')} {value}" for name, value in _fields(mechanism) if "sensitivity" not in name]
    multiplier = getattr(mechanism, "noise_multiplier", None)
    if isinstance(multiplier, float):
        held.append(f"multiplier {nearest(multiplier)}")
    return f"{mechanism.name.replace('_', ' ')}: {', '.join(held)}"


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
