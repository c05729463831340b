"""What each rule concludes from its premises, above and below: one loop over the rows of a derivation.

From above, alternatives of which one bounds any pair of the move. Below, for each pair that a witness describes, the
losses that it attains, and the keys and entries on its way.
"""

import json
import math
from collections import Counter
from collections.abc import Callable
from itertools import product
from typing import NamedTuple

from dpaudit.verifier import losses, schemes
from dpaudit.verifier.best_of.above import best_above
from dpaudit.verifier.best_of.below import SCORES, best_below
from dpaudit.verifier.losses import Loss, Multiset, black_box, distinct, joined
from dpaudit.verifier.mechanisms import of_records, rescaled, sides_of, with_leaves
from dpaudit.verifier.polygons import smaller
from dpaudit.verifier.proof.derivation import RELATIONS, Place, Row, places
from dpaudit.verifier.refusals import Table, require
from dpaudit.verifier.shape import TABLES, walk
from dpaudit.verifier.shuffled.sides import beside, shuffled_above, shuffled_below

_NOTHING: Multiset = Counter()
_REPORT = {"release", "sequential", "repeat", "post_process", "local", "stated"}
_SUMS = 16  # sums of alternatives that are told apart
_CLOSE = 1e-9  # relative, of a stated conclusion
_ALONE, _ORDER, _STEP = range(3)
"""When one of several alternatives is met: there is one; the order settles it for the run; at each step."""
_CHOICES = {
    "as the parts": (_ALONE, _ORDER, _STEP),
    "none above none": (_ALONE, _STEP, _STEP),
    "order above none": (_ORDER, _STEP, _STEP),
    "at each step": (_STEP, _STEP, _STEP),
}


class Pair(NamedTuple):
    """A pair that a witness describes: the labels that it moves (all, if empty), and its plan.

    `one` says that it moves one query, `query`, by definition.
    """

    labels: tuple[str, ...]
    entries: dict[str, int]
    one: bool
    query: str


class Attained(NamedTuple):
    """What a pair attains below a node, the values of keys there, and the keys above each release that it moves."""

    losses: Multiset
    entered: frozenset[str] = frozenset()
    keys: frozenset[tuple[str, int, int]] = frozenset()
    ways: frozenset[frozenset[str]] = frozenset()


class Conclusion(NamedTuple):
    """Both sides of a row: from above, when one of the alternatives is met, and what each pair attains."""

    above: list[Multiset]
    choice: int
    below: list[Attained]

    @property
    def of_the_run(self) -> list[Multiset]:
        """The alternatives of a whole run: one for each order, or all joined where steps may pick."""
        return self.above if len(self.above) == 1 or self.choice == _ORDER else [joined(self.above)]


class Step(NamedTuple):
    """A row with its node and the conclusions of its premises."""

    row: Row
    place: Place
    groups: list[list[Conclusion]]

    @property
    def node(self) -> Table:
        """The node that the row is about."""
        return self.place.node

    @property
    def relation(self) -> str:
        """The relation that bounds the row's move."""
        return RELATIONS[self.row.move]

    @property
    def part(self) -> Conclusion:
        """The conclusion of the only part, under the first move that is read."""
        return self.groups[0][0]


def concluded(rows: list[Row], tree: Table, pairs: list[Pair]) -> Conclusion:
    """Return what the last row concludes of a tree that has the form of that of the derivation."""
    nodes, conclusions = places(tree), dict[int, Conclusion]()
    upper, lower = _read(rows)
    for i, row in enumerate(rows):
        if i in upper or (pairs and i in lower):
            groups = [[conclusions[j] for j in group if j in conclusions] for group in row.groups]
            step = Step(row, nodes[row.path], groups)
            require("unread" not in row.rule, "a rule is read of which no numbers are known")
            alternatives = _ABOVE[step.node["node"]](step) if i in upper else []
            attained = [_BELOW[step.node["node"]](step, pair, n) for n, pair in enumerate(pairs)] if i in lower else []
            conclusions[i] = Conclusion(alternatives, _choice(step), attained)
    return conclusions[len(rows) - 1]


def above(rows: list[Row], tree: Table) -> list[Multiset]:
    """Return what the last row concludes from above of a tree that has the form of that of the derivation."""
    return concluded(rows, tree, []).above


