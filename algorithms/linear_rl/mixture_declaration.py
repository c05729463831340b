"""What UCRL-VTR declares: a tree of nodes for every regression (joint), or one message a user (local)."""

from typing import TYPE_CHECKING

from algorithms.linear_rl import arguments
from algorithms.linear_rl.arguments import Share
from algorithms.linear_rl.mixture_noise import PURE, levels, noisy_regressions
from algorithms.linear_rl.printed_mixture import nodes_printed
from dpaudit import Billboard, Declaration, Local, PostProcess, Printed, Release, Sequential

if TYPE_CHECKING:
    from algorithms.linear_rl.ucrl_vtr import UcrlVtr

STEPS = (
    "prefix sums of the nodes",
    "shift and eigenvalue floor",
    "regression, optimistic values and policies",
)


def declaration_of(config: "UcrlVtr") -> Declaration:
    """Return the declaration of a config; with printed noise it carries the paper's argument."""
    return _local(config) if config.model == "local" else _joint(config)


def _joint(config: "UcrlVtr") -> Declaration:
    """Return the billboard of all trees, as one adaptive sequence of their nodes."""
    whole = Share(epsilon=config.epsilon, delta=config.delta)
    annotated = config.calibration != "tight"
    return Billboard(
        part=PostProcess(
            part=_composed(config, whole), steps=STEPS, printed=_by(whole, "post_processing", annotated=annotated)
        ),
        reads=("their own states, rewards and features",),
        printed=_by(whole, "billboard", annotated=annotated),
    )


def _composed(config: "UcrlVtr", whole: Share) -> Declaration:
    """Return the trees in sequence, composed as the calibration has it."""
    times = levels(config)
    trees = tuple(
        tuple(arguments.node(label, mechanism, times) for label, mechanism in held.noises)
        for held in noisy_regressions(config)
    )
    if config.calibration == "tight":
        return Sequential(parts=tuple(tree for held in trees for tree in held))
    if config.calibration == "paper":
        kinds = tuple(zip(*trees, strict=True))
        grouped = (
            kinds if config.bonus == "hoeffding" else (kinds[0][::2], kinds[0][1::2], kinds[1][::2], kinds[1][1::2])
        )
        return arguments.nested_advanced(grouped, whole, steps=config.steps, episodes=config.episodes)
    slots = nodes_printed(config.episodes)
    total = _slots(config, len(trees[0]))
    summed = tuple(arguments.tree_by_sum(tree, whole.split(total), slots) for held in trees for tree in held)
    return Sequential(parts=summed, printed=whole.by("basic", total))


def _local(config: "UcrlVtr") -> Declaration:
    """Return one user's message: every part of every regression, once."""
    whole = Share(epsilon=config.epsilon, delta=config.delta)
    annotated = config.calibration != "tight"
    regressions = noisy_regressions(config)
    total = _slots(config, len(regressions[0].noises))
    each = whole.split(total)
    rule = "laplace" if config.calibration in PURE else "classic_gaussian"
    leaves = tuple(
        Release(label=label, mechanism=mechanism, printed=_by(each, rule, annotated=annotated))
        for held in regressions
        for label, mechanism in held.noises
    )
    summed = Sequential(parts=leaves, printed=whole.by("basic", total) if annotated else None)
    return Local(part=summed, printed=_by(whole, "local", annotated=annotated))


def _slots(config: "UcrlVtr", parts: int) -> int:
    """Return how many parts the paper adds up: `parts` for each regression of each of H steps."""
    return parts * config.steps * (2 if config.bonus == "bernstein" else 1)


def _by(share: Share, rule: str, *, annotated: bool) -> Printed | None:
    """Return an annotation where the paper's noise is what runs."""
    return share.by(rule) if annotated else None
