"""The interface of an algorithm: one config that is claimed, declared, run and audited."""

from typing import Any, Protocol, runtime_checkable

from dpaudit.model.case import AuditCase
from dpaudit.model.claim import Claim
from dpaudit.model.declaration import Declaration
from dpaudit.model.streams import Streams
from dpaudit.model.transcript import Transcript


@runtime_checkable
class Algorithm(Protocol):
    """A frozen dataclass of public settings; data and randomness are arguments."""

    def claim(self) -> Claim:
        """Return what the algorithm promises."""
        ...

    def declaration(self) -> Declaration:
        """Return which mechanisms it runs and how they compose."""
        ...

    def run(self, problem: Any, streams: Streams, n_runs: int) -> Transcript:
        """Return what `n_runs` runs on `problem` in lock-step produced."""
        ...

    def cases(self, problem: Any) -> tuple[AuditCase, ...]:
        """Return the experiments by which an audit attacks it on `problem`."""
        ...

    def notes(self, problem: Any) -> tuple[str, ...]:
        """Return sentences for the reader that are neither proof nor attack, such as a vacuous constant."""
        ...
