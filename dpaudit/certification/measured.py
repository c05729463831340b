"""From a declaration and a claim in another measure than epsilon and delta to a certificate in that measure."""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from dpaudit.accounting.accountant import largest_delta_of
from dpaudit.accounting.curves.measures import Number, bounds_of, one_sided_mass
from dpaudit.accounting.derivation.judgement import Judgement
from dpaudit.accounting.derivation.walker import derived
from dpaudit.accounting.fold import Attained, attained_by_one_pair, folded
from dpaudit.accounting.normal_form import Alternatives, NormalForm
from dpaudit.accounting.views import delivered_model
from dpaudit.certification.certificate import Certificate, verdict_of
from dpaudit.certification.derivation import derivation_of
from dpaudit.certification.digits import least, most, stated
from dpaudit.certification.evidence import evidence_on, is_void
from dpaudit.certification.on_trust import sentences_on, sources_of, trust_in
from dpaudit.checks import meant, one_of
from dpaudit.engines.closed import is_closed
from dpaudit.engines.limits import is_derived
from dpaudit.model.bracket import Effort
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition, conditions_of, merge
from dpaudit.model.declaration import Declaration
from dpaudit.model.measures.claims import MeasuredClaim, ProfileClaim, RhoClaim
from dpaudit.model.measures.ends import End, Ends
from dpaudit.model.readings import Trust
from dpaudit.model.trace import Finding
from dpaudit.model.witness import Witness
from dpaudit.runtime.provenance import source_digest, versions

# Relative, by which points of a profile are moved, so that others confirm them: of closed forms, of sums on
# lattices, and of losses made of others, of which lattices know less.
_OUTWARDS, _SUMMED, _DERIVED = 1e-6, 5e-5, 2e-4
_ENGINES = {"rho": ("renyi",), "renyi": ("renyi",), "mu": ("closed",), "profile": ("closed", "tilted")}


class _Row:
    """One number of a claim beside its bounds, as ratios where they are known so."""

    def __init__(self, at: float | None, claimed: float, low: Number, high: Number, *, square: bool = False) -> None:
        self.at, self.claimed, power = at, claimed, 2 if square else 1
        self.low = _rounded(low, power, -math.inf)
        self.high = _rounded(high, power, math.inf)
        self.refuted = self.low > claimed  # as it is written, and so as others read it
        self.met = high <= meant(claimed) ** power
        if self.met:
            self.high = min(self.high, claimed)


