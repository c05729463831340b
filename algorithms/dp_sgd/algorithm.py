"""DP-SGD as one algorithm: its settings, declaration, run, audits and notes."""

from typing import ClassVar

from algorithms.dp_sgd.beside import poisson_beside
from algorithms.dp_sgd.cases import cases_of
from algorithms.dp_sgd.checks import assumed_conditions, breaking_findings
from algorithms.dp_sgd.declaration import declaration_of
from algorithms.dp_sgd.notes import notes_of
from algorithms.dp_sgd.plan import plan_of, record_of
from algorithms.dp_sgd.replays import replays_of
from algorithms.dp_sgd.run import run
from algorithms.dp_sgd.samplings import samplings_of
from algorithms.dp_sgd.settings import DpSgdSettings
from dpaudit.arguments import settled


@settled
class DpSgd(DpSgdSettings):
    """Training with noisy sums of clipped gradients, as Opacus runs it, for a claim.

    Parameters and errors: see `settings.DpSgdSettings`.
    Source: Abadi et al. (2016), Algorithm 1.

    >>> config = DpSgd(epsilon=8, delta=1e-5, noise_multiplier=1.1, sample_rate=1 / 12, steps=240)
    >>> config.declaration().parts[0].times
    240
    """

    name: ClassVar[str] = "dp_sgd"

    plan = plan_of
    record = record_of
    declaration = declaration_of
    run = run
    cases = cases_of
    notes = notes_of
    findings = breaking_findings
    conditions = assumed_conditions
    comparisons = poisson_beside
    replays = replays_of
    samplings = samplings_of
