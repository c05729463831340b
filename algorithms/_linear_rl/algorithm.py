"""The methods that UCRL-VTR and LSVI-UCB share: a run is the transcript of a calibrated plan on a problem."""

from collections.abc import Callable
from typing import Any, ClassVar

from dpaudit import Streams, Transcript

PlanOf = Callable[[Any], Any]
"""plan(settings) -> the calibrated algorithm, which depends on nothing but the settings."""


class LinearRlAlgorithm:
    """An algorithm that runs with its noise, and for comparison without noise, or without what users contribute."""

    __slots__ = ()
    plan: ClassVar[PlanOf]
    plan_without_noise: ClassVar[PlanOf]
    plan_blind: ClassVar[PlanOf]
    transcript: ClassVar[Callable[..., Transcript]]
    """transcript(settings, plan, problem, streams, n_runs) -> so many independent runs of `plan`."""

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` independent runs; `run.transcript_of` of the algorithm's package names the arrays.

        Raises: ValueError: a problem of another kind, or of other steps or dimension than the settings'.
        """
        return self.transcript(self.plan(), problem, streams, n_runs)

    def run_without_noise(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs of the algorithm without privacy, for comparison.

        Raises: ValueError: as for `run`.
        """
        return self.transcript(self.plan_without_noise(), problem, streams, n_runs)

    def run_blind(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs whose releases hold noise alone, for comparison: nothing is learned.

        Raises: ValueError: as for `run`.
        """
        return self.transcript(self.plan_blind(), problem, streams, n_runs)