def require_conclusions(rows: list[Row], tree: Table) -> None:
    """Refuse a conclusion that is stated of a leaf and is not this checker's own."""
    nodes = places(tree)
    for i, row in enumerate(rows):
        if row.conclusion is not None:
            require(not row.groups, f"row {i} of the derivation states a conclusion, and is about no leaf")
            (own,) = _ABOVE[nodes[row.path].node["node"]](Step(row, nodes[row.path], []))
            (loss,) = own or [black_box(0.0)]
            names = {"gaussian": ["mu"], "laplace": ["shift"]}.get(loss[0], ["epsilon", "delta"])
            numbers = [float(loss[1])] if len(names) == 1 else losses.most(own)
            stated = [row.conclusion.get(name, -1.0) for name in names]
            if len(names) == 2 and numbers[1] > 1 - _CLOSE:  # next to nothing is left that has a largest loss
                numbers = (stated[0], numbers[1])
            same = len(stated) == len(row.conclusion)
            same = same and all(math.isclose(a, b, rel_tol=_CLOSE) for a, b in zip(stated, numbers, strict=True))
            said = dict(zip(names, numbers, strict=True))
            require(same, f"row {i} of the derivation concludes {row.conclusion}, and not {said}")


def _read(rows: list[Row]) -> tuple[set[int], set[int]]:
    """Return the rows whose upper side is read, and those whose lower side is."""
    above, below = {len(rows) - 1}, {len(rows) - 1}
    for i in range(len(rows) - 1, -1, -1):
        once = len(rows[i].rule.get("records", ["one"]))
        first = rows[i].groups if once == 1 else rows[i].groups[:1]
        above |= {j for group in first for j in group} if i in above else set()
        below |= {j for group in rows[i].groups for j in group} if i in below else set()
    return above, below


def _choice(step: Step) -> int:
    """Return when one of the alternatives is met."""
    inside = max((part.choice for group in step.groups[:1] for part in group), default=0)
    return _CHOICES[step.row.rule.get("choice", "at each step")][inside]


def _released(step: Step) -> list[Multiset]:
    """A release loses what its mechanism's law says."""
    fields, records = step.node["mechanism"], step.row.records
    together = of_records(fields, records)
    if together is not None:
        return [losses.harmful(sides_of(together, step.relation)[0])]
    return _several([losses.harmful(sides_of(fields, step.relation)[0])], records)


def _told(step: Step) -> list[Multiset]:
    """A stated part is a black box, or what its mu or rho says, for the move that it is stated for."""
    node = step.node
    require(node.get("neighbours", step.relation) == step.relation, "a stated part is for other neighbours")
    told = _of_measure(node, sampled=step.place.sampled) or black_box(
        float(node["epsilon"]), float(node.get("delta", 0))
    )
    return _several([losses.harmful(Counter([told]))], step.row.records)


def _of_measure(node: Table, *, sampled: bool) -> Loss:
    """Return what is stated in mu, or in rho above samples, on which no law says what a rare record shows."""
    if "mu" in node:
        return ("gaussian", float(node["mu"]))
    return ("concentrated", float(node["rho"])) if "rho" in node and not sampled else ()


def _summed(step: Step) -> list[Multiset]:
    """Parts in sequence add up, an alternative being picked adaptively."""
    parts = [part.of_the_run for part in step.groups[0]]
    if math.prod(map(len, parts)) > _SUMS:
        parts = [[joined(part)] for part in parts]
    return distinct([sum(chosen, start=Counter()) for chosen in product(*parts)])


def _repeated(step: Step) -> list[Multiset]:
    """A part is met so often."""
    return [losses.times(a, step.node["times"]) for a in step.part.of_the_run]


def _filtered(step: Step) -> list[Multiset]:
    """All that a budget pays for keeps its limit; each part has a cost in the budget's measure."""
    given = [key for key in ("epsilon", "rho", "mu") if key in step.node]
    require(len(given) == 1, "a budget is in one of epsilon, rho and mu")
    for node, part in zip(step.node["parts"], step.groups[0], strict=True):
        require(_pays(given[0], node, part.above), f"a part has no {given[0]}, so that no budget of it pays for it")
    limit = _of_measure(step.node, sampled=False) or black_box(float(step.node.get("epsilon", 0)))
    return _several([losses.harmful(Counter([limit]))], step.row.records)


