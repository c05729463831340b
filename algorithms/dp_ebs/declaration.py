"""The declarations of DP-EBS: the tight tree, which is certified, and the paper's own argument, node by node."""

from dataclasses import replace

from algorithms._dueling.claim import printed_step
from algorithms.dp_ebs.noise.calibrated import batch_noise, tree_of, vote_response
from algorithms.dp_ebs.noise.clocks import RemovalClock, WinClock, observable_pairs
from algorithms.dp_ebs.noise.shuffled import VOTE, vote_release
from algorithms.dp_ebs.settings import DpEbsSettings
from algorithms.dp_ebs.widths.batches import batches_for, fewest_shuffled, vote_of
from algorithms.dp_ebs.widths.stages import champion_labels
from dpaudit import Declaration, Group, Local, Parallel, PostProcess, Printed, Release, Sequential, Shuffle
from mechanisms import TreeAggregation

COUNTER_KEY = "which option is shown on the left (a choice made from earlier outputs)"
"""What decides the counter that an answer enters."""

SECOND_KEY = "which option of the duel goes first (a choice made from earlier outputs)"
"""What decides the second counter that an answer enters where both options are credited; its label is the same."""

STEPS = ("which option plays next", "confidence intervals and removals", "the final choice")
"""The post-processing of the counters' outputs."""

LARGEST_EPSILON = 1.0
"""The largest epsilon that Lemma 2 is stated for."""

CLOCK = "the clock of a counter"
"""The label of what the broken readings reveal."""


def counter_label(arm: int) -> str:
    """Return the label of one option's counter, the same in the declaration and in the trace."""
    return f"counter of option {arm + 1}"


def declaration_of(settings: DpEbsSettings) -> Declaration:
    """Return the tight declaration: adaptive parallel composition over counters, exact shifted nodes inside.

    With calibration "paper" the nodes carry the budgets of Lemma 2: eps / 2 for a counter, two counters. Of shuffled
    votes the smallest shuffle is declared: a person's vote is in one, and others can be added to it.
    """
    if settings.model == "local":
        vote = Release(
            label=VOTE,
            mechanism=vote_response(settings.epsilon),
            printed=_printed(settings, "randomised_response", 1.0),
        )
        return Local(part=vote, printed=_printed(settings, "local", 1.0))
    if settings.model == "shuffle":
        shuffle = Shuffle(part=vote_release(vote_of(settings).epsilon), users=fewest_shuffled(settings))
        return PostProcess(part=shuffle, steps=STEPS[1:])
    if settings.variant != "tree":
        batched = settings.variant == "batched"
        labels = tuple(batch.label for batch in batches_for(settings)) if batched else champion_labels(settings)
        sums = tuple(Release(label=label, mechanism=batch_noise(settings.epsilon)) for label in labels)
        return PostProcess(part=Parallel(parts=sums, key="the batch in which a person votes"), steps=STEPS[1:])
    parts = _counters(settings)
    composed = Sequential(parts=parts, printed=_printed(settings, "basic", 1.0, slots=2.0 if len(parts) == 1 else None))
    printed = printed_step(settings.calibration, "post_processing", settings.epsilon, largest_epsilon=LARGEST_EPSILON)
    return PostProcess(part=composed, steps=STEPS, printed=printed)


def printed_declaration_of(settings: DpEbsSettings) -> Declaration:
    """Return the argument of Lemma 2 as it is printed, node by node, for a tree of budget epsilon / 4.

    A tree of eps / 4; the person's +1 and later -1 as a group of two, eps / 2; two counters, eps; post-processing.
    Edge cases: its own tight reading is an upper bound only, as a group of two may move a node by 2, while
    the two leaves of an answer have opposite signs and cancel where their paths meet.
    """
    tree = replace(tree_of(settings), signs=(1,))
    counters = tuple(
        Release(label=counter_label(arm), mechanism=tree, printed=Printed(rule="tree", epsilon=settings.epsilon / 4))
        for arm in range(settings.arms)
    )
    counter = Parallel(parts=counters, key=COUNTER_KEY, printed=Printed(rule="parallel", epsilon=settings.epsilon / 4))
    pair = Group(part=counter, size=2, printed=Printed(rule="group", epsilon=settings.epsilon / 2))
    both = Sequential(parts=(pair,), printed=Printed(rule="basic", epsilon=settings.epsilon, slots=2.0))
    printed = Printed(rule="post_processing", epsilon=settings.epsilon, largest_epsilon=LARGEST_EPSILON)
    return PostProcess(part=both, steps=STEPS, printed=printed)


def _counters(settings: DpEbsSettings) -> tuple[Declaration, ...]:
    """Return the parts that one answer touches: a counter, a second one for R3, the clock for R0 and R4."""
    tree = tree_of(settings)
    stays = Parallel(
        parts=tuple(_counter(settings, counter_label(arm), tree) for arm in range(settings.arms)),
        key=COUNTER_KEY,
        printed=_printed(settings, "parallel", 0.5),
    )
    match settings.removal:
        case "R0":
            return stays, Release(label=CLOCK, mechanism=WinClock())
        case "R3":
            first = replace(tree, signs=(1,))
            goes = tuple(_counter(settings, counter_label(arm), first) for arm in range(settings.arms))
            return stays, Parallel(parts=goes, key=SECOND_KEY, printed=_printed(settings, "parallel", 0.5))
        case "R4":
            reads = observable_pairs(settings.horizon, settings.arms)
            return stays, Release(label=CLOCK, mechanism=RemovalClock(reads=reads))
        case _:
            return (stays,)


def _counter(settings: DpEbsSettings, label: str, tree: TreeAggregation) -> Release:
    """Return one counter, with the budget that the paper gives it after its group of two."""
    return Release(label=label, mechanism=tree, printed=_printed(settings, "tree", 0.5))


def _printed(settings: DpEbsSettings, rule: str, share: float, slots: float | None = None) -> Printed | None:
    """Return the paper's own step, where the paper's noise is what runs."""
    return printed_step(settings.calibration, rule, settings.epsilon * share, slots)
