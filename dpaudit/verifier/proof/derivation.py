"""The derivation of a certificate, tested as a proof: row by row, each against the table of rules.

`proof` in `tables.json` has the rules: by the node, or a sample's scheme, and its move, what is read of the parts, and
for how many records of a person. `nests` has the nodes that may lie inside another one. A row is tested against the
tree and against the rows that it names; what it concludes is computed in `rules`.
"""

from typing import NamedTuple

from dpaudit.verifier.refusals import Rejection, Table, follow, require
from dpaudit.verifier.shape import TABLES, children, name_of, walk

RELATIONS = {"remove": "add_remove", "zero": "zero_out", "replace": "replace_one", "exchange": "replace_one"}
"""The relation that bounds a move."""

_NESTS: Table = TABLES["nests"]
_RULES: dict[tuple[str, str], Table] = {
    (name, move): rule
    for name, rows in TABLES["proof"].items()
    for moves, rule in rows.items()
    for move in moves.split()
}


class Place(NamedTuple):
    """A node of the tree, and whether a sample stands above, which may hold the record alone."""

    node: Table
    sampled: bool


class Row(NamedTuple):
    """A row that was tested: its rule, the rows of the premises in groups, and those whose rule alone is a premise."""

    path: str
    move: str
    records: int
    rule: Table
    groups: list[list[int]]
    proved: list[int]
    conclusion: Table | None

    @property
    def premises(self) -> list[int]:
        """The rows of all premises."""
        return [*(i for group in self.groups for i in group), *self.proved]


def places(tree: Table, path: str = "root", *, sampled: bool = False) -> dict[str, Place]:
    """Return every node by its path, parents first."""
    nodes = {path: Place(tree, sampled)}
    below = tree["node"] in ("subsample", "allocate") or (sampled and tree["node"] != "local")
    for i, part in enumerate(children(tree)):
        nodes |= places(part, f"{path}.{i}", sampled=below)
    return nodes


def demanded(node: Table, path: str, move: str, records: int) -> tuple[Table, list[list[tuple[str, str, int]]]]:
    """Return the rule of a node under a move, and (path, move, records) of each premise, by groups; or refuse."""
    name = name_of(node)
    require((name, move) in _RULES, f"{name} under {move}: no rule")
    rule = _RULES[name, move]
    said = _sizes_complaint(node, move, records)
    require(not said, said)
    counts = {"one": 1, "all": records, "group": records * node.get("size", 1)}
    each = dict.fromkeys(counts[of] for of in rule.get("records", ["one"]))
    reads = [*rule.get("parts", [["all", move]]), *(["all", proved] for proved in rule.get("proved", []))]
    parts = range(len(children(node)))
    groups = [[(f"{path}.{i}", read, count) for i in parts if at in ("all", i)] for at, read in reads for count in each]
    return rule, groups


def checked_rows(data: Table) -> list[Row]:
    """Return the rows of a certificate's derivation, each of which is the table's for its node and move.

    Premises stand before what is concluded from them; every row but the last is read by another one; the last is the
    whole. A row that is none of these is a complaint that names it.
    """
    follow(data["derivation"], "the certificate leaves its derivation out, as it is too long")
    tree, row_ids = places(data["declaration"]), dict[tuple[str, str, int], int]()
    rows: list[Row] = []
    tops: list[frozenset[int]] = []
    for i, stated in enumerate(data["derivation"]):
        row_key = stated["path"], stated["move"], stated["records"]
        try:
            require(stated["id"] == i, f"its id is {stated['id']}")
            require(row_key not in row_ids, "it stands twice")
            rows.append(_row(stated, row_key, row_ids, tree))
            tops.append(_next(i, rows[-1], tops, tree))
            _require_nests(rows[-1], rows, tops, tree)
        except Rejection as error:
            named = f"{stated['rule']!r:.60} at {row_key[0]:.60} under {row_key[1]}"
            raise Rejection(f"row {i} of the derivation, {named}: {error}") from None
        row_ids[row_key] = i
    final = "root", _NESTS["moves"][data["claim"]["neighbours"]], 1
    require(row_ids.get(final) == len(rows) - 1, "the derivation does not end with the whole declaration and its move")
    unread = {*range(len(rows) - 1)} - {j for row in rows for j in row.premises}
    require(not unread, f"row {min(unread, default=0)} of the derivation is read by no other row")
    return rows


