"""The declaration of the G-optimal dueling bandit: one vector of noisy sums a phase, in parallel."""

from algorithms._dueling.claim import printed_step
from algorithms.g_optimal_dueling.plan import lengths_of, mechanism_of, phase_label
from algorithms.g_optimal_dueling.settings import GOptimalDuelingSettings
from dpaudit import Declaration, Parallel, PostProcess, Printed, Release

KEY = "when a person comes and which comparison they are asked for"
"""What decides the sum that an answer enters."""


def declaration_of(settings: GOptimalDuelingSettings) -> Declaration:
    """Return what a run releases: one vector of sums a phase, in parallel; a person is in one sum of one phase.

    Source: Saha and Asi (2024), Theorem 3.
    """
    mechanism = mechanism_of(settings)
    parts = tuple(
        Release(label=phase_label(phase), mechanism=mechanism, printed=_printed(settings, "laplace"))
        for phase in range(1, lengths_of(settings).phases() + 1)
    )
    parallel = Parallel(parts=parts, key=KEY, printed=_printed(settings, "parallel"))
    steps = ("designs", "estimates", "which options stay", "the final choice")
    return PostProcess(part=parallel, steps=steps, printed=_printed(settings, "post_processing"))


def _printed(settings: GOptimalDuelingSettings, rule: str) -> Printed | None:
    """Return the paper's own step, where the paper's noise is what runs."""
    return printed_step(settings.calibration, rule, settings.epsilon)
