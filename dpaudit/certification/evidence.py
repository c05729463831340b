"""The tight reading of a claim with its witnesses: what is proved from both sides, and what only an assumption adds."""

import math
from dataclasses import dataclass, replace

from dpaudit.accounting.accountant import bracket_delta, bracket_epsilon, largest_delta_of, largest_epsilon_of
from dpaudit.accounting.derivation.walker import derived
from dpaudit.accounting.fold import Attained, above, attained_by_one_pair, attained_together, folded
from dpaudit.accounting.normal_form import NormalForm
from dpaudit.certification.derivation import derivation_of
from dpaudit.engines import BY_EFFORT, DEFAULT, Precision
from dpaudit.model.bracket import Bracket, Effort
from dpaudit.model.claim import Claim
from dpaudit.model.condition import Condition
from dpaudit.model.declaration import Declaration
from dpaudit.model.readings import Tight
from dpaudit.model.witness import DerivationRow, Witness

_BESIDE_THE_PROOF = frozenset({"attained", "printed_premise"})
"""Kinds of conditions that upper bounds do not rest on: the first is about lower bounds, the second about a paper."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Brackets for a claim, the witnesses of their lower ends, and a bracket that one more assumption would give.

    `assumed` is what a pair would attain that moves all releases at once, where such a pair would refute the claim
    and nothing else decides it; no such pair is known.
    """

    tight: Tight
    witnesses: tuple[Witness, ...]
    derivation: tuple[DerivationRow, ...]
    assumed: Tight | None = None

    def refutes(self, claim: Claim) -> bool:
        """Return whether a witnessed lower bound exceeds `claim`."""
        return _exceeds(self.tight, claim)

    def meets(self, claim: Claim) -> bool:
        """Return whether an upper bound meets `claim`."""
        return _meets(self.tight, claim)


def evidence_on(
    declaration: Declaration, claim: Claim, conditions: tuple[Condition, ...], effort: Effort = "default"
) -> Evidence:
    """Return what is proved of `declaration` at `claim`, with the witnesses.

    With a violated condition nothing is proved from above: the upper ends are infinity and 1.
    """
    precision = BY_EFFORT[effort]
    judgement = derived(declaration, claim.neighbours)
    attained = attained_by_one_pair(judgement, conditions)
    tight = _proved(folded(judgement.above, attained), claim, conditions, precision)
    evidence = Evidence(tight=tight, witnesses=_attaining(attained, claim), derivation=derivation_of(judgement))
    denied = any(condition.identity == ("attained", ()) and condition.status == "violated" for condition in conditions)
    if denied or evidence.refutes(claim) or evidence.meets(claim):
        return evidence
    together = attained_together(judgement, (), "assumed")
    return _with_assumption(evidence, together, claim, precision)


def is_met(declaration: Declaration, claim: Claim, conditions: tuple[Condition, ...], effort: Effort) -> bool:
    """Return whether an upper bound meets `claim`; no lower bound is looked at."""
    form = folded(above(declaration, claim.neighbours), ())
    return _meets(_proved(form, claim, conditions, replace(BY_EFFORT[effort], above_alone=True)), claim)


def proved_under(conditions: tuple[Condition, ...], bracket: Bracket, most: float) -> Bracket:
    """Return `bracket` as far as it is proved: up to `most` where a condition of its proof was seen violated."""
    return replace(bracket, upper=most) if is_void(conditions) else bracket


def is_void(conditions: tuple[Condition, ...]) -> bool:
    """Return whether a condition of the proof from above was seen violated."""
    return any(row.status == "violated" and row.kind not in _BESIDE_THE_PROOF for row in conditions)


def _with_assumption(
    evidence: Evidence, together: tuple[Attained, ...], claim: Claim, precision: Precision
) -> Evidence:
    """Return `evidence` with what `together` would attain, if that would refute the claim."""
    if not together:
        return evidence
    alternatives = tuple(pair.composition for pair in together)
    assumed = _tight(NormalForm(upper=alternatives, lower=alternatives), claim, precision)
    if not _exceeds(assumed, claim):
        return evidence
    witnesses = dict.fromkeys((*evidence.witnesses, *_attaining(together, claim)))
    return replace(evidence, witnesses=tuple(witnesses), assumed=assumed)


def _tight(form: NormalForm, claim: Claim, precision: Precision = DEFAULT) -> Tight:
    """Return the brackets of `form` at `claim`."""
    epsilon = bracket_epsilon(form, claim.delta, precision)
    if claim.epsilon == math.inf:  # promises nothing, so that no delta is needed beside it
        return Tight(epsilon=epsilon, delta=Bracket(lower=0.0, upper=0.0, engines=epsilon.engines))
    delta = bracket_delta(form, claim.epsilon, precision)
    if epsilon.upper == math.inf and delta.upper <= claim.delta:  # the claim's own epsilon is then proved
        epsilon = replace(epsilon, upper=claim.epsilon)
    return Tight(epsilon=epsilon, delta=delta)


def _proved(form: NormalForm, claim: Claim, conditions: tuple[Condition, ...], precision: Precision) -> Tight:
    """Return the brackets of `form` at `claim`, as far as they are proved under the conditions."""
    tight = _tight(form, claim, precision)
    return Tight(
        epsilon=proved_under(conditions, tight.epsilon, math.inf), delta=proved_under(conditions, tight.delta, 1.0)
    )


def _meets(tight: Tight, claim: Claim) -> bool:
    """Return whether an upper end meets the claim."""
    return tight.delta.upper <= claim.delta or tight.epsilon.upper <= claim.epsilon


def _exceeds(tight: Tight, claim: Claim) -> bool:
    """Return whether a lower end exceeds the claim."""
    return tight.delta.lower > claim.delta or tight.epsilon.lower > claim.epsilon


def _attaining(attained: tuple[Attained, ...], claim: Claim) -> tuple[Witness, ...]:
    """Return the witnesses of the lower ends at `claim`: of epsilon, and of delta where it is another one."""
    if not attained:
        return ()
    alternatives = tuple(pair.composition for pair in attained)
    ends = [largest_epsilon_of(alternatives, claim.delta)]
    if claim.epsilon < math.inf:
        ends.append(largest_delta_of(alternatives, claim.epsilon))
    return tuple(dict.fromkeys(attained[alternatives.index(end)].witness for end in ends))  # queries may share a label
