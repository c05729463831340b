"""The declaration of LSVI-UCB: for every step a tree of Gram matrices over batches, and a new target vector a batch."""

import math

from algorithms._linear_rl.budget_shares import ADDED, ADVANCED, Argument, Share
from algorithms._linear_rl.calibration import nodes_printed
from algorithms.lsvi_ucb.noise import StepNoise, noises_of, releases_of, schedule_of, tree_horizon
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from dpaudit import Billboard, Declaration, PostProcess, Printed, Release, Repeat, Sequential, Stated

STEPS = (
    "prefix sums of the nodes",
    "shift and eigenvalue floor",
    "regression, optimistic values and policies",
)
RULE = "the decision to switch policies, from noisy matrices alone"


def declaration_of(settings: LsviUcbSettings) -> Declaration:
    """Return the declaration of the settings; with printed noise it carries the paper's argument."""
    budget = Share(epsilon=settings.epsilon, delta=settings.delta)
    printed = settings.calibration != "tight"
    if releases_of(settings) == 0:
        return Billboard(
            part=Stated(epsilon=0.0, source="nothing being released: one batch means one policy, fixed in advance"),
            reads=("their own states, rewards and features",),
        )
    return Billboard(
        part=PostProcess(
            part=_composed(settings, budget),
            steps=(*STEPS, RULE) if settings.schedule == "switching" else STEPS,
            printed=budget.by("post_processing") if printed else None,
        ),
        reads=("their own states, rewards and features",),
        printed=budget.by("billboard") if printed else None,
    )


def _composed(settings: LsviUcbSettings, budget: Share) -> Declaration:
    """Return every step's releases in sequence, composed as the calibration has it."""
    noises = noises_of(settings)
    if settings.calibration == "tight":
        return Sequential(parts=tuple(part for noise in noises for part in _parts(settings, noise)))
    if settings.calibration == "paper":
        share = budget.advanced(settings.steps, log=math.log(4 / budget.delta))
        steps = tuple(_step(settings, noise, share, ADVANCED) for noise in noises)
        return Sequential(parts=steps, printed=budget.by("advanced_short", settings.steps))
    share = budget.split(settings.steps)
    steps = tuple(_step(settings, noise, share, ADDED) for noise in noises)
    return Sequential(parts=steps, printed=budget.by("basic", settings.steps))


def _parts(settings: LsviUcbSettings, noise: StepNoise) -> tuple[Repeat, Repeat]:
    """Return one step's matrices and vectors, as often as one record meets them."""
    return Repeat(part=_node(noise), times=tree_horizon(settings).bit_length()), _vectors(settings, noise)


def _node(noise: StepNoise) -> Release:
    """Return the release of one node of one step's matrices."""
    return Release(label=noise.matrix_label, mechanism=noise.matrix)


def _vectors(
    settings: LsviUcbSettings, noise: StepNoise, leaf: Printed | None = None, composed: Printed | None = None
) -> Repeat:
    """Return one step's vectors, with the paper's argument for one of them and for all where it is given."""
    release = Release(label=noise.vector_label, mechanism=noise.vector, printed=leaf)
    return Repeat(part=release, times=releases_of(settings), printed=composed)


def _step(settings: LsviUcbSettings, noise: StepNoise, share: Share, argument: Argument) -> Declaration:
    """Return one step with the argument of Appendix E.2 or E.3: matrices and vectors each over B releases.

    The matrices are composed over B prefixes although they are sums of the same nodes: a level that nothing needs.
    """
    batches = schedule_of(settings).planned
    half = share.split(2)
    each = argument.part(half, batches)
    tree = argument.tree(_node(noise), tree_horizon(settings).bit_length(), each, nodes_printed(batches))
    by = half.by(argument.rule, batches)
    vectors = _vectors(settings, noise, each.by(argument.leaf), by)
    return Sequential(parts=(Sequential(parts=(tree,), printed=by), vectors), printed=share.by("basic"))
