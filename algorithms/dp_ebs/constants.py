"""The constants of DP-EBS: noise, nodes and widths, and from which horizon the printed width can remove an option."""

import math

from algorithms.dp_ebs.noise.calibrated import touched_nodes
from algorithms.dp_ebs.plan import plan_of
from algorithms.dp_ebs.settings import DpEbsSettings
from algorithms.dp_ebs.widths.batches import vote_of
from algorithms.dp_ebs.widths.stages import failure_of, stages_of
from algorithms.problems.duels import Duels
from dpaudit.model import constants as paper

_APART = 0.5
"""Two options differ by at most one half in their mean share of wins against the better one of the two."""


def constants_of(settings: DpEbsSettings, problem: Duels | None = None) -> paper.PaperConstants:
    """Return the constants at the configured horizon, and from which horizon the printed width can remove an option."""
    constants = paper.constants(
        ("confidence term of the printed width", _union(settings, settings.horizon), "Lemma 4"),
        ("two printed half widths", margin(settings, settings.horizon), "section 3.1 (3)"),
    )
    removes = paper.SpeakingHorizon(
        name="printed half width",
        speaks="two half widths below 0.5 when every option has its share of all rounds",
        log10=paper.log10_horizon(lambda horizon: margin(settings, horizon) < _APART, smallest=1.0),
        source="section 3.1 (3) and Lemma 1",
    )
    return paper.PaperConstants(constants=(*constants, *_noise_of(settings)), horizons=(removes,))


def _noise_of(settings: DpEbsSettings) -> tuple[paper.Constant, ...]:
    """Return what hides an answer: a tree of noisy nodes in the central model, and where answers are randomised."""
    plan = plan_of(settings)
    rows: list[tuple[str, float, str]] = []
    if plan.tree is not None and settings.model == "central":
        nodes = touched_nodes(settings.removal, settings.horizon + settings.arms)
        scale = float(getattr(plan.tree.leaf, "scale", math.nan))
        rows = [
            ("levels of a tree", float(plan.tree.levels), "Lemma 1"),
            ("nodes that one answer moves", float(nodes), "Lemma 2, counted"),
            ("scale of a node's noise", scale, "Lemmas 1 and 2"),
        ]
    response = vote_of(settings) if settings.model == "shuffle" else plan.response
    if response is not None:
        rows.append(("probability of a true answer", response.probability, "Remark 3"))
    return paper.constants(*rows)


def upper_bound_of(settings: DpEbsSettings, problem: Duels) -> paper.RegretUpperBound | None:
    """Return what is proved of a champion, or the most that can be lost where the printed width removes nobody.

    None for batches, and of a champion where no option beats all others.
    """
    most = problem.largest_regret
    if settings.variant == "champion":
        value = _champion_regret(settings, problem)
        if value is None:
            return None
        return paper.regret_upper_bound(
            horizon=settings.horizon, most=most, source="the champion's stages", value=value
        )
    if settings.variant == "batched":
        return None
    (horizon,) = constants_of(settings).horizons
    return paper.regret_upper_bound(horizon=settings.horizon, most=most, source="Theorem 1", log10=horizon.log10)


def _champion_regret(settings: DpEbsSettings, problem: Duels) -> float | None:
    """Return a bound on the expected regret of a champion; None where no option beats all others, or widths are cut.

    Unless something of probability `failure_of` happens, shares in the best option's duels err to its harm by a half
    width at most. So a reign of option c ends at the first stage whose two half widths are below the excess over 1/2
    with which the best option beats c, and c as its challenger goes at that stage.
    """
    best, most = problem.best, settings.horizon * problem.largest_regret
    excess = problem.preferences[best] - 0.5
    others = [option for option in range(problem.arms) if option != best]
    if settings.width_factor < 1 or min(excess[option] for option in others) <= 0:
        return None
    stages, rounds = stages_of(settings), 0
    lost = settings.horizon * float(problem.regret[best, best])  # what a net loses whoever is shown
    for option in others:
        ends = [stage.total for stage in stages if 2 * stage.half_width < excess[option]]
        duels = ends[0] if ends else settings.horizon
        rounds += duels * problem.arms  # its own reign over all others, and its part in that of the best
        costs = problem.regret[option]
        lost += duels * float(costs.sum() - costs[option] + costs[best])
    return lost + failure_of(settings) * most if rounds <= settings.horizon else most


def _union(settings: DpEbsSettings, horizon: float) -> float:
    """Return ln(K T / delta), where delta is 1 / T unless it is given."""
    failure = 1 / horizon if settings.fail_prob is None else settings.fail_prob
    return math.log(settings.arms * horizon / failure)


def margin(settings: DpEbsSettings, horizon: float) -> float:
    """Return two printed half widths where each option has horizon / arms plays.

    In the local model there is no tree, and sampling is wider by the factor that takes the noise of answers out.
    """
    plays, union = horizon / settings.arms, _union(settings, horizon)
    sampling = math.sqrt(union / plays)
    if settings.model == "local":
        return 2 * settings.width_factor * sampling / math.tanh(settings.epsilon / 2)
    noise: float = 16 * union * math.log(horizon) ** 2.5 / (settings.epsilon * plays)
    return 2 * settings.width_factor * (sampling + noise)
