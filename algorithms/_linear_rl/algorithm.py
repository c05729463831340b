"""The methods that UCRL-VTR and LSVI-UCB share: a run is the transcript of a calibrated plan on a problem."""

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from dpaudit import Streams, Transcript

PlanT = TypeVar("PlanT")
ProblemT = TypeVar("ProblemT")


class LinearRlAlgorithm(ABC, Generic[PlanT, ProblemT]):
    """An algorithm that runs with its noise, and without noise for comparison."""

    __slots__ = ()

    @abstractmethod
    def plan(self) -> PlanT:
        """Return the calibrated algorithm; it depends on nothing but the settings."""

    @abstractmethod
    def plan_without_noise(self) -> PlanT:
        """Return the same algorithm without noise, and so without privacy."""

    @abstractmethod
    def plan_blind(self) -> PlanT:
        """Return the same algorithm with its noise, where what users contribute counts 0."""

    @abstractmethod
    def transcript(self, plan: PlanT, problem: ProblemT, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` independent runs of `plan` on `problem`."""

    def run(self, problem: ProblemT, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` independent runs; `run.transcript_of` of the algorithm's package names the arrays.

        Raises: ValueError: a problem of another kind, or of other steps or dimension than the settings'.
        """
        return self.transcript(self.plan(), problem, streams, n_runs)

    def run_without_noise(self, problem: ProblemT, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs of the algorithm without privacy, for comparison.

        Raises: ValueError: as for `run`.
        """
        return self.transcript(self.plan_without_noise(), problem, streams, n_runs)

    def run_blind(self, problem: ProblemT, streams: Streams, n_runs: int) -> Transcript:
        """Return `n_runs` runs whose releases hold noise alone, for comparison: nothing is learned.

        Raises: ValueError: as for `run`.
        """
        return self.transcript(self.plan_blind(), problem, streams, n_runs)
