"""The certified epsilon of a contender: the axis of a study, from certificates and never typed in."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dpaudit.errors import ConfigError, DPAuditError, UnsupportedError
from dpaudit.model.certificate import CertificateRecord
from dpaudit.model.claim import Claim
from dpaudit.model.constants import RegretLowerBound, RegretUpperBound
from dpaudit.model.declaration import Group
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.study.cells import Cell
from dpaudit.study.making import make_algorithm, make_problem
from dpaudit.study.study import Study

Certify = Callable[..., CertificateRecord]
"""The certification of a declaration against a claim; it stands above this room and is handed in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certified:
    """What is certified of one contender at one claimed epsilon and horizon.

    `epsilon` is the upper end of the certificate's bracket at the study's delta, infinity without a certificate;
    `person` the same for the `units` units of one person (NaN where their number is unknown). `why` says what stands
    against a point on the axis; empty where there is one.
    """

    epsilon: float = math.inf
    person: float = math.nan
    units: int | None = None
    model: str = ""
    unit: str = ""
    verdict: str = ""
    digest: str = ""
    why: str = ""

    @property
    def has_point(self) -> bool:
        """Return whether the contender has a place on the axis."""
        return not self.why


def certified_at(study: Study, cell: Cell, folder: Path, certify: Certify) -> Certified:
    """Return what is certified of a cell's algorithm, at the study's delta.

    Guarantee: `epsilon` is a bound on the declared releases whatever the claim says; a refuted claim keeps the bound
    and loses its place on the axis. A claim in another measure is judged in its own, and the axis has its epsilon.
    Raises: ConfigError: neighbours other than the study's, which would share an axis with them.
    """
    algorithm = make_algorithm(study, cell, folder)
    if not hasattr(algorithm, "claim"):
        return Certified(why="no certificate: it makes no claim")
    own = algorithm.claim()
    claim = _at_delta(own, study.settings.delta)
    _require_neighbours(study, cell, claim)
    stated: dict[str, Any] = {name: getattr(algorithm, name, tuple)() for name in ("conditions", "findings")}
    try:
        certificate = certify(algorithm.declaration(), claim, **stated)
        judged = certify(algorithm.declaration(), own, **stated) if isinstance(own, MeasuredClaim) else certificate
    except DPAuditError as error:
        return Certified(model=claim.model, why=f"no certificate: {error.message}")
    epsilon = certificate.tight.epsilon.upper
    units = getattr(make_problem(study, cell.horizon, cell.problem, folder), "units_per_person", None)
    of_group = partial(certify, claim=claim, **stated)
    return Certified(
        epsilon=epsilon,
        person=_of_person(algorithm.declaration(), units, epsilon, of_group, claim.delta),
        units=units,
        model=claim.model,
        unit=claim.unit,
        verdict=judged.verdict,
        digest=str(judged.to_dict()["digest"]),
        why=_objection(certificate, judged, 0.0 if isinstance(own, MeasuredClaim) else own.delta),
    )


def _at_delta(own: Claim, delta: float) -> Claim:
    """Return a claim at the study's delta; of one in another measure a claim that promises nothing in epsilon."""
    if not isinstance(own, MeasuredClaim):
        return replace(own, delta=delta)
    return Claim(epsilon=math.inf, delta=delta, neighbours=own.neighbours, model=own.model, unit=own.unit)


def _require_neighbours(study: Study, cell: Cell, claim: Claim) -> None:
    """Refuse a claim about other neighbours than the study's; raises as `certified_at`."""
    if claim.neighbours != study.settings.neighbours:
        raise ConfigError(
            f"Expected neighbours={study.settings.neighbours!r} of every contender; {cell.label!r} has "
            f"{claim.neighbours!r}. Different relations never share an axis."
        )


def lower_bound_of(study: Study, cell: Cell, certified: Certified, folder: Path) -> RegretLowerBound | None:
    """Return the lower bound on regret at a certified epsilon: of several problems the smallest; None where unknown."""
    if not certified.has_point or not math.isfinite(certified.epsilon):
        return None
    where = {"horizon": cell.horizon, "epsilon": certified.epsilon, "delta": study.settings.delta}
    bounds = _of_problems(
        study,
        cell,
        folder,
        lambda problem: getattr(problem, "regret_lower_bound", _unknown)(**where, model=certified.model),
    )
    return min(bounds, key=lambda bound: bound.value, default=None)


def upper_bound_of(study: Study, cell: Cell, folder: Path) -> RegretUpperBound | None:
    """Return what is proved of a contender's regret, of several problems the largest; None where nothing is stated."""
    stated = getattr(make_algorithm(study, cell, folder), "regret_upper_bound", _unknown)
    bounds = _of_problems(
        study, cell, folder, lambda problem: stated(problem) if hasattr(problem, "largest_regret") else None
    )
    return max(bounds, key=lambda bound: bound.value, default=None)


def _of_problems(study: Study, cell: Cell, folder: Path, stated: Callable[[Any], Any]) -> list[Any]:
    """Return what is stated of each problem of a study; nothing where it is unknown of one of them."""
    bounds: list[Any] = []
    for seed in study.settings.problems:
        bound = stated(make_problem(study, cell.horizon, seed, folder))
        if bound is None:
            return []
        bounds.append(bound)
    return bounds


def _unknown(*_: Any, **__: Any) -> None:
    """Return None: nothing is stated."""


def _of_person(
    declaration: Any, units: int | None, epsilon: float, certify: Callable[..., CertificateRecord], delta: float
) -> float:
    """Return a bound on the epsilon of all units of one person, `epsilon` being that of one; NaN where none is proved.

    Where no engine covers the group, a pure guarantee still adds up: `units` neighbours in a row cost epsilon each.
    """
    if not isinstance(units, int):
        return math.nan
    if units <= 1:
        return epsilon
    try:
        return certify(Group(part=declaration, size=units)).tight.epsilon.upper
    except UnsupportedError:
        return math.nextafter(units * epsilon, math.inf) if delta == 0 else math.nan


def _objection(certificate: CertificateRecord, judged: CertificateRecord, own: float) -> str:
    """Return why a certificate gives no point; empty if it gives one. `own` is the delta that the contender claims.

    `judged` is the certificate of the contender's own claim.
    """
    stated = certificate.claim.delta
    below = f"; [study] delta={stated:g} is below the contender's own, write delta = {own:g}" if stated < own else ""
    if not math.isfinite(certificate.tight.epsilon.upper):
        return f"no certificate: no epsilon is finite{below}"
    if judged.verdict == "refuted":
        return f"no certificate: the claim is refuted{below}"
    if any(line.status == "violated" for line in certificate.conditions) or certificate.findings:
        return "no certificate: a condition is violated"
    return ""
