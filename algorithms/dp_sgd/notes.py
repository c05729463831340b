"""Notes on a DP-SGD run: its epsilon here and by Opacus' own accountants, with every difference explained."""

import warnings
from dataclasses import dataclass

from algorithms.dp_sgd.accounting import epsilon_of_history
from algorithms.dp_sgd.beside import poisson_beside
from algorithms.dp_sgd.checks import RELATION, breaking, findings_of
from algorithms.dp_sgd.extra import missing_packages
from algorithms.dp_sgd.plan import record_of
from algorithms.dp_sgd.reading import TrainingRecord
from algorithms.dp_sgd.settings import DpSgdSettings
from algorithms.problems.affairs import Classification
from dpaudit import Certificate, Claim, certify
from dpaudit.model.claim import Neighbours
from dpaudit.model.trace import Finding

_WIDTH = 1e-3
_RELATIONS: tuple[Neighbours, ...] = ("add_remove", "replace_one")
_REASONS = {
    "rdp": "Renyi orders lose something when moments become (epsilon, delta): an upper bound, and loose",
    "prv": "a numerical estimate whose own error, 0.01 in epsilon, is added",
    "gdp": "a central limit theorem in place of the composition: no bound",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What one accountant says, and why it differs from ours; `epsilon` is None where it says nothing."""

    accountant: str
    epsilon: float | None
    difference: float | None
    explanation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A run's epsilon for both neighbour relations, beside what Opacus prints, and its known hazards.

    `add_remove` and `replace_one` are upper bounds at the claim's delta, within about 1e-4 of the smallest epsilon.
    """

    record: TrainingRecord
    claim: Claim
    add_remove: float
    replace_one: float
    rows: tuple[Row, ...]
    findings: tuple[Finding, ...]

    def certificate(self) -> Certificate:
        """Return the certificate of an add_remove claim by the engines of dpaudit, with the findings that break it.

        Raises: DeclarationError: a claim for replaced records, which Poisson sampling is not declared for.
        """
        return certify(self.record.declaration(), self.claim, findings=breaking(self.record, self.findings))

    def text(self) -> str:
        """Return the review in lines of plain text."""
        lines = [
            f"{self.record.steps} steps in {len(self.record.history)} segment(s), delta {self.claim.delta:g}",
            f"  dpaudit, a record added or removed:  epsilon <= {self.add_remove:.4f}",
            f"  dpaudit, a record replaced:          epsilon <= {self.replace_one:.4f}",
        ]
        for row in self.rows:
            said = "says nothing" if row.epsilon is None else f"{row.epsilon:.4f} ({row.difference:+.4f})"
            lines.append(f"  Opacus {row.accountant}: {said}: {row.explanation}")
        lines += [f"  {finding.rule}: {finding.message}" for finding in self.findings]
        return "\n".join(lines)


def notes_of(settings: DpSgdSettings, problem: Classification) -> tuple[str, ...]:
    """Return how this run's epsilon compares with what Opacus prints, and what a reader must know.

    Where batches are no Poisson samples, the accountants' numbers bound nothing: one sentence sets them aside.
    """
    beside = poisson_beside(settings)
    if beside:
        findings = findings_of(record_of(settings), settings.claim())
        return (*beside, *(f"{finding.rule}: {finding.message}" for finding in findings if finding.where != RELATION))
    return tuple(line.strip() for line in review(record_of(settings), settings.claim()).text().splitlines())


def review(record: TrainingRecord, claim: Claim) -> Review:
    """Return the review of `record` at `claim`'s delta; Opacus' accountants are asked where it is installed.

    Raises: ValueError: a claim with delta 0, at which a Gaussian run has no epsilon.
    """
    ours = {relation: epsilon_of_history(record.history, claim.delta, relation) for relation in _RELATIONS}
    rows = (
        tuple(_row(name, record, claim.delta, ours["add_remove"]) for name in _REASONS)
        if not missing_packages()
        else ()
    )
    return Review(
        record=record,
        claim=claim,
        add_remove=ours["add_remove"],
        replace_one=ours["replace_one"],
        rows=rows,
        findings=findings_of(record, claim),
    )


def _row(name: str, record: TrainingRecord, delta: float, ours: float) -> Row:
    """Return what one accountant says of the history."""
    from opacus.accountants import create_accountant

    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Optimal order is the")
            warnings.filterwarnings("ignore", message="GDP accounting is experimental")
            accountant = create_accountant(name)
            accountant.history = list(record.history)
            said = float(accountant.get_epsilon(delta))
    except (ValueError, RuntimeError, OverflowError, ZeroDivisionError) as error:
        return Row(accountant=name, epsilon=None, difference=None, explanation=f"it refuses: {error!s:.100}")
    difference = said - ours
    used = " (the one this run printed)" if name == record.accountant else ""
    return Row(
        accountant=name, epsilon=said, difference=difference, explanation=_explained(name, difference, record) + used
    )


def _explained(name: str, difference: float, record: TrainingRecord) -> str:
    """Return why an accountant differs from an upper bound within a thousandth of the truth."""
    if difference < -_WIDTH:
        last = ", and of the last segment alone" if name == "gdp" and len(record.history) > 1 else ""
        return f"below the truth, so no bound; {_REASONS[name]}{last}"
    side = "equal within the rounding of ours" if abs(difference) <= _WIDTH else "above the truth"
    return f"{side}; {_REASONS[name]}"