def _rounded(value: Number, power: int, towards: float) -> float:
    """Return a float whose decimal is at or beyond the root of a bound."""
    if value > sys.float_info.max:
        return math.inf if towards > 0 or value == math.inf else sys.float_info.max ** (1 / power)
    root = float(value) if power == 1 else math.sqrt(value)
    sign, bound = (1 if towards > 0 else -1), Fraction(value)
    while sign * (meant(root) ** power - bound) < 0:
        root = math.nextafter(root, towards)
    return root


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What is proved of a declaration in a claim's measure, `rows`, and what single pairs attain of it.

    `void` says that a condition of the proof is violated, so that nothing bounds the numbers from above.
    """

    judgement: Judgement
    attained: tuple[Attained, ...]
    form: NormalForm
    rows: list[_Row]
    void: bool

    @classmethod
    def of(
        cls, declaration: Declaration, claim: MeasuredClaim, conditions: tuple[Condition, ...], effort: Effort
    ) -> Self:
        """Return the reading under conditions; raises as `ends_of`, and ValueError for an unknown effort."""
        one_of("effort", effort, ("quick", "default", "sharp"))
        judgement = derived(declaration, claim.neighbours)
        attained = attained_by_one_pair(judgement, conditions)
        form = folded(judgement.above, attained)
        rows = _rows(declaration, claim, conditions, form, effort)
        return cls(judgement=judgement, attained=attained, form=form, rows=rows, void=is_void(conditions))


def measured(
    declaration: Declaration,
    claim: MeasuredClaim,
    conditions: tuple[Condition, ...],
    findings: tuple[Finding, ...],
    effort: Effort,
) -> Certificate:
    """Return the certificate of a claim in its own measure; `certify` calls it.

    Certified: the proved upper end in that measure is within the claim; refuted: the lower end of one pair exceeds it.
    Raises: as `certify`.
    """
    merged = merge(conditions_of(declaration, claim.neighbours), conditions)
    read = _Reading.of(declaration, claim, merged, effort)
    witnesses = _attaining(read.attained, claim, read.form.upper)
    against = (*_against(claim, read, witnesses), *beside_brackets(declaration, claim, merged, findings))
    trust = None if against else _trust(declaration, claim, merged, effort, read.rows)
    return Certificate(
        verdict=verdict_of(against, trust, refuted=any(row.refuted for row in read.rows)),
        reasons=against or _reasons(claim, read.rows, trust),
        claim=claim,
        tight=_ends(claim, read),
        printed=None,
        slack=None,
        witnesses=witnesses,
        conditions=merged,
        findings=findings,
        declaration=declaration,
        engines=_ENGINES[claim.measure],
        effort=effort,
        versions=versions(),
        source_digest=source_digest(),
        trust=trust,
        derivation=derivation_of(read.judgement),
    )


def _reasons(claim: MeasuredClaim, rows: list[_Row], trust: Trust | None) -> tuple[str, ...]:
    """Return what is taken on trust, or why each number is certified."""
    if trust is not None:
        return sentences_on(trust, _named(claim, rows[0]), rows[0].claimed, rows[0].high)
    return tuple(_within(claim, row) for row in rows)


def _rows(
    declaration: Declaration, claim: MeasuredClaim, conditions: tuple[Condition, ...], form: NormalForm, effort: Effort
) -> list[_Row]:
    """Return each number of the claim with its bounds."""
    if isinstance(claim, ProfileClaim):
        blurred = any(is_derived(loss) for alternative in form.upper for loss, _ in alternative.parts)
        off = _DERIVED if blurred else _OUTWARDS if all(map(is_closed, (*form.upper, *form.lower))) else _SUMMED
        return [_point(declaration, claim, conditions, point, effort, off=off) for point in claim.profile]
    square = claim.measure == "mu"
    pairs = zip(claim.rows, bounds_of(form, claim), strict=True)
    return [_Row(at, claimed, low, high, square=square) for (at, claimed), (low, high) in pairs]


def _attaining(attained_pairs: tuple[Attained, ...], claim: MeasuredClaim, upper: Alternatives) -> tuple[Witness, ...]:
    """Return the witness of each lower end, once: one pair attains rho, another one a divergence of a large order.

    Each pair is read below what bounds all of them: as a bound of its own it may show less than it attains, where each
    query may choose among several losses.
    """
    alternatives = tuple(attained.composition for attained in attained_pairs)
    if len(attained_pairs) < 2:
        ends = alternatives
    elif isinstance(claim, ProfileClaim):
        ends = tuple(largest_delta_of(alternatives, epsilon) for epsilon, _ in claim.profile)
    else:
        forms = [NormalForm(upper=upper, lower=(composition,)) for composition in alternatives]
        lows = [[(low, one_sided_mass(form.lower)) for low, _ in bounds_of(form, claim)] for form in forms]
        ends = tuple(alternatives[column.index(max(column))] for column in zip(*lows, strict=True))
    return tuple(dict.fromkeys(attained_pairs[alternatives.index(end)].witness for end in ends))


def ends_of(declaration: Declaration, claim: MeasuredClaim) -> Ends:
    """Return the proved ends of a declaration in the measure of a claim, whatever the claim says.

    Raises: UnsupportedError, DeclarationError: a node that no rule covers.
    """
    return _ends(claim, _Reading.of(declaration, claim, (), "quick"))


def _ends(claim: MeasuredClaim, read: _Reading) -> Ends:
    """Return the bounds of a claim's numbers; none from above where a condition of the proof is violated."""
    ends = (End(at=row.at, lower=row.low, upper=math.inf if read.void else row.high) for row in read.rows)
    xi = claim.xi if isinstance(claim, RhoClaim) else 0.0
    return Ends(measure=claim.measure, rows=tuple(ends), xi=xi)


