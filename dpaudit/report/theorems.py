"""The rules that the tight reading uses at a node, and what each rests on."""

from dpaudit.accounting.fold import above
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.errors import DeclarationError, UnsupportedError
from dpaudit.model import declaration as nodes
from dpaudit.model.claim import Neighbours
from dpaudit.model.declaration import Declaration, children
from dpaudit.model.losses import ApproximateLoss, ComposedLoss, Composition, DiscreteLoss, GaussianLoss, Loss
from dpaudit.model.mechanism import Mechanism
from dpaudit.model.node_kinds import kind_of
from dpaudit.wording.nodes import loss_source, node_words
from dpaudit.wording.references import Reference, RuleKind, reference


def theorems_of(node: Declaration, neighbours: Neighbours) -> tuple[Reference, ...]:
    """Return what each rule that is used at `node` itself rests on, the node's own rule first.

    Where the parts cannot be folded no number rests on the node, and the weakest entry of its kind is returned.
    """
    if isinstance(node, nodes.Release):
        return _of_release(node.mechanism)
    rules: tuple[RuleKind, ...] = (_own_rule(node, neighbours),)
    if _chooses(node, neighbours):
        rules = (*rules, "adaptive_choice")
    source = node.source if isinstance(node, nodes.Stated) else node_words(node).source
    return tuple(reference(rule, f"taken on trust from {source}" if rule == "stated" else source) for rule in rules)


def _of_release(mechanism: Mechanism) -> tuple[Reference, ...]:
    """Return what the loss of one release rests on, and for a tree what the number of its nodes rests on."""
    loss = mechanism.loss()
    own = reference("by_definition" if _is_sum(loss) else "release", loss_source(loss))
    if mechanism.name != "tree_aggregation":
        return (own,)
    return own, reference("tree" if len(getattr(mechanism, "signs", (1,))) == 1 else "tree_plan")


def _is_sum(loss: Loss) -> bool:
    """Return whether the loss is given by the probabilities of finitely many outcomes."""
    return isinstance(loss.parts[0][0] if isinstance(loss, ComposedLoss) else loss, DiscreteLoss)


def _own_rule(node: Declaration, neighbours: Neighbours) -> RuleKind:
    """Return the rule of a node that is no release."""
    match node:
        case nodes.Parallel(visibility="secret"):
            return "secret_key"
        case nodes.Group(part=part):
            covered = bool(_folded(node, neighbours))
            return "group" if covered and _is_boxed_group(_folded(part, neighbours)) else "shifted_group"
        case nodes.Subsample(part=part, scheme="poisson"):
            covered = bool(_folded(node, neighbours))
            normal = all(_only(alternative, GaussianLoss) for alternative in _folded(part, neighbours))
            return "sample" if covered and not normal else "subsample"
        case _:
            return kind_of(node)


def _is_boxed_group(alternatives: Alternatives) -> bool:
    """Return whether a group of `alternatives` is bounded by the group property of (epsilon, delta) alone."""
    if len(alternatives) > 1 and not all(_only(a, GaussianLoss) for a in alternatives):
        return True
    return bool(alternatives) and all(_only(a, ApproximateLoss, DiscreteLoss) for a in alternatives)


def _only(alternative: Composition, *kinds: type) -> bool:
    """Return whether all losses of an alternative are of the given kinds."""
    return all(isinstance(loss, kinds) for loss, _ in alternative.parts)


def _chooses(node: Declaration, neighbours: Neighbours) -> bool:
    """Return whether a part that is composed has several alternatives, of which earlier outputs may pick one."""
    match node:
        case nodes.Sequential() | nodes.Repeat():
            return any(len(_folded(part, neighbours)) > 1 for part in children(node))
        case nodes.Cells(touched=touched) if neighbours == "replace_one":
            return len(_folded(touched, "add_remove")) > 1
        case _:
            return False


def _folded(node: Declaration, neighbours: Neighbours) -> Alternatives:
    """Return the alternatives of a node, or none where no rule covers it."""
    try:
        return above(node, neighbours)
    except (UnsupportedError, DeclarationError):
        return ()
