"""The slack of a claim and its sources: one inequality of the printed argument replaced at a time.

The readings below go from the paper's to the tight one in a fixed order: the constants of the noise, the
theorem at each release, the count of parts, the composition theorem, the structure. Each consecutive pair
gives a factor in epsilon and one in noise; the products are claim over tight epsilon and declared over
needed noise, by construction.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from dpaudit.accounting.accountant import bracket_epsilon
from dpaudit.accounting.calibration import (
    LEAST,
    excess,
    excess_scaled,
    log_ratio,
    scaled_within,
    smallest_factor,
    smallest_noise,
)
from dpaudit.accounting.fold import fold
from dpaudit.engines import UPPERS
from dpaudit.engines.gaussian import all_gaussian
from dpaudit.errors import UnsupportedError
from dpaudit.model import declaration as nodes
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration, children, walk, with_children
from dpaudit.model.losses import Composition
from dpaudit.model.readings import Factor, Slack
from dpaudit.printed.argument import conclude, is_printed
from dpaudit.rules import SEQUENTIAL, leaf_epsilon

_NEGLIGIBLE = 1e-9
_VAIN = 100.0  # nats: a claim beyond promises nothing to compare with
_OUTWARDS = 1e-8  # relative, by which needed noise is raised: more than a search in closed form ends beside it
_SUMMED = 2e-4  # the same of sums on lattices, and of draws with replacement
_FEW = 8  # kinds of noise; sums of more are known less closely where not all are Gaussian
_THROUGH_KNOTS = 2e-3  # the same where a curve is straight between knots, which are others there
_BLUNT = 1e-20  # a delta below which the other accountant's bracket of samples is wide
_NO_NOISE = 4 * LEAST  # where a search for less noise ends without having found too little
_MOST_NOISE = 1e12  # beyond which no needed noise is said


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A way to read a tree: its epsilon at the claim's delta, and the factor on its noise that meets the claim.

    `sentence` says what is better than in the reading before, with `{}` for the factor in noise.
    """

    name: str
    sentence: str
    epsilon: Callable[[Declaration, Claim], float]
    noise: Callable[[Declaration, Claim], float]


def slack_of(declaration: Declaration, claim: Claim, proved: float | None = None) -> Slack | None:
    """Return how loose `claim` is for `declaration`, factor by factor.

    `proved` is the tight epsilon at the claim's delta, where the accountant has been asked for it.
    Where no noise lets the printed argument conclude the claim, or it concludes an epsilon of 0 at the deltas that it
    prints, only the tight reading is compared.
    None where no finite noise or epsilon can be compared: an infinite tight epsilon, a part that is stated
    and cannot be scaled, releases that a budget pays for whatever their noise is, a claim of epsilon 0 or above
    100, which promises nothing, a claim that needs no noise (a sample's rate below the claimed delta), less than a
    search looks for, or more than 1e12 times the noise.
    """
    tight = _tight_epsilon(declaration, claim) if proved is None else proved
    if tight == math.inf or not _is_comparable(declaration, claim):
        return None
    *printed, last = _readings(declaration)
    try:
        needed = _raised(declaration, claim, last.noise(declaration, claim))
    except UnsupportedError:
        return None
    readings = (*printed, last)
    try:
        epsilons = [claim.epsilon, *(reading.epsilon(declaration, claim) for reading in printed), tight]
        noises = [1.0, *(reading.noise(declaration, claim) for reading in printed), needed]
    except UnsupportedError:  # with no noise does the printed argument conclude the claim
        epsilons, noises = [math.inf], []
    if math.inf in epsilons or 0 in epsilons[1:-1]:  # a reading that needs no epsilon at its own delta has no ratio
        readings, epsilons, noises = (_tight(),), [claim.epsilon, tight], [1.0, needed]
    if not _NO_NOISE < noises[-1] <= _MOST_NOISE:
        return None
    return Slack(
        epsilon_ratio=_ratio(epsilons[0], epsilons[-1]),
        noise_ratio=noises[0] / noises[-1],
        factors=tuple(_factors(readings, epsilons, noises)),
    )


