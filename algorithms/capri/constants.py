"""The constants of CAPRI: its printed noise, its schedule, and the horizons from which its printed widths speak."""

import math
from dataclasses import replace

from algorithms.capri.domain import effective_dimension_of, information_gain_of
from algorithms.capri.elimination import printed_beta, share_of
from algorithms.capri.plan import plan_of
from algorithms.capri.settings import CapriSettings, completed
from algorithms.problems.kernel_bandit import KernelBandit
from dpaudit.model import constants as paper

_CELLS = 30


def constants_of(settings: CapriSettings, problem: KernelBandit | None = None) -> paper.PaperConstants:
    """Return the constants at the configured horizon, and the horizons for the problem's number of cells.

    Without a problem there are 30 cells. A width speaks where four half widths are below the largest gap that rewards
    allow, and where they are below the problem's largest gap.
    """
    cells = problem.n_contexts * problem.n_actions if problem is not None else _CELLS
    gaps = {"twice the reward bound": 2 * settings.reward_bound}
    if problem is not None and problem.gaps.max() > 0:
        gaps["the problem's largest gap"] = float(problem.gaps.max())
    printed = replace(settings, calibration="paper").noise_multiplier()
    share = share_of(settings, cells, settings.horizon)
    return paper.PaperConstants(
        constants=paper.constants(
            ("noise multiplier, printed", printed, "Eq. (5)"),
            ("noise multiplier of this run", settings.noise_multiplier(), "calibration"),
            ("standard deviation of this run", plan_of(settings).stddev, "Eq. (5)"),
            ("epochs that release", float(completed(settings.horizon)), "Algorithm 1"),
            ("cells", float(cells), "the problem"),
            *_gains(settings, problem),
            ("failure probability of a cell and round", share, "Lemma 6.6"),
            ("four half widths", margin(settings, cells, settings.horizon), "Eq. (7)"),
        ),
        horizons=tuple(
            paper.SpeakingHorizon(
                name="printed half width",
                speaks=f"four half widths below {name}, {gap:.4g}",
                log10=_from(settings, cells, gap),
                source="Lemma 6.6 and Eq. (7), with printed noise",
            )
            for name, gap in gaps.items()
        ),
    )


def _gains(settings: CapriSettings, problem: KernelBandit | None) -> tuple[tuple[str, float, str], ...]:
    """Return gamma_T of the problem's cells between its ends, and without a kernel; nothing without a problem."""
    if problem is None:
        return ()
    least, most, linear = information_gain_of(settings, problem)
    source = "section 2.1, of the problem's cells"
    dimension = effective_dimension_of(settings, problem)
    return (
        ("gamma_T, at least", least, source),
        ("gamma_T, at most", most, source),
        ("gamma_T without a kernel", linear, source),
        ("effective dimension of the cells", dimension, "kernel, ridge, half of the horizon"),
    )


def upper_bound_of(settings: CapriSettings, problem: KernelBandit) -> paper.RegretUpperBound | None:
    """Return the most that can be lost where the printed widths remove no action of the problem, else None."""
    cells, gap = problem.n_contexts * problem.n_actions, float(problem.gaps.max())
    return paper.regret_upper_bound(
        horizon=settings.horizon,
        most=problem.largest_regret,
        source="Theorem 6.7",
        log10=_from(settings, cells, gap) if gap > 0 else math.inf,
    )


def _from(settings: CapriSettings, cells: int, gap: float) -> float:
    """Return log10 of the horizon from which four printed half widths are below `gap`."""
    return paper.log10_horizon(lambda horizon: margin(settings, cells, horizon) < gap, smallest=1.0)


def margin(settings: CapriSettings, cells: int, horizon: float) -> float:
    """Return four printed half widths after the last full epoch of about half the rounds, cells met alike.

    A cell then has a variance of cells / (horizon / 4 + cells), the ridge being 1; the joint model's printed noise.
    """
    share, logs = share_of(settings, cells, horizon), math.log(horizon)
    width = math.sqrt(cells / (horizon / 4 + cells))
    multiplier = 2 * logs / settings.epsilon * math.sqrt(math.log(1.25 * logs / settings.delta))
    noise = 4 * math.log(3 / share) * multiplier * width**2
    return 4 * settings.reward_bound * (printed_beta(share, horizon, 1.0, 1.0) * width + noise)
