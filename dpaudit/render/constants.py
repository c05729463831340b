"""A paper's constants for a configuration, and from which horizon each width or bound speaks."""

import math
from dataclasses import asdict
from typing import Any

from dpaudit.documents.document import Document, Table, document, under
from dpaudit.model.codec import encode
from dpaudit.model.constants import PaperConstants, RegretLowerBound
from dpaudit.wording.numerals import at_least, at_most, nearest, whole

Bound = tuple[float, int, RegretLowerBound] | None
"""The certified epsilon, the horizon and the lower bound on regret there; None where it is not known."""


def constants_document(name: str, paper: PaperConstants, bound: Bound) -> Document:
    """Return the tables of constants, of horizons, and of the lower bound on regret."""
    constants = ((c.name, "none" if math.isnan(c.value) else nearest(c.value, 6), c.source) for c in paper.constants)
    horizons = ((line.name, line.speaks, _power(line.log10), line.source) for line in paper.horizons)
    lower_head = ("Lower bound on regret", "At certified epsilon", "On the worst instance of", "Source")
    return document(
        under("Constants", Table(tuple(constants), head=("Constant", "Value", "Source"), wrapped=True)),
        under(
            "Horizons",
            Table(tuple(horizons), head=("Width or bound", "It speaks where", "From", "Source"), wrapped=True),
        ),
        under("Lower bound", Table((_lower(bound),), head=lower_head, wrapped=True)),
        title=f"Constants of {name}",
    )


def _power(log10: float) -> str:
    """Return a horizon as a power of ten."""
    return f"10^{log10:.3f}" if math.isfinite(log10) else "nowhere up to 10^80"


def _lower(bound: Bound) -> tuple[str, ...]:
    """Return the row of the lower bound; unknown where there is none."""
    if bound is None:
        return ("unknown", "", "", "")
    epsilon, horizon, regret = bound
    return (at_least(regret.value), at_most(epsilon), f"{regret.family}; T = {whole(horizon)}", regret.source)


def constants_data(paper: PaperConstants, bound: Bound) -> Any:
    """Return everything as plain data; infinity is "inf", and what is not defined is null."""
    lower = None if bound is None else asdict(bound[2]) | {"epsilon": bound[0], "horizon": bound[1]}
    constants = [
        constant | {"value": None if math.isnan(constant["value"]) else constant["value"]}
        for constant in asdict(paper)["constants"]
    ]
    return encode(asdict(paper) | {"constants": constants, "lower_bound": lower})
