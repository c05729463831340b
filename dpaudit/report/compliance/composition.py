"""Section 5: each mechanism with its sensitivity and the reason, its noise, its number of runs, and its code."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from dpaudit.model.declaration import Declaration, Stated, walk
from dpaudit.report.compliance.fields import (
    NOT_ASSESSED,
    Field,
    Grid,
    Section,
    Status,
    evidence,
    not_applicable,
    unknown,
)
from dpaudit.report.derivation import Row, node_bounds, noise_of, sensitivity_of
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.releases import Leaf, leaves, located, sensitivity_is_checked
from dpaudit.wording.numerals import exact, nearest, whole
from dpaudit.wording.references import reference_words

MOST = 40
INDENT = "\N{EM SPACE}"


@dataclass(slots=True)
class _Run:
    """Releases with equal noise, as one row."""

    first: Leaf
    times: int
    labels: list[str] = field(default_factory=list)


def composition(report: ReportInputs, nodes: tuple[Row, ...]) -> Section:
    """Return section 5, with one row for each group of equal releases."""
    runs = list(_runs(report.certificate.declaration))
    checked = sensitivity_is_checked(report)
    rows = tuple(_row(report, run, checked=checked) for run in runs[:MOST])
    stated = [node for _, node in walk(report.certificate.declaration) if isinstance(node, Stated)]
    nothing = "" if runs else "No release is declared; everything here is taken on trust."
    more = f"{whole(len(runs) - MOST)} further rows are in the certificate's JSON." if len(runs) > MOST else ""
    trusted = "; ".join(f"{node.source}: epsilon {exact(node.epsilon)}" for node in stated[:MOST])
    statuses: tuple[Status, ...] = tuple("not_assessed" if NOT_ASSESSED in "".join(row) else "evidence" for row in rows)
    return Section(
        number="5",
        ident="derivation",
        title="Composition",
        crosswalk="Registry records: mechanisms and composition",
        fields=(
            evidence("Releases", whole(sum(run.times for run in runs)), "certificate.declaration"),
            _printed(report),
            evidence("Taken on trust", trusted or "nothing", "certificate.declaration"),
            evidence("Code of the algorithm", report.code, "code")
            if report.code
            else unknown("Code of the algorithm", "" if not located(report) else "see the table"),
        ),
        grids=(
            Grid(
                name="mechanisms",
                caption="The mechanisms: what each adds, why that much, and where its code is",
                head=("Release", "Noise", "Sensitivity, and why", "Runs", "Code, and where parameters come from"),
                rows=rows,
                statuses=statuses,
                note=more or nothing,
            ),
            _nodes(nodes, void=bool(report.void)),
        ),
    )


def _printed(report: ReportInputs) -> Field:
    """Return what the paper's own argument concludes, and what is remarked about it."""
    printed = report.certificate.printed
    if printed is None:
        return not_applicable("Printed argument", "no rules of a paper were declared")
    holds = "holds as written" if printed.valid else "does not hold as written"
    remarks = "; ".join(f"{problem.node} ({problem.rule}): {problem.message}" for problem in printed.problems)
    said = f". Remarks by node: {remarks}" if remarks else ""
    text = f"epsilon {exact(printed.epsilon)} at delta {exact(printed.delta)}, and {holds}{said}"
    return evidence("Printed argument", text, "certificate.printed")


def _nodes(nodes: tuple[Row, ...], *, void: bool) -> Grid:
    """Return the derivation as a table of text, indented by depth; columns without any text are left out."""
    rows = tuple(
        (
            INDENT * min(row.depth, 8) + (row.node or "…") + (f" ({whole(row.alike)} parts alike)" * (row.alike > 1)),
            row.name,
            row.noise or row.rule,
            f"{row.printed.rule}: {nearest(row.printed.epsilon)}, δ {nearest(row.printed.delta)}"
            if row.printed
            else "",
            _proved(row, void=void),
            " ".join(f"C{number + 1}" for number in row.conditions),
            "; ".join(reference_words(entry) for entry in row.theorems),
        )
        for row in nodes
    )
    proved = "Proved" if any(row.ends for row in nodes) else "Proved epsilon"
    head = ("Node", "Name", "Noise, or how parts compose", "Printed", proved, "Needs", "Theorem")
    filled = [place for place in range(len(head)) if any(row[place] for row in rows)]
    return Grid(
        name="nodes",
        annex=True,
        caption="The derivation, node by node",
        head=tuple(head[place] for place in filled),
        rows=tuple(tuple(row[place] for place in filled) for row in rows),
        statuses=tuple("evidence" for _ in rows),
    )


def _proved(row: Row, *, void: bool) -> str:
    """Return what is proved of a node; a row that stands for others says nothing."""
    bounds = node_bounds(row, void=void)
    if not bounds:
        return "not covered" if row.node else ""
    return bounds if row.ends is not None else f"{bounds}, δ {nearest(row.delta)}"


def _runs(declaration: Declaration) -> Iterator[_Run]:
    """Yield the releases; those that differ only in their label are one group."""
    runs_by_noise: dict[tuple[object, str, bool], _Run] = {}
    for leaf in leaves(declaration):
        key = leaf.node.mechanism, leaf.sampled, leaf.adaptive
        if key not in runs_by_noise:
            runs_by_noise[key] = _Run(first=leaf, times=0)
        runs_by_noise[key].times += leaf.times
        runs_by_noise[key].labels.append(leaf.node.label)
    yield from runs_by_noise.values()


def _row(report: ReportInputs, run: _Run, *, checked: bool) -> tuple[str, ...]:
    """Return one row."""
    node = run.first.node
    first, last = run.labels[0], run.labels[-1]
    notes = report.deployment.notes_on(first)
    why = notes.sensitivity_because or ("a run looked at it" if checked else NOT_ASSESSED)
    code = notes.code or report.code or NOT_ASSESSED
    source = notes.parameters_from or ("the algorithm's own calibration" if report.code else NOT_ASSESSED)
    runs = [f"{whole(run.times)} {'time' if run.times == 1 else 'times'}", run.first.sampled]
    runs.append("each may depend on those before" if run.first.adaptive else "fixed in advance")
    return (
        first if first == last else f"{first} … {last}",
        noise_of(node.mechanism),
        f"{sensitivity_of(node.mechanism) or 'none stated'} ({why})",
        ", ".join(part for part in runs if part),
        f"{code}; parameters: {source}",
    )