def _pays(measure: str, node: Table, part: list[Multiset]) -> bool:
    """Return whether a budget pays for a part: nothing is lost, and its losses have a largest one or the rho or mu."""
    if measure == "rho" and node.get("mechanism", {}).get("name") == "discrete_gaussian":
        return True  # Canonne, Kamath and Steinke (2020), Theorem 4
    left = [Counter({loss: n for loss, n in a.items() if (measure, loss[0]) != ("mu", "gaussian")}) for a in part]
    return not losses.lost(part) and (measure == "rho" or all(losses.most(a)[0] < math.inf for a in left))


def _same(step: Step) -> list[Multiset]:
    """The part itself."""
    return step.part.above


def _largest(step: Step) -> list[Multiset]:
    """Parallel parts are alternatives."""
    return _several(distinct([a for part in step.groups[0] for a in part.above]), step.row.records)


def _cells(step: Step) -> list[Multiset]:
    """A removed record empties one cell; a replaced one fills another beside it, or stays."""
    alternatives = step.part.above
    if step.row.move != "remove":
        alone = joined(alternatives)
        alternatives = [*step.groups[1][0].above, alone + losses.reversed_all(alone)]
    return _several(alternatives, step.row.records)


def _sampled(step: Step) -> list[Multiset]:
    """A part on a sample; a person's records enter it together, or change in a chain.

    A chain of removals keeps no population, so that records leave a set of fixed size at once.
    """
    node, relation, records = step.node, step.relation, step.row.records
    scheme, part = node.get("scheme", "poisson"), step.part.above
    if scheme == "truncated_poisson" and "parallel" in {below["node"] for below in walk(node)}:
        part = [joined(part)]
    alternatives = schemes.above(node, part, relation)
    if records == 1 or not node["rate"]:
        return alternatives
    require(scheme not in ("truncated_poisson", "with_replacement"), "a group over such a sample has no rule")
    if step.row.move == "remove" and scheme == "without_replacement":
        return [schemes.from_a_set(node, a, records) for a in part]
    persons = [[(schemes.of_a_person(loss, records), n) for loss, n in a.items()] for a in alternatives]
    if relation != "replace_one" and scheme == "poisson" and all(loss for a in persons for loss, _ in a):
        return [sum((Counter({loss: n}) for loss, n in a), start=Counter()) for a in persons]
    return _several(alternatives, records)


def _placed(step: Step) -> list[Multiset]:
    """A part at secret steps."""
    require(step.row.records == 1, "a group over secret steps has no rule")
    return schemes.above(step.node, step.part.of_the_run, step.relation)


def _best(step: Step) -> list[Multiset]:
    """The best of a secret number of runs."""
    return [Counter([best_above(step.node, step.part.of_the_run)])]


def _shuffled(step: Step) -> list[Multiset]:
    """One report among those of all users."""
    require({below["node"] for below in walk(step.node["part"])} <= _REPORT, "a shuffled report depends on the user")
    part = joined(step.part.above)
    return _several([Counter([shuffled_above(step.node, part, step.relation)])], step.row.records)


def _several(upper: list[Multiset], size: int) -> list[Multiset]:
    """Records change one after another: shifts grow, a black box by the group property; each may meet every option."""
    if size == 1:
        return upper
    upper = losses.undominated(upper)
    if len(upper) == 1 or all(loss[0] == "gaussian" for a in upper for loss in a):
        each = [
            [Counter({schemes.longer(of, size): n}) for x, n in a.items() for of in schemes.met_apart(x)] for a in upper
        ]
        return [sum(moved, start=Counter()) for moved in each]
    boxes = [losses.most(order) for a in upper for order in (a, losses.reversed_all(a))]
    epsilon, delta = map(max, zip(*boxes, strict=True))
    require(epsilon < math.inf, "a group spreads over parts without a largest loss")
    return [Counter([black_box(size * epsilon, losses.group_delta(epsilon, delta, size))])]


_ABOVE: dict[str, Callable[[Step], list[Multiset]]] = {
    "release": _released,
    "stated": _told,
    "sequential": _summed,
    "repeat": _repeated,
    "filtered": _filtered,
    **dict.fromkeys(("post_process", "billboard", "group", "local"), _same),
    "parallel": _largest,
    "cells": _cells,
    "subsample": _sampled,
    "allocate": _placed,
    "best_of": _best,
    "shuffle": _shuffled,
}


