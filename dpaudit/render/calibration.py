"""The calibrated noise as a document."""

from dpaudit.accounting.needed_noise import Calibration, NeededNoise
from dpaudit.documents.document import Document, Paragraph, Table, document, under
from dpaudit.wording.claims import claim_parameters
from dpaudit.wording.numerals import at_most, nearest


def calibration_document(calibration: Calibration, advice: str = "") -> Document:
    """Return a calibration; `advice` says how to get the smaller noise."""
    table = Table(
        tuple(_rows(calibration)),
        head=("release", "parameter", "declared", "", "needed"),
        looks=("", "quiet", "quiet", "", "value"),
    )
    return document(
        Paragraph(summary(calibration), strong=True),
        under("Noise", table),
        Paragraph(" ".join(part for part in (range_of(calibration), advice) if part)),
        title="Calibration",
    )


def summary(calibration: Calibration) -> str:
    """Return the meaning of the factor in one sentence."""
    claim = f"({claim_parameters(calibration.claim)})"
    if abs(calibration.factor - 1) < 1e-6 and not (calibration.more_noise and calibration.more_noise.fails):
        return f"The declared noise is the smallest with which the claim {claim} is proved."
    if calibration.factor < 1:
        return (
            f"The claim {claim} is proved with {at_most(calibration.factor)} of the declared noise, which is "
            f"{nearest(1 / calibration.factor)} times larger than that proof needs."
        )
    return (
        f"The claim {claim} is proved with {at_most(calibration.factor)} times the declared noise, and not with less."
    )


def range_of(calibration: Calibration) -> str:
    """Return over which larger noise the claim holds, where noise of whole numbers makes that a question."""
    more = calibration.more_noise
    if more is None:
        return ""
    tried = f"{more.checked} larger factors tried, up to {nearest(more.up_to)} times this one"
    if not more.fails:
        return f"Noise of whole numbers may cost more where it is larger. The claim was proved at all of {tried}."
    ranges = ", ".join(_range(first, last) for first, last in more.fails)
    return (
        f"More noise does not always help: the claim holds at this factor, and of {tried}, it is not proved at "
        f"{ranges} of the declared noise."
    )


def _range(first: float, last: float) -> str:
    """Return a range of factors, or the one factor that it holds."""
    return nearest(first) if first == last else f"{nearest(first)} to {nearest(last)}"


def _rows(calibration: Calibration) -> list[tuple[str, ...]]:
    """Return one row for each parameter that changes; a mechanism without such a parameter has the row `as is`."""
    rows: list[tuple[str, ...]] = []
    for release in calibration.releases:
        changes = [(n, nearest(a), "→", at_most(b)) for n, a, b in release.changes] or [("", "", "", "as is")]
        rows += [(_labels(release), *change) for change in changes]
    return rows


def _labels(release: NeededNoise) -> str:
    """Return the labels of the releases; of more than two, the first and the last."""
    labels = release.labels
    return ", ".join(labels) if len(labels) <= 2 else f"{labels[0]} … {labels[-1]} ({len(labels)})"
