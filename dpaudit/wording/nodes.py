"""The words of each kind of node: its name, how the tight reading treats it, and the source of that treatment."""

from dataclasses import fields
from typing import Any, NamedTuple

from dpaudit.model import declaration as nodes
from dpaudit.model.declaration import Declaration
from dpaudit.model.losses import ComposedLoss, Loss
from dpaudit.model.moves import name_of
from dpaudit.model.node_kinds import kind_of
from dpaudit.runtime.tables import table_of

_WORDS: dict[str, dict[str, str]] = table_of("dpaudit.wording", "nodes.toml")
_SCORED = {"any": "any score", "any_setting": "any score and any settings that a run draws and shows"}


class NodeWords(NamedTuple):
    """The name of a kind of node, its treatment in one short sentence, and the reference for that treatment."""

    name: str
    rule: str
    source: str


def node_words(node: Declaration) -> NodeWords:
    """Return the words of a node."""
    row = _WORDS.get(name_of(node)) or _WORDS[kind_of(node)]
    source = loss_source(node.mechanism.loss()) if isinstance(node, nodes.Release) else row["source"]
    own: dict[str, Any] = {entry.name: getattr(node, entry.name) for entry in fields(node)}
    return NodeWords(row["name"], row["rule"].format(**own | _phrases(node)), source)


def _phrases(node: Declaration) -> dict[str, str]:
    """Return the phrases in a node's sentence that are more than one of its fields."""
    match node:
        case nodes.Subsample(scheme=scheme):
            return {"schemed": scheme.replace("_", " ")}
        case nodes.Allocate(per_epoch=places, epochs=epochs):
            often = f" in each of {epochs:,} epochs" if epochs > 1 else ""
            return {"places": f"{places:,} secret step{'s' * (places > 1)}", "often": often}
        case nodes.Filtered(budget=(measure, limit)):
            return {"limit": f"{measure} {limit:g}"}
        case nodes.BestOf(scores=scores, score=score):
            scored = _SCORED.get(scores, score or "a score that is not named")
            return {"counted": _runs(node), "scored": scored}
        case nodes.PostProcess(steps=steps):
            return {"listed": f": {', '.join(steps)}" if steps else ""}
        case nodes.Billboard(reads=reads):
            return {"read": ", ".join(reads) or "own data"}
        case _:
            return {}


def _runs(node: nodes.BestOf) -> str:
    """Return how many runs there are."""
    if node.law == "fixed":
        return f"{node.runs:,} runs"
    told = ", ".join(
        f"{name} {value:g}" for name in ("gamma", "eta", "mean") if (value := getattr(node, name)) is not None
    )
    return f"a {node.law.replace('_', ' ')} number of runs ({told})"


def loss_source(loss: Loss) -> str:
    """Return the reference for the privacy loss of one release."""
    source = _WORDS["losses"][type(loss).__name__]
    if not isinstance(loss, ComposedLoss):
        return source
    return source.format(count=sum(times for _, times in loss.parts), each=loss_source(loss.parts[0][0]))