def _release_moved(step: Step, pair: Pair, n: int) -> Attained:
    """A release whose label is moved attains its mechanism's loss; a shift of noise adds up over records."""
    node = step.node
    fields = node["mechanism"]
    if _passes_over(pair, node) or (pair.one and step.place.sampled and not _moves_alone(fields)):
        return Attained(_NOTHING)
    together = of_records(fields, _records(step, pair)) if fields["name"] in TABLES["additive"] else None
    attained = losses.harmful(sides_of(together or fields, step.relation)[1])
    open_order = _open_order(fields) or any(loss[0] == "once" for loss in attained)
    if not pair.one:  # nobody said which of several pairs it is, nor which law of it the record has
        attained = Counter({losses.one_pair(loss): times for loss, times in attained.items()})
        attained = smaller(attained) if open_order else attained
    only_shifts = {loss[0] for loss in attained} <= {*losses.SHIFTS}
    attained = _together(attained, _records(step, pair)) if only_shifts else attained
    return Attained(attained, ways=frozenset([frozenset[str]()]))


def _passes_over(pair: Pair, release: Table) -> bool:
    """Return whether a witness says nothing of a release."""
    unnamed = pair.labels and release["label"] not in pair.labels
    return bool(unnamed or pair.query not in ("", query_of(release["mechanism"])))


def _nothing(step: Step, pair: Pair, n: int) -> Attained:
    """Nothing is known from below, and nothing is met."""
    return Attained(_NOTHING)


def _sum_moved(step: Step, pair: Pair, n: int) -> Attained:
    """What a pair moves in each part adds up."""
    parts = [part.below[n] for part in step.groups[0]]
    entered, keys, ways = (frozenset().union(*side) for side in zip(*(part[1:] for part in parts), strict=True))
    return Attained(sum((part.losses for part in parts), start=Counter()), entered, _one_value(keys), ways)


def _repeat_moved(step: Step, pair: Pair, n: int) -> Attained:
    """A part is met so often."""
    part = step.part.below[n]
    return part._replace(losses=losses.times(part.losses, step.node["times"]))


def _same_moved(step: Step, pair: Pair, n: int) -> Attained:
    """The part itself."""
    return step.part.below[n]


def _message_moved(step: Step, pair: Pair, n: int) -> Attained:
    """One message for each record."""
    part = step.groups[-1][0].below[n]
    return part._replace(losses=losses.times(part.losses, _records(step, pair)))


def _part_entered(step: Step, pair: Pair, n: int) -> Attained:
    """The part that the plan enters, with the value of its key."""
    path, node = step.row.path, step.node
    if path not in pair.entries or node.get("visibility") == "secret":
        return Attained(_NOTHING)
    entry, parts = pair.entries[path], step.groups[0 if pair.one else -1]
    require(entry < len(parts), "a witness enters a part that is not there")
    return _entered(parts[entry].below[n], path, node["key"], (node["key"], len(parts), entry))


def _cell_entered(step: Step, pair: Pair, n: int) -> Attained:
    """The cell that the plan enters; what several cells attain, the pair meets in both orders."""
    path, removed = step.row.path, step.row.move == "remove"
    if path not in pair.entries:
        return Attained(_NOTHING)
    entry = pair.entries[path]
    require(entry == 1 or (entry == 0 and not removed), "a witness enters no cell")
    require(entry == 0 or removed or not pair.one, "by definition no second cell is reached")
    part = step.groups[0 if entry else 1][0].below[n]
    part = _entered(part, path, f"the cells at {path}")
    both = entry == 1 and not removed
    return part._replace(losses=part.losses + losses.reversed_all(part.losses)) if both else part


def _entered(part: Attained, path: str, name: str, *value: tuple[str, int, int]) -> Attained:
    """Return a part that a plan enters, behind a key."""
    keys, ways = part.keys | {*value}, frozenset(way | {name} for way in part.ways)
    return Attained(part.losses, part.entered | {path}, _one_value(keys), ways)


def _one_value(keys: frozenset[tuple[str, int, int]]) -> frozenset[tuple[str, int, int]]:
    """Refuse two values of one key."""
    require(len({name for name, *_ in keys}) == len(keys), "a witness gives one key two values")
    return keys