def _factors(readings: tuple[Reading, ...], epsilons: list[float], noises: list[float]) -> Iterator[Factor]:
    """Yield what each reading gains on the one before it in epsilon and in noise; nothing where it gains nothing."""
    for reading, epsilon, noise in zip(readings, pairwise(epsilons), pairwise(noises), strict=True):
        factor, noise_factor = _ratio(*epsilon), noise[0] / noise[1]
        if abs(factor - 1) > _NEGLIGIBLE or abs(noise_factor - 1) > _NEGLIGIBLE:
            sentence = reading.sentence.format(f"{noise_factor:.2f}")
            yield Factor(name=reading.name, factor=factor, noise_factor=noise_factor, sentence=sentence)


def _is_comparable(declaration: Declaration, claim: Claim) -> bool:
    """Return whether the claim promises something, and noise that can be scaled decides whether it holds."""
    return (
        0 < claim.epsilon <= _VAIN
        and not any(isinstance(node, nodes.Stated) for _, node in walk(declaration))
        and not _budgeted(declaration)
        and not _needless(declaration, claim)
    )


def _budgeted(node: Declaration) -> bool:
    """Return whether a budget pays for every release, so that the claim holds or fails with any noise."""
    parts = children(node)
    return isinstance(node, nodes.Filtered) or (bool(parts) and all(map(_budgeted, parts)))


def _raised(declaration: Declaration, claim: Claim, needed: float) -> float:
    """Return needed noise, raised so that the search of another accountant confirms it; of tables where that helps."""
    raised = needed * (1 + _outwards(declaration, claim))
    tables = any(isinstance(node, nodes.Release) and node.mechanism.name == "finite" for _, node in walk(declaration))
    return needed if tables and excess_scaled(declaration, raised, claim, UPPERS) > 0 else raised


def _outwards(declaration: Declaration, claim: Claim) -> float:
    """Return by what share needed noise is raised."""
    nodes_below = [node for _, node in walk(declaration)]
    if 0 < claim.delta < _BLUNT and any(isinstance(node, nodes.Subsample) for node in nodes_below):
        return _THROUGH_KNOTS
    noises = [node.mechanism for node in nodes_below if isinstance(node, nodes.Release)]
    if any(noise.name != "gaussian" for noise in noises) and len({noise.loss() for noise in noises}) > _FEW:
        return _THROUGH_KNOTS
    if any(isinstance(node, nodes.Shuffle | nodes.BestOf | nodes.Allocate) for node in nodes_below):
        return _THROUGH_KNOTS
    summed = any(isinstance(node, nodes.Repeat | nodes.Sequential | nodes.Cells) for node in nodes_below)
    summed &= not all(all_gaussian(Composition.of(noise.loss())) for noise in noises)
    drawn = any(isinstance(node, nodes.Subsample) and node.scheme == "with_replacement" for node in nodes_below)
    return _SUMMED if summed or drawn else _OUTWARDS


def _needless(declaration: Declaration, claim: Claim) -> bool:
    """Return whether the claim is met where releases hide nothing."""
    try:
        return excess(_revealed(declaration), claim, UPPERS) <= 0
    except (UnsupportedError, ValueError):
        return False


def _revealed(node: Declaration) -> Declaration:
    """Return the tree without noise."""
    if isinstance(node, nodes.Release):
        return nodes.Stated(epsilon=math.inf, source="no noise", neighbours=node.mechanism.neighbours)
    return with_children(node, tuple(map(_revealed, children(node))))


def _readings(declaration: Declaration) -> tuple[Reading, ...]:
    """Return the readings from the loosest to the tight one."""
    if not is_printed(declaration):
        return (_tight(),)
    composed = replace(
        _tight(),
        name="composition theorem",
        sentence="Budgets are added part by part where the losses compose exactly: {} times the noise.",
    )
    if _as_printed_structure(declaration) == declaration:  # the tight reading, which is not asked for twice
        return (*_printed_readings(declaration), composed)
    return (
        *_printed_readings(declaration),
        replace(
            composed,
            epsilon=lambda tree, claim: _tight_epsilon(_as_printed_structure(tree), claim),
            noise=lambda tree, claim: smallest_noise(_as_printed_structure(tree), claim),
        ),
        replace(
            _tight(),
            name="structure",
            sentence="Parts are composed one after another although a record touches only one: {} times the noise.",
        ),
    )


