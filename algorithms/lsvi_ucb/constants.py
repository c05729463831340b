"""The constants of batched LSVI-UCB: batches, noise, shift and radius, and the horizons from which they speak."""

from algorithms.lsvi_ucb import printed_scales as printed
from algorithms.lsvi_ucb.plan import most_switches, plan_of
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from algorithms.problems.linear_mdp import LinearMdp
from dpaudit.model import constants as paper


def constants_of(settings: LsviUcbSettings, problem: LinearMdp | None = None) -> paper.PaperConstants:
    """Return the constants at the configured number of episodes, and from which number the printed ones speak.

    The bound of Eq. (22) speaks where it is below episodes times steps; the schedule where it has a second batch.
    """
    plan, scales = plan_of(settings), _scales(settings, settings.episodes)
    switches = (
        (paper.Constant(name="switches by proof, at most", value=most_switches(settings), source="the switching rule"),)
        if settings.schedule == "switching"
        else ()
    )
    horizons = [
        paper.SpeakingHorizon(
            name="printed schedule",
            speaks="it has two batches or more, so that something is learned",
            log10=paper.log10_horizon(lambda episodes: _batches(settings, int(episodes)) > 1, smallest=0.5),
            source="Theorem 8",
        )
    ]
    constants = [
        paper.Constant(name="batches, printed", value=float(_batches(settings, settings.episodes)), source="Theorem 8"),
        paper.Constant(name="releases of this run", value=float(plan.releases), source="its schedule"),
        *switches,
        paper.Constant(name="shift of this run", value=plan.shift, source="settings"),
        paper.Constant(name="radius of this run", value=plan.radius, source="settings"),
    ]
    if scales is not None:
        constants += [
            paper.Constant(name="printed Upsilon", value=scales.deviation, source="Appendix E.1"),
            paper.Constant(name="printed radius", value=scales.radius, source="Appendix E.1"),
            paper.Constant(
                name="printed bound on the regret", value=_bound(settings, settings.episodes), source="Eq. (22)"
            ),
        ]
        horizons.append(
            paper.SpeakingHorizon(
                name="printed bound on the regret",
                speaks="the bound is below episodes times steps",
                log10=paper.log10_horizon(
                    lambda episodes: _bound(settings, int(episodes)) < int(episodes) * settings.steps, smallest=0.5
                ),
                source="Eq. (22)",
            )
        )
    return paper.PaperConstants(constants=tuple(constants), horizons=tuple(horizons))


def upper_bound_of(settings: LsviUcbSettings, problem: LinearMdp) -> paper.RegretUpperBound | None:
    """Return Eq. (22), or the most that can be lost where that is less; None for a pure claim, which has no bound."""
    if settings.delta == 0:
        return None
    return paper.regret_upper_bound(
        horizon=settings.episodes,
        most=problem.largest_regret,
        source="Eq. (22)",
        log10=constants_of(settings).horizons[-1].log10,
        value=_bound(settings, settings.episodes),
    )


def _batches(settings: LsviUcbSettings, episodes: int) -> int:
    """Return the printed number of batches."""
    return printed.batches(settings.epsilon, episodes=episodes, steps=settings.steps, d=settings.dimension)


def _scales(settings: LsviUcbSettings, episodes: int) -> printed.BatchScales | None:
    """Return the printed scales for printed noise; None for a pure claim, which has none."""
    if settings.delta == 0:
        return None
    number = _batches(settings, episodes)
    matrix, vector = printed.noise_scales(settings.epsilon, settings.delta, B=number, steps=settings.steps)
    return printed.batch_scales(
        matrix, vector, B=number, episodes=episodes, steps=settings.steps, d=settings.dimension,
        fail_prob=settings.fail_prob,
    )  # fmt: skip


def _bound(settings: LsviUcbSettings, episodes: int) -> float:
    """Return Eq. (22) for a number of episodes of any size; 0 for a pure claim, which is never asked for."""
    scales = _scales(settings, episodes)
    return 0.0 if scales is None else printed.regret_bound(
        scales, B=_batches(settings, episodes), episodes=episodes, steps=settings.steps, d=settings.dimension,
        fail_prob=settings.fail_prob,
    )  # fmt: skip