def _sample_moved(step: Step, pair: Pair, n: int) -> Attained:
    """A record on a sample or at secret steps; several that are removed enter Poisson samples, or leave a set."""
    node, part, records = step.node, step.part.below[n], _records(step, pair)
    scheme, removed = node.get("scheme", "poisson"), step.row.move == "remove"
    messages = "local" in {below["node"] for below in walk(node["part"])}
    if scheme != "poisson" and messages:
        return part._replace(losses=_NOTHING)
    attained = schemes.below(node, part.losses, step.relation, beside=not pair.one, labels=list(pair.labels))
    if records > 1 and step.relation != "replace_one" and attained:
        if scheme == "without_replacement" and removed and {loss[0] for loss in part.losses} == {"gaussian"}:
            attained = schemes.from_a_set(node, part.losses, records)
        elif node.get("scheme") == "poisson" and not messages:  # whose moves do not add up in one answer
            attained = _together(attained, records)
    return part._replace(losses=attained)


def _reports_moved(step: Step, pair: Pair, n: int) -> Attained:
    """A report beside other users; the plan may say which values they hold."""
    part, path = step.part.below[n], step.row.path
    entry = pair.entries.get(path, 0)
    if path in pair.entries:
        require(entry < len(beside(step.node)), "a witness names a data set that is not known")
        part = part._replace(entered=part.entered | {path})
    if step.row.rule["rule"] == "shuffled table" and not pair.one:  # the record may have either law in each release
        return part._replace(losses=_NOTHING)
    attained = shuffled_below(step.node, part.losses, entry, lambda release: not _passes_over(pair, release))
    return part._replace(losses=attained)


def _best_moved(step: Step, pair: Pair, n: int) -> Attained:
    """The best run of one query, under the score that the plan names, where no author names one."""
    part, path = step.part.below[n], step.row.path
    if step.node.get("scores") not in ("any", "any_setting") or not pair.one or path not in pair.entries:
        return part._replace(losses=_NOTHING)
    require(pair.entries[path] < SCORES, "a witness names a score that is not known")
    attained = best_below(step.node, part.losses, pair.entries[path], best_above(step.node, step.part.of_the_run))
    return part._replace(losses=attained, entered=part.entered | {path})


def _records(step: Step, pair: Pair) -> int:
    """Return how many records of a person a pair moves; by definition it is one."""
    return 1 if pair.one else step.row.records


def _together(part: Multiset, records: int) -> Multiset:
    """Return what all records of a person attain together where that is known, else what one does."""
    return Counter([schemes.of_a_person(loss, records) or loss for loss in part]) if part.total() == 1 else part


def _moves_alone(mechanism: Table) -> bool:
    """Return whether a record counts as moving a release beside no other: noise that is added to an answer."""
    parts = with_leaves(mechanism)
    return parts[-1]["name"] in TABLES["additive"] and not any("stated" in part for part in parts)


def _open_order(mechanism: Table) -> bool:
    """Return whether nobody said which law of a table the record has."""
    parts = with_leaves(mechanism)
    rows = [row for part in parts for row in part.get("stated", {}).get("lower", [])]
    return any(part["name"] == "finite" for part in parts) or any(
        r["loss"] == "discrete" and not r.get("one_order") for r in rows
    )


def query_of(mechanism: Table) -> str:
    """Return what noise is added to: the fields that scaling the noise leaves alone."""
    fields = rescaled(mechanism, math.inf).items()
    query_fields = {key: query_of(field) if key == "leaf" else field for key, field in fields if key != "stated"}
    return json.dumps(query_fields, sort_keys=True)


_BELOW: dict[str, Callable[[Step, Pair, int], Attained]] = {
    "release": _release_moved,
    **dict.fromkeys(("stated", "filtered"), _nothing),
    "sequential": _sum_moved,
    "repeat": _repeat_moved,
    **dict.fromkeys(("post_process", "billboard", "group"), _same_moved),
    "local": _message_moved,
    "parallel": _part_entered,
    "cells": _cell_entered,
    **dict.fromkeys(("subsample", "allocate"), _sample_moved),
    "best_of": _best_moved,
    "shuffle": _reports_moved,
}
