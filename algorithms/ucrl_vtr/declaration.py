"""The declaration of UCRL-VTR: a tree of nodes for every regression (joint), or one message a user (local)."""

from algorithms._linear_rl.budget_shares import ADDED, ADVANCED, Share
from algorithms._linear_rl.calibration import nodes_printed
from algorithms._linear_rl.settings import PURE
from algorithms.ucrl_vtr.noise import levels, noisy_regressions
from algorithms.ucrl_vtr.settings import UcrlVtrSettings
from dpaudit import Billboard, Declaration, Local, PostProcess, Printed, Release, Repeat, Sequential

STEPS = (
    "prefix sums of the nodes",
    "shift and eigenvalue floor",
    "regression, optimistic values and policies",
)


def declaration_of(settings: UcrlVtrSettings) -> Declaration:
    """Return the declaration of the settings; with printed noise it carries the paper's argument."""
    return _local(settings) if settings.model == "local" else _joint(settings)


def _joint(settings: UcrlVtrSettings) -> Declaration:
    """Return the billboard of all trees, as one adaptive sequence of their nodes."""
    budget = Share(epsilon=settings.epsilon, delta=settings.delta)
    annotated = settings.calibration != "tight"
    return Billboard(
        part=PostProcess(
            part=_composed(settings, budget), steps=STEPS, printed=_by(budget, "post_processing", annotated=annotated)
        ),
        reads=("their own states, rewards and features",),
        printed=_by(budget, "billboard", annotated=annotated),
    )


def _composed(settings: UcrlVtrSettings, budget: Share) -> Declaration:
    """Return the trees in sequence, composed as the calibration has it."""
    times = levels(settings)
    trees = tuple(
        tuple(Release(label=label, mechanism=mechanism) for label, mechanism in regression.noises)
        for regression in noisy_regressions(settings)
    )
    if settings.calibration == "tight":
        return Sequential(parts=tuple(Repeat(part=node, times=times) for nodes in trees for node in nodes))
    if settings.calibration == "paper":
        kinds = tuple(zip(*trees, strict=True))
        grouped = (
            kinds if settings.bonus == "hoeffding" else (kinds[0][::2], kinds[0][1::2], kinds[1][::2], kinds[1][1::2])
        )
        return _nested_advanced(settings, grouped, budget)
    slots = nodes_printed(settings.episodes)
    total = _slots(settings, len(trees[0]))
    summed = tuple(ADDED.tree(node, times, budget.split(total), slots) for nodes in trees for node in nodes)
    return Sequential(parts=summed, printed=budget.by("basic", total))


def _nested_advanced(settings: UcrlVtrSettings, kinds: tuple[tuple[Release, ...], ...], share: Share) -> Declaration:
    """Return the argument of Corollaries 5 and 10 over trees grouped by kind (matrices, vectors, ...).

    The budget is split evenly between kinds, and within a kind by advanced composition over H trees, and over
    ceil(log2 K + 1) nodes in each.
    """
    steps, times, slots = settings.steps, levels(settings), nodes_printed(settings.episodes)
    kind_share = share.split(len(kinds))
    tree_share = kind_share.advanced(steps)
    parts = tuple(
        Sequential(
            parts=tuple(ADVANCED.tree(node, times, tree_share, slots) for node in nodes),
            printed=kind_share.by("advanced_short", steps),
        )
        for nodes in kinds
    )
    return Sequential(parts=parts, printed=share.by("basic"))


def _local(settings: UcrlVtrSettings) -> Declaration:
    """Return one user's message: every part of every regression, once."""
    budget = Share(epsilon=settings.epsilon, delta=settings.delta)
    annotated = settings.calibration != "tight"
    regressions = noisy_regressions(settings)
    total = _slots(settings, len(regressions[0].noises))
    share = budget.split(total)
    rule = "laplace" if settings.calibration in PURE else "classic_gaussian_2"
    leaves = tuple(
        Release(label=label, mechanism=mechanism, printed=_by(share, rule, annotated=annotated))
        for regression in regressions
        for label, mechanism in regression.noises
    )
    summed = Sequential(parts=leaves, printed=budget.by("basic", total) if annotated else None)
    return Local(part=summed, printed=_by(budget, "local", annotated=annotated))


def _slots(settings: UcrlVtrSettings, parts: int) -> int:
    """Return how many parts the paper adds up: `parts` for each regression of each of H steps."""
    return parts * settings.steps * (2 if settings.bonus == "bernstein" else 1)


def _by(share: Share, rule: str, *, annotated: bool) -> Printed | None:
    """Return an annotation where the paper's noise is what runs."""
    return share.by(rule) if annotated else None
