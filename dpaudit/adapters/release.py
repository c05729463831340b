"""The question to an adapter and its answer: claim, declaration, function and neighbours of one release."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, get_args

from dpaudit.checks import FieldError, one_of
from dpaudit.errors import UnsupportedError
from dpaudit.model.case import AuditCase, Run
from dpaudit.model.claim import NEIGHBOURS, Claim, Neighbours
from dpaudit.model.declaration import Declaration, Stated
from dpaudit.model.measures.claims import RhoClaim
from dpaudit.model.mechanism import is_mechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the user states beside the library's object.

    `pair` holds two neighbouring data sets in the library's own form; `distance` is how far apart they are in the
    metric of a library that maps distances to losses. `delta` is the delta at which an accountant is asked.
    `released` picks what is published from what a call returns. `parameters` are those of a class or function.
    `library` and `version` are those of the installed library; `adapt` finds them.
    """

    neighbours: Neighbours
    pair: tuple[Any, Any] | None = None
    distance: Any = None
    delta: float | None = None
    unit: str = "one record"
    released: Callable[[Any], Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    library: str = ""
    version: str = ""

    def __post_init__(self) -> None:
        one_of("neighbours", self.neighbours, NEIGHBOURS)

    def with_delta(self) -> dict[str, Any]:
        """Return the parameters of a class or function that takes `delta` itself."""
        return dict(self.parameters) | ({} if self.delta is None else {"delta": self.delta})

    def claim(self, epsilon: float, delta: float) -> Claim:
        """Return what the library claims, for the neighbours and the unit of this question."""
        if math.isinf(epsilon):
            raise UnsupportedError("The library itself claims no finite epsilon here; there is nothing to audit.")
        return Claim(epsilon=epsilon, delta=delta, neighbours=self.neighbours, unit=self.unit)

    def answer(
        self, claim: Claim, source: str, declared: Declaration | None, unless: str = "", **told: Any
    ) -> "LibraryRelease":
        """Return the release; where nothing is `declared` of its noise the claim is a stated part, and `unless` why.

        `told` are further fields of `LibraryRelease`; the neighbours are those of the question, if it names any.
        """
        return LibraryRelease(
            library=self.library,
            version=self.version,
            claim=claim,
            source=source,
            declaration=declared or stated(claim, self.library, self.version, source),
            stated_because=unless if declared is None or isinstance(declared, Stated) else "",
            **{"pair": self.pair} | told,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRelease:
    """One release of another library, ready for `certify` and `audits.audit`.

    `claim` is what the library says of itself, by the call that `source` names; dpaudit computes no part of it.
    `declaration` is a mechanism where the object tells its kind and scale, else the claim itself as a stated part, and
    `stated_because` says why. `function` is None where the object runs nothing. `reproducible` is false where the
    library draws from entropy of its own: an audit of it has no seed. `awkward` are further neighbours, each with what
    is awkward about it. `notes` say what the user should know.

    >>> from dpaudit.model.declaration import Stated
    >>> claim = Claim(epsilon=1.0, neighbours="replace_one")
    >>> release = LibraryRelease(
    ...     library="demo", version="1", text="a mean", claim=claim, source="mean.epsilon",
    ...     declaration=Stated(epsilon=1.0, source="demo"), reproducible=True,
    ... )
    >>> release.name
    'demo: a mean'
    """

    library: str
    version: str
    text: str
    claim: Claim
    source: str
    declaration: Declaration
    stated_because: str = ""
    function: Run | None = None
    pair: tuple[Any, Any] | None = None
    reproducible: bool = False
    awkward: tuple[tuple[str, Any, Any], ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a claim or a declaration of another type, as a function of the user's may pass anything."""
        if not isinstance(self.claim, Claim):
            raise FieldError("claim", f"Expected claim={self.claim!r:.40} to be a Claim.")
        if not isinstance(self.declaration, get_args(Declaration)) and not is_mechanism(self.declaration):
            raise FieldError(
                "declaration",
                f"Expected declaration={self.declaration!r:.40} to be a declaration, as Release(label='sum', "
                "mechanism=...) or Stated(epsilon=1.0, source='its manual').",
            )

    @property
    def name(self) -> str:
        """The library and what it releases, on one line."""
        return f"{self.library}: {' '.join(self.text.split())}"

    def case(self, pair: tuple[Any, Any] | None = None) -> AuditCase:
        """Return the experiment on `pair`, or on the release's own worst pair.

        Raises: UnsupportedError: the object runs nothing, or no pair is known.
        """
        chosen = self.pair if pair is None else pair
        if self.function is None:
            raise UnsupportedError(f"{self.name} runs nothing; audit the training or query that it accounts for.")
        if chosen is None:
            raise UnsupportedError(f"{self.name} names no neighbours; give pair=(data, neighbouring data).")
        return AuditCase(
            name=self.name,
            view="output",
            description=f"Claimed by {self.source}. {' '.join(self.notes)}".strip(),
            neighbours=chosen,
            relation=self.claim.neighbours,
            run=self.function,
            replayable=self.reproducible,
        )

    def cases(self) -> tuple[AuditCase, ...]:
        """Return the experiments on the release's own pair and on its awkward neighbours; none where it runs nothing.

        Audits of all of them are looks at one claim, and must share its significance.
        """
        if self.function is None or self.pair is None:
            return ()
        own = self.case()
        return (
            own,
            *(
                replace(
                    own,
                    name=f"{own.name}, {name}",
                    description=f"{own.description} Awkward neighbours: {name}.",
                    neighbours=(first, second),
                )
                for name, first, second in self.awkward
            ),
        )


class Adapter(Protocol):
    """One library. Plug-ins are entry points of the group `dpaudit.adapters`, named like the library's package."""

    def adapt(self, subject: Any, question: Question) -> LibraryRelease:
        """Return the release of one object of the library.

        Raises: UnsupportedError: an object that has no claim of its own.
        """
        ...


def stated(claim: Claim, library: str, version: str, source: str) -> Stated:
    """Return a library's claim as a stated part, which says whose word it is."""
    numbers = ("rho",) if isinstance(claim, RhoClaim) else ("epsilon", "delta")
    size: dict[str, Any] = {name: getattr(claim, name) for name in numbers}
    return Stated(**size, source=f"{library} {version}, {source}", neighbours=claim.neighbours)
