"""Notes on DP-EBS for a report: its story, its reading of a removal, its width, and what audits can see."""

import numpy as np

from algorithms._dueling.notes import VACUOUS, person_note, story
from algorithms.dp_ebs.declaration import declaration_of
from algorithms.dp_ebs.noise.calibrated import touched_nodes
from algorithms.dp_ebs.plan import plan_of
from algorithms.dp_ebs.settings import BROKEN, DpEbsSettings
from algorithms.problems.duels import Duels
from dpaudit import bracket_epsilon, fold

_READINGS = {
    "R0": "This configuration calls a counter on wins only (R0): it shows exactly 0 before the first win. Not private.",
    "R1": "A removal subtracts 1 from a counter whatever the wins were (R1): private, but the means are biased.",
    "R2": "A removal takes all wins against the removed option back in one element (R2).",
    "R3": "Both options of a duel are credited, and removals take wins back in one element (R3).",
    "R4": "A removal enters one element for each win it takes back (R4): the stream's length is the data. Not private.",
}


def notes_of(settings: DpEbsSettings, problem: Duels) -> tuple[str, ...]:
    """Return what the system does in plain words, how its removal step is read, and what its width amounts to."""
    return (
        _story(settings, problem),
        *((_READINGS[settings.removal],) if settings.model == "central" and settings.variant == "tree" else ()),
        *width_note(settings, problem),
        *audit_note(settings),
        *person_note(declaration_of(settings), settings.claim().neighbours, problem.votes_per_person),
    )


def _story(settings: DpEbsSettings, problem: Duels) -> str:
    """Return what happens, for a person who has never seen a dueling bandit."""
    method = {
        ("central", "tree"): "Wins are counted in running sums with noise",
        ("central", "batched"): "Wins are summed in batches, each with noise once",
        ("central", "champion"): "One option meets all others, and its wins are summed in stages, each with noise once",
        ("shuffle", "batched"): "Each person flips their own answer at random before sending it, and the answers of a "
        "batch are read together, in an order that nobody learns",
        ("local", "tree"): "Each person flips their own answer at random with a known probability before sending it",
    }[settings.model, settings.variant]
    return story(
        settings.horizon,
        problem,
        f"Options that lose too often are no longer shown, and the last one left is the winner. {method}, so that "
        "nobody who watches all comparisons and the winner can tell what any one person answered.",
    )


def width_note(settings: DpEbsSettings, problem: Duels) -> tuple[str, ...]:
    """Return what the confidence width amounts to at the end, if it can remove nobody.

    Two options differ by less than 1 in their mean, and one goes when it is two half widths below the other.
    """
    if settings.variant != "tree":
        return ()
    plays = np.array([settings.horizon / settings.arms])
    margin = 2 * float(plan_of(settings).half_width.of(plays, plays.astype(np.int64))[0])
    averages = problem.preferences.mean(axis=1)
    gap = float(averages.max() - averages.min())
    if margin > 1:
        return (
            f"This confidence width is vacuous: after all {settings.horizon:,} rounds an option would have to be "
            f"{margin:.3g} below another one to go, while shares of wins differ by 1 at most. No option is "
            "removed, every one is shown equally often, and what is published does not depend on any answer. "
            f"{VACUOUS} Use width = 'tight', or more people.",
        )
    if margin > gap:
        return (
            f"This confidence width is too wide for this problem: after all {settings.horizon:,} rounds an option "
            f"would have to be {margin:.3g} below another one to go, and shares of wins differ by {gap:.3g} at most. "
            "Hardly any run removes an option. Use calibration = 'tight', a larger epsilon or more people.",
        )
    return ()


def audit_note(settings: DpEbsSettings) -> tuple[str, ...]:
    """Return why audits run at a short horizon, and what somebody sees who accepts a small delta."""
    if settings.model == "local" or settings.variant != "tree" or settings.removal in BROKEN:
        return ()
    form = fold(declaration_of(settings), "replace_one")
    relaxed = " and ".join(f"{bracket_epsilon(form, delta).upper:.2g} at delta {delta:g}" for delta in (1e-3, 1e-5))
    nodes = touched_nodes(settings.removal, settings.horizon + settings.arms)
    return (
        f"Over {settings.horizon:,} rounds one answer is spread over up to {nodes} noisy sums, and the proved epsilon "
        "is reached only by an output so rare that no audit meets it; the audits here therefore run the same code for "
        f"a few rounds. For somebody content with a small delta, the same noise gives epsilon {relaxed}.",
    )
