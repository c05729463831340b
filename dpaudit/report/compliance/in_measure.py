"""The fields of a claim in another measure than epsilon and delta: each of its numbers, and what is proved of it."""

from dpaudit.report.compliance.fields import Field, evidence
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.meaning import bounds_in_measure
from dpaudit.wording.claims import capital


def measured_fields(report: ReportInputs) -> tuple[Field, ...]:
    """Return a field for each number of the claim; nothing for a claim in epsilon and delta."""
    ends = report.reading.ends
    if ends is None:
        return ()
    ref = f"certificate.tight.{ends.measure}"
    return tuple(evidence(f"{capital(name)}, proved", told, ref) for name, told in bounds_in_measure(report, ends))