def _row(
    stated: Table, row_key: tuple[str, str, int], row_ids: dict[tuple[str, str, int], int], tree: dict[str, Place]
) -> Row:
    """Return a row whose rule, numbers and premises are those of its node and move."""
    require(row_key[0] in tree, "it is about no node of the declaration")
    node = tree[row_key[0]].node
    rule, groups = demanded(node, *row_key)
    require(stated["rule"] == rule["rule"], f"the rule there is {rule['rule']!r}")
    numbers = {name: node[name] for name in TABLES["read"] if isinstance(node.get(name), int | float)}
    require(stated["parameters"] == numbers, f"the numbers of its node are {numbers}")
    missing = [premise for group in groups for premise in group if premise not in row_ids]
    require(not missing, f"its premise {missing[:1]} does not stand before it")
    ids = [[row_ids[premise] for premise in group] for group in groups]
    wanted = [j for group in ids for j in group]
    require(stated["premises"] == wanted, f"it reads the rows {stated['premises']}, and not its premises {wanted}")
    last = len(ids) - len(rule.get("proved", ()))
    return Row(*row_key, rule, ids[:last], [j for group in ids[last:] for j in group], stated.get("conclusion"))


def _next(i: int, row: Row, tops: list[frozenset[int]], tree: dict[str, Place]) -> frozenset[int]:
    """Return the rows of the next nodes that count, from one on: itself, or those that a transparent one leads to."""
    if tree[row.path].node["node"] not in _NESTS["through"]:
        return frozenset([i])
    return frozenset[int]().union(*(tops[j] for j in row.premises))


def _require_nests(row: Row, rows: list[Row], tops: list[frozenset[int]], tree: dict[str, Place]) -> None:
    """Refuse a node that lies in another one without a rule for both."""
    node, move = tree[row.path].node, row.move
    name = name_of(node)
    if name in (*_NESTS["through"], *_NESTS["leaves"]):
        return
    allowed = _NESTS["below"][name].get(move, [])
    require(allowed, f"{name} under {move}: no rule")
    if name == "billboard" and row.records > 1:  # a person's records reach through it
        group = {kind.removesuffix("/leaves") for kind in _NESTS["below"]["group"].get(move, [])}
        allowed = [kind for kind in allowed if kind.removesuffix("/leaves") in group]
    for i in frozenset[int]().union(*(tops[j] for j in row.premises)):
        inner = tree[rows[i].path].node
        kind = name_of(inner)
        below = {j for k in rows[i].premises for j in tops[k]}
        bare = all(name_of(tree[rows[j].path].node) in _NESTS["leaves"] for j in below)
        fits = kind in allowed or (f"{kind}/leaves" in allowed and bare)
        require(fits, f"{name} over {kind} under {move}: no rule")
        if name in TABLES["sizes"] and kind in _NESTS["sized"]:
            same = (inner.get("population") or 0) == node.get("batch_size")
            require(same, f"{name} over {kind} under {move}: no rule for a population that is not the outer batch")


def _sizes_complaint(node: Table, move: str, records: int) -> str:
    """Return what is wrong where records leave a set of fixed size: its sizes are needed, and enough records stay.

    Persons who take each other's place may own unequally many records, which only parts know that are stated for
    records that come and go.
    """
    if (
        node["node"] == "group"
        and move == "exchange"
        and node["size"] > 1
        and not all(map(_comes_and_goes, walk(node)))
    ):
        return "group under exchange: no rule for a part that is stated for records that stay"
    if node.get("scheme") != "without_replacement" or move != "remove":
        return ""
    if "population" not in node or "batch_size" not in node:
        return "without_replacement under remove: no rule for a rate alone"
    stays = node["batch_size"] <= node["population"] - records
    return "" if stays else f"without_replacement under remove: no rule where {records} records leave too few"


def _comes_and_goes(node: Table) -> bool:
    """Return whether a node is no leaf, or one that is stated for records that are added and removed."""
    fields = node.get("mechanism", node)
    while "leaf" in fields:
        fields = fields["leaf"]
    return node["node"] not in _NESTS["leaves"] or fields.get("neighbours") == "add_remove"
