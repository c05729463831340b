"""What a reader should know about DP-EBS that is neither proof nor attack."""

from typing import TYPE_CHECKING

import numpy as np

from algorithms.dp_ebs.plan import plan_of
from algorithms.dp_ebs.readings import BROKEN, touched_nodes
from algorithms.problems.duels import Duels
from dpaudit import Declaration, Group, bracket_epsilon, fold

if TYPE_CHECKING:
    from algorithms.dp_ebs.config import DpEbs

_READINGS = {
    "R0": "This configuration calls a counter on wins only (R0): it shows exactly 0 before the first win. Not private.",
    "R1": "A removal subtracts 1 from a counter whatever the wins were (R1): private, but the means are biased.",
    "R2": "A removal takes all wins against the removed option back in one element (R2).",
    "R3": "Both options of a duel are credited, and removals take wins back in one element (R3).",
    "R4": "A removal enters one element for each win it takes back (R4): the stream's length is the data. Not private.",
}


def notes_of(config: "DpEbs", problem: Duels) -> tuple[str, ...]:
    """Return what the system does in plain words, how its removal step is read, and what its width amounts to."""
    return (
        _story(config, problem),
        *((_READINGS[config.removal],) if config.model == "central" and config.variant == "tree" else ()),
        *width_note(config, problem),
        *audit_note(config),
        *person_note(config.declaration(), config.claim().neighbours, problem.votes_per_person),
    )


def _story(config: "DpEbs", problem: Duels) -> str:
    """Return what happens, for a person who has never seen a dueling bandit."""
    named = ", ".join(problem.labels[:6]) + (", ..." if problem.arms > 6 else "")
    where = {
        ("central", "tree"): "Wins are counted in running sums with noise",
        ("central", "batched"): "Wins are summed in batches, each with noise once",
        ("local", "tree"): "Each person flips their own answer at random with a known probability before sending it",
    }[config.model, config.variant]
    return (
        f"What it does: {config.horizon:,} people, one after another, are each shown two of {problem.arms} options "
        f"({named}) and say which one they prefer. Options that lose too often are no longer shown, and the last "
        f"one left is the winner. {where}, so that nobody who watches all comparisons and the winner can tell what any "
        "one person answered. Who is asked, and when, is not hidden."
    )


def width_note(config: "DpEbs", problem: Duels) -> tuple[str, ...]:
    """Return what the confidence width amounts to at the end, if it can remove nobody.

    Two options differ by less than 1 in their mean, and one goes when it is two half widths below the other.
    """
    if config.variant == "batched":
        return ()
    kept = np.array([config.horizon / config.arms])
    margin = 2 * float(plan_of(config).half_width.of(kept, kept.astype(np.int64))[0])
    averages = problem.preferences.mean(axis=1)
    gap = float(averages.max() - averages.min())
    if margin > 1:
        return (
            f"This confidence width is vacuous: after all {config.horizon:,} rounds an option would have to be "
            f"{margin:.3g} below another one to go, while shares of wins differ by 1 at most. No option is "
            "removed, every one is shown equally often, and what is published does not depend on any answer. "
            "That is vacuous rather than private: nothing is learnt that could be protected. "
            "Use width = 'tight', or more people.",
        )
    if margin > gap:
        return (
            f"This confidence width is too wide for this problem: after all {config.horizon:,} rounds an option would "
            f"have to be {margin:.3g} below another one to go, and shares of wins differ by {gap:.3g} at most. Hardly "
            "any run removes an option. Use calibration = 'tight', a larger epsilon or more people.",
        )
    return ()


def audit_note(config: "DpEbs") -> tuple[str, ...]:
    """Return why audits run at a short horizon, and what somebody sees who accepts a small delta."""
    if config.model == "local" or config.variant == "batched" or config.removal in BROKEN:
        return ()
    form = fold(config.declaration(), "replace_one")
    relaxed = " and ".join(f"{bracket_epsilon(form, delta).upper:.2g} at delta {delta:g}" for delta in (1e-3, 1e-5))
    nodes = touched_nodes(config.removal, config.horizon + config.arms)
    return (
        f"Over {config.horizon:,} rounds one answer is spread over up to {nodes} noisy sums, and the proved epsilon "
        "is reached only by an output so rare that no audit meets it; the audits here therefore run the same code for "
        f"a few rounds. For somebody content with a small delta, the same noise gives epsilon {relaxed}.",
    )


def person_note(declaration: Declaration, neighbours: str, votes: int) -> tuple[str, ...]:
    """Return what a person is promised who answers several times: the group's epsilon."""
    if votes == 1:
        return ("One person answers once. Somebody who answered m times would be protected at m times the epsilon.",)
    group = Group(part=declaration, size=votes)
    epsilon = bracket_epsilon(fold(group, "replace_one"), 0.0).upper
    return (
        f"The unit is one answer, and a person in this data gave up to {votes}. All answers of such a person together "
        f"are protected at epsilon {epsilon:.4g} only, the budget of a group of {votes}.",
    )