def _printed_readings(declaration: Declaration) -> tuple[Reading, ...]:
    """Return the readings by the printed rules: as they are, with exact releases, and with the parts that there are."""
    return (
        _by_rules(
            "constants",
            "The noise formula has a larger constant than its own theorem asks for: {} times the noise.",
            conclude_with=lambda tree, claim: conclude(tree, claim.neighbours).epsilon,
        ),
        _by_rules(
            "theorem at each release",
            "Each release is bounded by a tail inequality where its exact loss is known: {} times the noise.",
            conclude_with=lambda tree, claim: conclude(tree, claim.neighbours, leaf_epsilon).epsilon,
        ),
        _by_rules(
            "number of parts",
            _parts_sentence(declaration),
            conclude_with=lambda tree, claim: conclude(_with_true_counts(tree), claim.neighbours, leaf_epsilon).epsilon,
        ),
    )


def _tight() -> Reading:
    """Return the tight reading by itself."""
    return Reading(
        name="declared noise",
        sentence="The declared noise is {} times what the claim needs.",
        epsilon=_tight_epsilon,
        noise=smallest_noise,
    )


def _by_rules(name: str, sentence: str, conclude_with: Callable[[Declaration, Claim], float]) -> Reading:
    """Return a reading that follows the printed rules with some of them improved."""

    def concluded(tree: Declaration | None, claim: Claim) -> float:
        """Return the epsilon of a tree, infinity of one whose mechanisms take no such noise."""
        return math.inf if tree is None else conclude_with(tree, claim)

    return Reading(
        name=name,
        sentence=sentence,
        epsilon=conclude_with,
        noise=lambda tree, claim: smallest_factor(
            lambda factor: log_ratio(concluded(scaled_within(tree, factor), claim), claim.epsilon),
            f"epsilon={claim.epsilon}, delta={claim.delta}",
        ),
    )


def _parts_sentence(declaration: Declaration) -> str:
    """Return the sentence about slots, with the first pair of counts that differ."""
    for _, node in walk(declaration):
        if node.printed is not None and node.printed.slots is not None:
            parts = _parts_of(node)
            there = "is 1 part" if parts == 1 else f"are {parts} parts"
            return f"The argument composes {node.printed.slots:.1f} slots where there {there}: {{}} times the noise."
    return "The argument composes more parts than there are: {} times the noise."


def _parts_of(node: Declaration) -> int:
    """Return how many parts a node composes."""
    return node.times if isinstance(node, nodes.Repeat) else len(children(node))


def _with_true_counts(node: Declaration, share: float = 1.0) -> Declaration:
    """Return the tree with the parts there are in place of printed slots, and delta split among those."""
    share_of_parts = share
    if node.printed is not None and node.printed.slots is not None and _parts_of(node):
        share_of_parts = share * node.printed.slots / _parts_of(node)
    parts = tuple(_with_true_counts(child, share_of_parts) for child in children(node))
    changed = with_children(node, parts)
    if node.printed is None:
        return changed
    printed = replace(node.printed, slots=None, delta=min(node.printed.delta * share, math.nextafter(1, 0)))
    return replace(changed, printed=printed)


def _as_printed_structure(node: Declaration) -> Declaration:
    """Return the tree with parallel parts in sequence wherever the paper composed them so."""
    parts = tuple(_as_printed_structure(child) for child in children(node))
    changed = with_children(node, parts)
    if isinstance(node, nodes.Parallel) and node.printed is not None and node.printed.rule in SEQUENTIAL:
        return nodes.Sequential(parts=parts, printed=node.printed)
    return changed


def _tight_epsilon(tree: Declaration, claim: Claim) -> float:
    """Return the proved epsilon at the claim's delta."""
    return bracket_epsilon(fold(tree, claim.neighbours), claim.delta).upper


def _ratio(above: float, below: float) -> float:
    """Return a ratio of epsilons; infinity over nothing, 1 between two zeros."""
    if below > 0:
        return above / below
    return math.inf if above > 0 else 1.0
