"""How precisely a bracket is asked for: what it may differ by, and what that may take."""

from dataclasses import dataclass, replace

from dpaudit.model.bracket import Effort


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """How narrow a bracket is wanted and what it may take; every one of them gives proved bounds.

    Parameters: `epsilon` and `delta`, what the transform's bracket may differ by, relatively; `least` and `most`, the
    knots of all its parts; `joined`, their number where so many kinds of losses occur that classes stand for them;
    `widest`, that where the bracket would be far wider than wanted; `cells` over the
    span of secret steps that are met once; `entries` that a recursion over choices of a bounded range fills;
    `above_alone`, whether lower ends may be 0 where they are dear; `soon`, whether asking again and again is quicker
    than to find out what need not be asked; `engines`, the names of those that are asked, all of them where it is
    empty.
    """

    epsilon: float
    delta: float
    least: int
    most: int
    joined: int
    widest: int = 0
    cells: int
    entries: float
    above_alone: bool = False
    soon: bool = False
    engines: tuple[str, ...] = ()

    def by(self, *engines: str) -> "Precision":
        """Return the same precision by the engines of some names alone."""
        return replace(self, engines=engines)


DEFAULT = Precision(
    epsilon=2e-5,
    delta=1e-4,
    least=1 << 15,
    most=1 << 19,
    joined=1 << 24,
    widest=1 << 21,
    cells=1 << 14,
    entries=2e8,
)
"""What is asked for by default."""

SHARP = replace(DEFAULT, epsilon=1e-6, delta=2e-5, least=1 << 16, most=1 << 21, joined=1 << 25, widest=0)
"""The narrowest brackets, several times slower."""

PROVED_UPPERS = replace(DEFAULT, epsilon=8e-5, delta=2e-3, least=1 << 14, widest=0, above_alone=True)
"""For one last proof that a claim is met: as narrow as by default from above, the lower side left out."""

QUICK = Precision(
    epsilon=1e-3,
    delta=5e-3,
    least=1 << 10,
    most=1 << 15,
    joined=1 << 19,
    cells=1 << 9,
    entries=4e6,
    soon=True,
)
"""For searches that ask many times: wider where no closed form exists."""

UPPERS = replace(QUICK, cells=DEFAULT.cells, above_alone=True)
"""Quick, without the lower side where it is dear: the upper bounds are the same, the lower may be 0."""

ROUGH = replace(QUICK, epsilon=1e-2, delta=5e-2, most=1 << 13, joined=1 << 17)
"""To tell which of several compositions may cost most."""

BY_EFFORT: dict[Effort, Precision] = {"quick": QUICK, "default": DEFAULT, "sharp": SHARP}
"""The precision of each effort."""
