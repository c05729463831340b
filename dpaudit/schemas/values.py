"""Values that several documents hold, and what every document says of a claim and of the ends that are proved."""

from typing import Annotated, Literal, NotRequired, TypedDict

from dpaudit.checks import NonNegative, NonNegativeOrInfinite, ProbabilityBelowOne, Within
from dpaudit.json_schema import Keywords, Text
from dpaudit.model import bracket, claim
from dpaudit.model.claim import Model, Neighbours
from dpaudit.model.measures import ends
from dpaudit.schemas.tables import Tables

Extended = float | Literal["inf"]


class Bracket(TypedDict):
    """A lower and an upper end; infinity is the text inf."""

    lower: NonNegativeOrInfinite
    upper: NonNegativeOrInfinite


class Whose(TypedDict):
    """Whose data a claim protects, against whom."""

    neighbours: Neighbours
    model: Model
    unit: Text


class FiniteClaim(Whose):
    """A claim whose epsilon is finite."""

    epsilon: NonNegative
    delta: ProbabilityBelowOne


class Claim(Whose):
    """A claim; an infinite epsilon is the text inf."""

    epsilon: NonNegativeOrInfinite
    delta: ProbabilityBelowOne


class RhoClaim(Whose):
    """A claim of zero-concentrated differential privacy."""

    measure: Literal["rho"]
    rho: NonNegative
    xi: NotRequired[NonNegative]


class MuClaim(Whose):
    """A claim of Gaussian differential privacy."""

    measure: Literal["mu"]
    mu: NonNegative


class RenyiPoint(TypedDict):
    """One order of a Renyi claim."""

    order: Annotated[float, Within(above=1)]
    epsilon: NonNegative


class RenyiClaim(Whose):
    """A claim of Renyi differential privacy."""

    measure: Literal["renyi"]
    renyi: Annotated[list[RenyiPoint], Keywords({"minItems": 1})]


class ProfilePoint(TypedDict):
    """One point of a privacy profile."""

    epsilon: NonNegative
    delta: ProbabilityBelowOne


class ProfileClaim(Whose):
    """A claim of a privacy profile."""

    measure: Literal["profile"]
    profile: Annotated[list[ProfilePoint], Keywords({"minItems": 1})]


MeasuredClaim = RhoClaim | MuClaim | RenyiClaim | ProfileClaim
AnyClaim = Claim | MeasuredClaim


class RhoEnds(TypedDict):
    """Bounds on rho."""

    rho: Bracket


class MuEnds(TypedDict):
    """Bounds on mu."""

    mu: Bracket


class RenyiEnd(Bracket):
    """Bounds on the divergence of one order."""

    order: NonNegative


class RenyiEnds(TypedDict):
    """Bounds at each order of the claim."""

    renyi: Annotated[list[RenyiEnd], Keywords({"minItems": 1})]


class ProfileEnd(Bracket):
    """Bounds on delta at one epsilon."""

    epsilon: NonNegative


class ProfileEnds(TypedDict):
    """Bounds at each epsilon of the claim."""

    profile: Annotated[list[ProfileEnd], Keywords({"minItems": 1})]


MeasuredEnds = RhoEnds | MuEnds | RenyiEnds | ProfileEnds
"""Bounds in the measure of the claim."""
TABLES = Tables(written_as={bracket.Bracket: Bracket, claim.Claim: AnyClaim, ends.Ends: MeasuredEnds})
