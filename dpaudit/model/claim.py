"""The claim: (epsilon, delta), between which neighbours, to whom, about which unit."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal, Required, Self, TypeAlias, TypedDict, Unpack, get_args, overload

from dpaudit.arguments import settled
from dpaudit.checks import FieldError, NonNegativeOrInfinite, ProbabilityBelowOne, settle
from dpaudit.errors import UnsupportedError

Neighbours = Literal["replace_one", "add_remove", "zero_out"]
"""Which data sets count as neighbours: one record's value replaced, one record added or removed, or one record's
contributions set to zero while its place stays."""

Model = Literal["central", "joint", "local"]
"""Whose view is protected: every output; all that the *other* users see; each user's own message."""

NEIGHBOURS: tuple[Neighbours, ...] = get_args(Neighbours)
MODELS: tuple[Model, ...] = get_args(Model)


Points: TypeAlias = Iterable[tuple[float, float]] | Mapping[str, float] | Iterable[Mapping[str, float]]
"""Pairs of numbers, or tables of them: order and epsilon, or epsilon and delta."""

MeasureKind = Literal["rho", "mu", "renyi", "profile"]
MEASURES: tuple[MeasureKind, ...] = get_args(MeasureKind)
"""The measures in which a claim may be made beside epsilon and delta."""


def measure_of(given: Any) -> str:
    """Return the measure that the names of a claim's numbers say; an empty text for epsilon and delta.

    Raises: ValueError: two measures.

    >>> measure_of(("rho", "neighbours")), measure_of(("epsilon", "delta"))
    ('rho', '')
    """
    named = [name for name in ("epsilon", "delta", *MEASURES) if name in given]
    measures = [name for name in named if name in MEASURES]
    if measures and len(named) > 1:
        raise ValueError(
            f"Expected a claim in one measure, got {' and '.join(named)}; write one claim for each of them."
        )
    return measures[0] if measures else ""


class Whose(TypedDict, total=False):
    """Whose data a claim of any measure protects, and against whom."""

    neighbours: Required[Neighbours]
    model: Model
    unit: str


@settled
class Claim:
    """A promise of (epsilon, delta)-differential privacy that can be checked.

    Unit: `epsilon` in nats; `delta` is a probability; `neighbours`, the data sets that are compared: one record's value
    replaced, or one record added or removed; `model`, whose view is protected: every output (central), what the other
    users see (joint), each user's own message (local); `unit`, what one record is, in plain language.
    Other measures: `rho` (with `xi`), `mu`, `renyi` or `profile` stand in place of the first two, as in
    `Claim(rho=0.5, neighbours="add_remove")`; the claim is then proved, audited and booked in that measure.
    Edge cases: delta = 0 is a pure claim; epsilon = 0 promises that total variation is at most delta; an
    infinite epsilon promises nothing, so that every release keeps it, at any delta.
    Raises: ValueError: epsilon negative or NaN; delta outside [0, 1); unknown neighbours or
        model; a joint claim for other neighbours than `replace_one`, which it is defined for; an empty unit.

    >>> Claim(epsilon=1, delta=1e-5, neighbours="replace_one").epsilon
    1.0
    """

    epsilon: NonNegativeOrInfinite
    delta: ProbabilityBelowOne = 0.0
    neighbours: Neighbours
    model: Model = "central"
    unit: str = "one record"

    if TYPE_CHECKING:  # the generated one knows epsilon alone; `__new__` takes the numbers of any measure

        @overload
        def __init__(self, *, epsilon: float, delta: float = 0.0, **who: Unpack[Whose]) -> None: ...

        @overload
        def __init__(self, *, rho: float, xi: float = 0.0, **who: Unpack[Whose]) -> None: ...

        @overload
        def __init__(self, *, mu: float, **who: Unpack[Whose]) -> None: ...

        @overload
        def __init__(self, *, renyi: Points, **who: Unpack[Whose]) -> None: ...

        @overload
        def __init__(self, *, profile: Points, **who: Unpack[Whose]) -> None: ...

        def __init__(self, **numbers: Any) -> None: ...

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Return a claim in the measure whose name is given: `rho`, `mu`, `renyi` or `profile`."""
        measure = measure_of(given) if cls.__name__ == "Claim" else ""
        if not measure:
            return object.__new__(cls)
        return object.__new__(import_module("dpaudit.model.measures.claims").KINDS[measure])

    def __post_init__(self) -> None:
        if str(self.neighbours) in ("add", "remove"):
            raise FieldError(
                "neighbours",
                f"Expected neighbours={self.neighbours!r} to be 'add_remove': a claim holds for both orders of two "
                "neighbours. Each order alone has no certificate.",
            )
        settle(self)
        if self.model == "joint" and self.neighbours != "replace_one":
            raise ValueError(
                f"Expected neighbours={self.neighbours!r} to be 'replace_one' for model='joint': joint privacy is "
                "about a user whose data changes, since a user who is absent has no output."
            )
        unit: object = self.unit
        if not isinstance(unit, str) or not unit.strip():
            given = "it is empty" if isinstance(unit, str) else f"got {unit!r:.40}"
            raise FieldError("unit", f"Expected unit to say in plain language what one record is; {given}.")

    @property
    def whose(self) -> Whose:
        """Whose data the claim protects, and against whom, as arguments of another claim."""
        return {"neighbours": self.neighbours, "model": self.model, "unit": self.unit}

    @property
    def words(self) -> str:
        """The claim's numbers in a message."""
        return f"epsilon={self.epsilon:g}, delta={self.delta:g}"

    def implied_by(self, model: Model) -> bool:
        """Return whether a proof for `model` carries over to the model of this claim.

        A local randomiser's guarantee is a central one, and what protects every output protects the
        part that other users see: local, central, joint, from strong to weak. The step from local to
        central needs `replace_one`, under which a user's presence is public.
        Source: Kearns, Pai, Roth and Ullman (2014) for the joint model.
        """
        order: tuple[Model, ...] = ("local", "central", "joint")
        if model == "local" and self.model != "local" and self.neighbours != "replace_one":
            return False
        return order.index(model) <= order.index(self.model)


type.__setattr__(
    Claim,
    "__signature__",
    signature(Claim.__init__).replace(parameters=(*list(signature(Claim.__init__).parameters.values())[1:],)),
)  # `__new__` takes the keys of any measure


def require_finite(claim: Claim, what: str) -> None:
    """Refuse a claim of an infinite epsilon, which `what` cannot use: no noise and no attack is too little for it.

    Raises: UnsupportedError: an infinite epsilon.

    >>> require_finite(Claim(epsilon=1.0, neighbours="add_remove"), "An audit")
    """
    if claim.epsilon == float("inf"):
        raise UnsupportedError(
            f"Expected epsilon=inf to be finite: {what} needs a claim that promises something, and every release keeps "
            "an infinite epsilon. Certify it, or claim a finite epsilon.",
        )
