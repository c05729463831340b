"""Section 5: each mechanism with its sensitivity and the reason, its noise, its number of runs, and its code."""

from collections.abc import Iterator

from dpaudit.documents.document import INDENT
from dpaudit.model.declaration import Stated, walk
from dpaudit.report.compliance.fields import NOT_ASSESSED, Field, Grid, Part, evidence, grid, not_applicable
from dpaudit.report.derivation import Row, node_bounds, noise_of, sensitivity_of
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.releases import Leaf, leaves, located, sensitivity_is_checked
from dpaudit.wording.numerals import exact, nearest, whole
from dpaudit.wording.references import reference_words

MOST = 40


def composition(facts: Facts) -> Iterator[Part]:
    """Yield section 5, with one row for each group of releases that differ only in their label."""
    report, declaration = facts.report, facts.report.certificate.declaration
    groups: dict[tuple[object, str, bool], list[Leaf]] = {}
    for leaf in leaves(declaration):
        groups.setdefault((leaf.node.mechanism, leaf.sampled, leaf.adaptive), []).append(leaf)
    releases = sum(leaf.times for group in groups.values() for leaf in group)
    sources = [node for _, node in walk(declaration) if isinstance(node, Stated)]
    trusted = "; ".join(f"{node.source}: epsilon {exact(node.epsilon)}" for node in sources[:MOST])
    elsewhere = "see the table" if located(report) else NOT_ASSESSED
    yield evidence("Releases", whole(releases), "certificate.declaration")
    yield _printed(report)
    yield evidence("Taken on trust", trusted or "nothing", "certificate.declaration")
    yield evidence("Code of the algorithm", report.code, "code", unless=elsewhere)
    rows = [_row(report, group) for group in list(groups.values())[:MOST]]
    note = "" if groups else "No release is declared; everything here is taken on trust."
    if len(groups) > MOST:
        note = f"{whole(len(groups) - MOST)} further rows are in the certificate's JSON."
    yield grid(
        "mechanisms",
        "The mechanisms: what each adds, why that much, and where its code is",
        ("Release", "Noise", "Sensitivity, and why", "Runs", "Code, and where parameters come from"),
        rows,
        statuses=["not_assessed" if NOT_ASSESSED in "".join(row) else "evidence" for row in rows],
        note=note,
    )
    yield _nodes(facts.rows, void=bool(report.void))


def _printed(report: ReportInputs) -> Field:
    """Return what the paper's own argument concludes, and what is remarked about it."""
    printed = report.certificate.printed
    if printed is None:
        return not_applicable("Published proof", "no rules of a paper were declared")
    holds = "holds as written" if printed.valid else "does not hold as written"
    remarks = "; ".join(f"{problem.node} ({problem.rule}): {problem.message}" for problem in printed.problems)
    said = f". Remarks by node: {remarks}" if remarks else ""
    text = f"epsilon {exact(printed.epsilon)} at delta {exact(printed.delta)}, and {holds}{said}"
    return evidence("Published proof", text, "certificate.printed")


def _nodes(nodes: tuple[Row, ...], *, void: bool) -> Grid:
    """Return the derivation as a table of text, indented by depth; columns without any text are left out."""
    proved = "Proved" if any(row.ends for row in nodes) else "Proved epsilon"
    columns = {
        "Node": [INDENT * min(row.depth, 8) + _node(row) for row in nodes],
        "Name": [row.name for row in nodes],
        "Noise, or how parts compose": [row.noise or row.rule for row in nodes],
        "Printed": [
            f"{row.printed.rule}: {nearest(row.printed.epsilon)}, δ {nearest(row.printed.delta)}" if row.printed else ""
            for row in nodes
        ],
        proved: [_proved(row, void=void) for row in nodes],
        "Needs": [" ".join(f"C{number + 1}" for number in row.conditions) for row in nodes],
        "Theorem": ["; ".join(map(reference_words, row.theorems)) for row in nodes],
    }
    filled = {name: texts for name, texts in columns.items() if any(texts)}
    rows = zip(*filled.values(), strict=True)
    return grid("nodes", "The derivation, node by node", tuple(filled), rows, annex=True)


def _node(row: Row) -> str:
    """Return the kind of a node, with the number of equal siblings that it stands for."""
    return (row.node or "…") + (f" ({whole(row.alike)} parts alike)" if row.alike > 1 else "")


def _proved(row: Row, *, void: bool) -> str:
    """Return what is proved of a node; a row that stands for others says nothing."""
    bounds = node_bounds(row, void=void)
    if not bounds:
        return "not covered" if row.node else ""
    return bounds if row.ends is not None else f"{bounds}, δ {nearest(row.delta)}"


def _row(report: ReportInputs, group: list[Leaf]) -> tuple[str, ...]:
    """Return one row: releases with equal noise, named by the first and the last."""
    first, last, times = group[0], group[-1].node.label, sum(leaf.times for leaf in group)
    label, mechanism, notes = first.node.label, first.node.mechanism, report.deployment.notes_on(first.node.label)
    checked = "a run looked at it" if sensitivity_is_checked(report) else NOT_ASSESSED
    calibrated = "the algorithm's own calibration" if report.code else NOT_ASSESSED
    runs = [f"{whole(times)} {'time' if times == 1 else 'times'}", first.sampled]
    runs.append("each may depend on those before" if first.adaptive else "fixed in advance")
    return (
        label if label == last else f"{label} … {last}",
        noise_of(mechanism),
        f"{sensitivity_of(mechanism) or 'none stated'} ({notes.sensitivity_because or checked})",
        ", ".join(filter(None, runs)),
        f"{notes.code or report.code or NOT_ASSESSED}; parameters: {notes.parameters_from or calibrated}",
    )
