"""The releases of a declaration, in order, and whether their sensitivity has a reason and their code a location."""

from collections.abc import Iterator
from dataclasses import dataclass

from dpaudit.model.declaration import Declaration, Release, Repeat, Sequential, Subsample, children
from dpaudit.report.inputs import ReportInputs
from dpaudit.wording.numerals import nearest


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A release: the number of its runs, its sampling, and whether it may depend on an earlier release."""

    node: Release
    times: int = 1
    sampled: str = ""
    adaptive: bool = False


def leaves(node: Declaration, times: int = 1, sampled: str = "", *, adaptive: bool = False) -> Iterator[Leaf]:
    """Yield every release of a declaration, in order."""
    if isinstance(node, Release):
        yield Leaf(node=node, times=times, sampled=sampled, adaptive=adaptive)
    if isinstance(node, Repeat):
        times, adaptive = times * node.times, adaptive or node.times > 1
    if isinstance(node, Sequential):
        adaptive = adaptive or len(node.parts) > 1
    if isinstance(node, Subsample):
        sampled = f"{node.scheme.replace('_', ' ')} sampling at rate {nearest(node.rate)}"
    for child in children(node):
        yield from leaves(child, times, sampled, adaptive=adaptive)


def justified(report: ReportInputs) -> bool:
    """Return whether the sensitivity of every release has a reason: a run checked it, or the deployment states it."""
    if sensitivity_is_checked(report):
        return True
    return all(report.deployment.notes_on(label).sensitivity_because for label in _labels(report))


def located(report: ReportInputs) -> bool:
    """Return whether the location of the code of every release is known."""
    labels = _labels(report)
    return bool(report.code) or (bool(labels) and all(report.deployment.notes_on(label).code for label in labels))


def sensitivity_is_checked(report: ReportInputs) -> bool:
    """Return whether a run checked the sensitivities."""
    return any(c.kind == "sensitivity" and c.status == "checked" for c in report.certificate.conditions)


def _labels(report: ReportInputs) -> list[str]:
    """Return the labels of all releases."""
    return [leaf.node.label for leaf in leaves(report.certificate.declaration)]
