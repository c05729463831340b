"""What LSVI-UCB declares: for every step a tree of Gram matrices over batches, and a fresh target vector a batch."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from algorithms.linear_rl import arguments
from algorithms.linear_rl.arguments import Share
from algorithms.linear_rl.batch_noise import StepNoise, noises_of, releases_of, schedule_of, tree_horizon
from algorithms.linear_rl.printed_mixture import nodes_printed
from dpaudit import Billboard, Declaration, PostProcess, Release, Repeat, Sequential, Stated

if TYPE_CHECKING:
    from algorithms.linear_rl.lsvi_ucb import LsviUcb

STEPS = (
    "prefix sums of the nodes",
    "shift and eigenvalue floor",
    "regression, optimistic values and policies",
)
RULE = "the decision to switch policies, from noisy matrices alone"


def declaration_of(config: "LsviUcb") -> Declaration:
    """Return the declaration of a config; with printed noise it carries the paper's argument."""
    whole = Share(epsilon=config.epsilon, delta=config.delta)
    printed = config.calibration != "tight"
    if releases_of(config) == 0:
        return Billboard(
            part=Stated(epsilon=0.0, source="nothing being released: one batch means one policy, fixed in advance"),
            reads=("their own states, rewards and features",),
        )
    return Billboard(
        part=PostProcess(
            part=_composed(config, whole),
            steps=(*STEPS, RULE) if config.schedule == "switching" else STEPS,
            printed=whole.by("post_processing") if printed else None,
        ),
        reads=("their own states, rewards and features",),
        printed=whole.by("billboard") if printed else None,
    )


def _composed(config: "LsviUcb", whole: Share) -> Declaration:
    """Return every step's releases in sequence, composed as the calibration has it."""
    noises = noises_of(config)
    if config.calibration == "tight":
        return Sequential(parts=tuple(part for noise in noises for part in _parts(config, noise)))
    if config.calibration == "paper":
        one = whole.advanced(config.steps, log=math.log(4 / whole.delta))
        steps = tuple(_step_by_advanced(config, noise, one) for noise in noises)
        return Sequential(parts=steps, printed=whole.by("advanced_short", config.steps))
    one = whole.split(config.steps)
    return Sequential(
        parts=tuple(_step_by_sum(config, noise, one) for noise in noises), printed=whole.by("basic", config.steps)
    )


def _parts(config: "LsviUcb", noise: StepNoise) -> tuple[Repeat, Repeat]:
    """Return one step's matrices and vectors, as often as one record meets them."""
    matrix = Release(label=noise.matrix_label, mechanism=noise.matrix)
    vector = Release(label=noise.vector_label, mechanism=noise.vector)
    return (
        Repeat(part=matrix, times=tree_horizon(config).bit_length()),
        Repeat(part=vector, times=releases_of(config)),
    )


def _step_by_advanced(config: "LsviUcb", noise: StepNoise, share: Share) -> Declaration:
    """Return one step with the argument of Appendix E.2: matrices and vectors each over B releases.

    The matrices are composed over B prefixes although they are sums of the same nodes: a level that nothing needs.
    """
    batches = schedule_of(config).planned
    half = share.split(2)
    each = half.advanced(batches)
    nodes, vectors = _parts(config, noise)
    tree = arguments.tree_by_advanced(nodes, each, nodes_printed(batches))
    matrix = Sequential(parts=(tree,), printed=half.by("advanced_short", batches))
    leaf = replace(vectors.part, printed=each.by("classic_gaussian"))
    vector = replace(vectors, part=leaf, printed=half.by("advanced_short", batches))
    return Sequential(parts=(matrix, vector), printed=share.by("basic"))


def _step_by_sum(config: "LsviUcb", noise: StepNoise, share: Share) -> Declaration:
    """Return one step with the argument of Appendix E.3: budgets of B releases added, matrices and vectors alike."""
    batches = schedule_of(config).planned
    half = share.split(2)
    each = half.split(batches)
    nodes, vectors = _parts(config, noise)
    tree = arguments.tree_by_sum(nodes, each, nodes_printed(batches))
    matrix = Sequential(parts=(tree,), printed=half.by("basic", batches))
    leaf = replace(vectors.part, printed=each.by("laplace"))
    vector = replace(vectors, part=leaf, printed=half.by("basic", batches))
    return Sequential(parts=(matrix, vector), printed=share.by("basic"))