def _point(
    declaration: Declaration,
    claim: MeasuredClaim,
    conditions: tuple[Condition, ...],
    point: tuple[float, float],
    effort: Effort,
    *,
    off: float,
) -> _Row:
    """Return one point of a profile with the bounds on delta there, moved outwards by a share `off`."""
    at = Claim(epsilon=point[0], delta=point[1], neighbours=claim.neighbours, model=claim.model, unit=claim.unit)
    evidence = evidence_on(declaration, at, conditions, effort)
    delta = evidence.tight.delta
    row = _Row(point[0], point[1], delta.lower * (1 - off), min(1.0, delta.upper * (1 + off)))
    if evidence.meets(at):
        row.met, row.high = True, min(row.high, point[1])
    row.refuted = evidence.refutes(at) and row.low > point[1]
    return row


def _named(claim: MeasuredClaim, row: _Row) -> str:
    """Return the name of a number of the claim."""
    if claim.measure == "renyi":
        return f"the Renyi divergence of order {stated(row.at or 0.0)}"
    if isinstance(claim, RhoClaim) and claim.xi:
        return f"rho beside xi = {stated(claim.xi)}"
    return f"delta at epsilon {stated(row.at or 0.0)}" if claim.measure == "profile" else claim.measure


def _against(claim: MeasuredClaim, read: _Reading, witnesses: tuple[Witness, ...]) -> Iterator[str]:
    """Yield what the bounds say against the claim: what refutes it, or else what is not proved."""
    refuted = [row for row in read.rows if row.refuted]
    for row in refuted or [row for row in read.rows if read.void or not row.met]:
        name, claimed = _named(claim, row), stated(row.claimed)
        if refuted:
            pairs = " ".join(map(pair_of, witnesses))
            beyond = f"{least(row.low)} or more"
            if row.low == math.inf:
                mass = least(one_sided_mass(read.form.lower))
                beyond = f"infinite, as an event of probability {mass} or more happens on one side only"
            yield f"Of the declared releases {name} is {beyond}; the claim is {claimed}: it is false. {pairs}"
        elif row.high == math.inf:
            yield f"No finite bound on {name} is proved; the claim is {claimed}."
        else:
            yield f"It is proved that {name} is at most {most(row.high, math.inf)} only; the claim is {claimed}."


def _within(claim: MeasuredClaim, row: _Row) -> str:
    """Return why one number of the claim is certified."""
    return (
        f"Of the declared releases {_named(claim, row)} is proved to be at most {most(row.high, row.claimed)}, within "
        f"the claimed {stated(row.claimed)}."
    )


def _trust(
    declaration: Declaration, claim: MeasuredClaim, conditions: tuple[Condition, ...], effort: Effort, rows: list[_Row]
) -> Trust | None:
    """Return what the claim takes on trust; with a part at infinity no measure here is finite."""
    sources = sources_of(declaration, conditions)
    if not sources:
        return None

    def upper(alone: Declaration) -> float:
        """Return the first number that is proved of a declaration."""
        return _Reading.of(alone, claim, (), effort).rows[0].high

    return trust_in(sources, declaration, rows[0].high, upper, power=2 if claim.measure == "mu" else 1)


def beside_brackets(
    declaration: Declaration, claim: Claim, conditions: tuple[Condition, ...], findings: tuple[Finding, ...]
) -> Iterator[str]:
    """Yield what stands against a claim in any measure: its view, violated conditions and findings."""
    model = delivered_model(declaration)
    if not claim.implied_by(model):
        yield f"The declaration protects the {model} view; the claim is about the {claim.model} one."
    for condition in conditions:
        if condition.status == "violated" and condition.kind != "attained":
            yield f"A condition of the proof is violated: {condition.text}"
    for finding in findings:
        yield f"The run and its declaration disagree ({finding.rule}): {finding.message}"


def pair_of(witness: Witness) -> str:
    """Return the pair that a refutation rests on, in one sentence."""
    if witness.attained == "by_definition":
        return f"Some pair moves '{witness.labels[0]}' by its stated sensitivity, which attains this."
    moved = ", ".join(f"'{label}'" for label in witness.labels) or "all releases"
    return f"One pair was checked to move {moved} by the stated sensitivities at once, which attains this."
