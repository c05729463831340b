"""What DP-EBS declares: the tight tree, which is certified, and the paper's own argument, word for word."""

from dataclasses import replace
from typing import TYPE_CHECKING

from algorithms.dp_ebs.batched import batches_of
from algorithms.dp_ebs.calibration import batch_noise, vote_response
from algorithms.dp_ebs.clock import RemovalClock, WinClock, observable_pairs
from dpaudit import Declaration, Group, Local, Parallel, PostProcess, Printed, Release, Sequential
from mechanisms import TreeAggregation

if TYPE_CHECKING:
    from algorithms.dp_ebs.config import DpEbs

COUNTER_KEY = "which option is shown on the left (a choice made from earlier outputs)"
"""What decides the counter that an answer enters."""

STEPS = ("which option plays next", "confidence intervals and removals", "the final choice")
"""What is done with the counters' outputs."""

CLOCK = "the clock of a counter"
"""The label of what the broken readings give away."""

VOTE = "one person's answer"
"""The label of a randomised answer in the local model."""


def counter_label(arm: int) -> str:
    """Return the label of one option's counter, the same in the declaration and in the trace."""
    return f"counter of option {arm + 1}"


def second_label(arm: int) -> str:
    """Return the label of a counter in its other role under R3: its option is the first of the two to go."""
    return f"counter of option {arm + 1}, if it goes first"


def declaration_of(config: "DpEbs") -> Declaration:
    """Return the tight declaration: adaptive parallel composition over counters, exact shifted nodes inside.

    With calibration "paper" the nodes carry the budgets of Lemma 2: eps / 2 for a counter, two counters.
    """
    if config.model == "local":
        vote = Release(
            label=VOTE, mechanism=vote_response(config.epsilon), printed=_printed(config, "randomised_response", 1.0)
        )
        return Local(part=vote, printed=_printed(config, "local", 1.0))
    if config.variant == "batched":
        sums = tuple(
            Release(label=batch.label, mechanism=batch_noise(config.epsilon))
            for batch in batches_of(epsilon=config.epsilon, horizon=config.horizon, arms=config.arms)
        )
        return PostProcess(part=Parallel(parts=sums, key="the batch in which a person votes"), steps=STEPS[1:])
    parts = _counters(config)
    composed = Sequential(parts=parts, printed=_printed(config, "basic", 1.0, slots=2.0 if len(parts) == 1 else None))
    return PostProcess(part=composed, steps=STEPS, printed=_printed(config, "post_processing", 1.0))


def printed_declaration_of(config: "DpEbs") -> Declaration:
    """Return the argument of Lemma 2 as it is printed, node by node, for a tree of budget epsilon / 4.

    A tree of eps / 4; the person's +1 and later -1 as a group of two, eps / 2; two counters, eps; post-processing.
    Edge cases: its own tight reading is an upper bound only, as a group of two may move a node by 2, while
    the two leaves of an answer have opposite signs and cancel where their paths meet.
    """
    tree = replace(config.tree(), signs=(1,))
    counters = tuple(
        Release(label=counter_label(arm), mechanism=tree, printed=Printed(rule="tree", epsilon=config.epsilon / 4))
        for arm in range(config.arms)
    )
    one = Parallel(parts=counters, key=COUNTER_KEY, printed=Printed(rule="parallel", epsilon=config.epsilon / 4))
    pair = Group(part=one, size=2, printed=Printed(rule="group", epsilon=config.epsilon / 2))
    both = Sequential(parts=(pair,), printed=Printed(rule="basic", epsilon=config.epsilon, slots=2.0))
    return PostProcess(part=both, steps=STEPS, printed=Printed(rule="post_processing", epsilon=config.epsilon))


def _counters(config: "DpEbs") -> tuple[Declaration, ...]:
    """Return the parts that one answer touches: a counter, a second one for R3, the clock for R0 and R4."""
    tree = config.tree()
    stays = Parallel(
        parts=tuple(_counter(config, counter_label(arm), tree) for arm in range(config.arms)),
        key=COUNTER_KEY,
        printed=_printed(config, "parallel", 0.5),
    )
    match config.removal:
        case "R0":
            return stays, Release(label=CLOCK, mechanism=WinClock())
        case "R3":
            first = replace(tree, signs=(1,))
            goes = tuple(_counter(config, second_label(arm), first) for arm in range(config.arms))
            return stays, Parallel(parts=goes, key=COUNTER_KEY, printed=_printed(config, "parallel", 0.5))
        case "R4":
            reads = observable_pairs(config.horizon, config.arms)
            return stays, Release(label=CLOCK, mechanism=RemovalClock(reads=reads))
        case _:
            return (stays,)


def _counter(config: "DpEbs", label: str, tree: TreeAggregation) -> Release:
    """Return one counter, with the budget that the paper gives it after its group of two."""
    return Release(label=label, mechanism=tree, printed=_printed(config, "tree", 0.5))


def _printed(config: "DpEbs", rule: str, share: float, slots: float | None = None) -> Printed | None:
    """Return the paper's own step, where the paper's noise is what runs."""
    if config.calibration != "paper":
        return None
    return Printed(rule=rule, epsilon=config.epsilon * share, slots=slots)
