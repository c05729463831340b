"""The constants of batched LSVI-UCB: batches, noise, shift and radius, and the horizons from which they speak."""

from algorithms._linear_rl.printed_bound import PrintedBound
from algorithms.lsvi_ucb import printed_scales as printed
from algorithms.lsvi_ucb.plan import most_switches, plan_of
from algorithms.lsvi_ucb.settings import LsviUcbSettings
from algorithms.problems.linear_mdp import LinearMdp
from dpaudit.model import constants as paper


def constants_of(settings: LsviUcbSettings, problem: LinearMdp | None = None) -> paper.PaperConstants:
    """Return the constants at the configured number of episodes, and from which number the printed ones speak.

    The bound of Eq. (22) speaks where it is below episodes times steps; the schedule where it has a second batch.
    """
    schedule = paper.SpeakingHorizon(
        name="printed schedule",
        speaks="it has two batches or more, so that something is learned",
        log10=paper.log10_horizon(lambda episodes: _batches(settings, int(episodes)) > 1, smallest=0.5),
        source="Theorem 8",
    )
    bound = () if settings.delta == 0 else (_bound_of(settings).horizon(),)
    return paper.PaperConstants(
        constants=(*_constants_of_the_run(settings), *_printed_constants(settings)), horizons=(schedule, *bound)
    )


def _constants_of_the_run(settings: LsviUcbSettings) -> tuple[paper.Constant, ...]:
    """Return how often this run releases and switches, and its shift and radius."""
    plan, batches = plan_of(settings), float(_batches(settings, settings.episodes))
    switches = (("switches by proof, at most", most_switches(settings), "the switching rule"),)
    return paper.constants(
        ("batches, printed", batches, "Theorem 8"),
        ("releases of this run", float(plan.releases), "its schedule"),
        *(switches if plan.switching else ()),
        ("shift of this run", plan.shift, "settings"),
        ("radius of this run", plan.radius, "settings"),
    )


def _printed_constants(settings: LsviUcbSettings) -> tuple[paper.Constant, ...]:
    """Return Upsilon, the radius and the bound on the regret as printed; nothing for a pure claim, which has none."""
    if settings.delta == 0:
        return ()
    scales = _scales(settings, settings.episodes)
    return paper.constants(
        ("printed Upsilon", scales.deviation, "Appendix E.1"),
        ("printed radius", scales.radius, "Appendix E.1"),
        ("printed bound on the regret", _bound(settings, settings.episodes), "Eq. (22)"),
    )


def upper_bound_of(settings: LsviUcbSettings, problem: LinearMdp) -> paper.RegretUpperBound | None:
    """Return Eq. (22), or the most that can be lost where that is less; None for a pure claim, which has no bound."""
    return None if settings.delta == 0 else _bound_of(settings).allowed(settings.episodes, problem)


def _bound_of(settings: LsviUcbSettings) -> PrintedBound:
    """Return Eq. (22) at any number of episodes."""
    return PrintedBound(source="Eq. (22)", steps=settings.steps, value=lambda episodes: _bound(settings, episodes))


def _batches(settings: LsviUcbSettings, episodes: int) -> int:
    """Return the printed number of batches."""
    return printed.batches(settings.epsilon, episodes=episodes, steps=settings.steps, d=settings.dimension)


def _scales(settings: LsviUcbSettings, episodes: int) -> printed.BatchScales:
    """Return the printed scales for printed noise, which a pure claim has not."""
    number = _batches(settings, episodes)
    matrix, vector = printed.noise_scales(settings.epsilon, settings.delta, B=number, steps=settings.steps)
    return printed.batch_scales(matrix, vector, B=number, **settings.sizes(episodes))


def _bound(settings: LsviUcbSettings, episodes: int) -> float:
    """Return Eq. (22) for a number of episodes of any size."""
    scales = _scales(settings, episodes)
    return printed.regret_bound(scales, B=_batches(settings, episodes), **settings.sizes(episodes))
