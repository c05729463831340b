"""The derivation as an indented tree: what is released, how it composes, and what each step costs."""

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from dpaudit.certificate import Certificate, Factor
from dpaudit.codec import encode
from dpaudit.render import words
from dpaudit.render.layout import columns, inset, section
from dpaudit.render.markup import bullets, cell, table
from dpaudit.report.derivation import Row, rows_of
from dpaudit.report.numerals import nearest


def derivation_text(certificate: Certificate) -> RenderableType:
    """Return the derivation for a terminal."""
    claim, relation = certificate.claim, words.neighbours(certificate.claim.neighbours)
    return Group(
        section("Claim"),
        inset(f"{words.parameters(claim)}, {claim.model} model; neighbours differ in {relation}."),
        section("Derivation"),
        inset(_tree(rows_of(certificate))),
        *_printed(certificate),
        *_slack(certificate),
    )


def derivation_markdown(certificate: Certificate) -> str:
    """Return the derivation as Markdown."""
    lines = [
        f"{'  ' * row.depth}- **{cell(_title(row))}** {cell('; '.join(_details(row)))}".rstrip()
        for row in rows_of(certificate)
    ]
    parts = ["## Derivation", words.parameters(certificate.claim), "\n".join(lines)]
    if certificate.printed is not None:
        problems = (f"{problem.rule} at {problem.node}: {problem.message}" for problem in certificate.printed.problems)
        parts += ["### The printed argument", words.printed(certificate.printed), bullets(problems)]
    if certificate.slack is not None:
        rows = [
            (name, epsilon, noise, sentence) for name, epsilon, noise, sentence in _steps(certificate.slack.factors)
        ]
        parts += ["### Slack", words.slack(certificate.slack)]
        parts += [table(("step", "epsilon", "noise", "why"), rows)] if rows else []
    return "\n\n".join(part for part in parts if part) + "\n"


def derivation_data(certificate: Certificate) -> dict[str, Any]:
    """Return the derivation as plain data: claim, nodes, printed reading and slack."""
    return {
        "claim": encode(certificate.claim),
        "nodes": encode(rows_of(certificate)),
        "printed": encode(certificate.printed),
        "slack": encode(certificate.slack),
    }


def _tree(rows: tuple[Row, ...]) -> Tree:
    """Return rows, which come parents first with their depth, as a tree."""
    first, *others = rows
    root = Tree(_label(first), guide_style="dim")
    branches = [root]
    for row in others:
        del branches[row.depth :]
        branches.append(branches[-1].add(_label(row)))
    return root


def _label(row: Row) -> Text:
    """Return a node with its details below it."""
    label = Text(_title(row), style="bold" if row.node else "dim italic")
    for detail in _details(row):
        label.append(f"\n{detail}", style="not bold dim" if detail.startswith("printed") else "not bold")
    return label


def _title(row: Row) -> str:
    """Return what a node is called."""
    alike = f" ({row.alike} alike)" if row.alike > 1 else ""
    return f"{row.node} {row.name}".strip() + alike


def _details(row: Row) -> list[str]:
    """Return what a node does and costs: its rule, its noise, its own epsilon, the paper's budget."""
    if not row.node:
        return []
    lines = [row.noise or row.rule]
    if row.sensitivity:
        lines.append(f"sensitivity {row.sensitivity}")
    if row.epsilon is not None:
        lines.append(f"epsilon {words.bracket(row.epsilon)}, at delta = {nearest(row.delta)}")
    if row.printed is not None:
        slots = f" over {nearest(row.printed.slots)} slots" if row.printed.slots else ""
        budget = f"epsilon {nearest(row.printed.epsilon)}, delta {nearest(row.printed.delta)}"
        lines.append(f"printed: {row.printed.rule.replace('_', ' ')}{slots}, {budget}")
    return lines


def _printed(certificate: Certificate) -> list[RenderableType]:
    """Return what the paper's own argument concludes, and where it fails."""
    reading = certificate.printed
    if reading is None:
        return []
    problems = [inset(f"✗ {problem.rule} at {problem.node}: {problem.message}") for problem in reading.problems]
    return [section("The printed argument"), inset(words.printed(reading)), *problems]


def _slack(certificate: Certificate) -> list[RenderableType]:
    """Return where the slack comes from, step by step, with what is left after each."""
    slack = certificate.slack
    if slack is None:
        return []
    head = (Text("step", style="dim"), Text("epsilon", style="dim"), Text("noise", style="dim"), Text(""))
    steps = columns([head, *_steps(slack.factors)], "", "cyan", "cyan", "")
    return [section("Slack"), inset(words.slack(slack)), *([Text(), steps] if slack.factors else [])]


def _steps(factors: tuple[Factor, ...]) -> list[tuple[str, str, str, str]]:
    """Return each factor in epsilon and in noise, with its sentence."""
    return [
        (held.name, f"× {nearest(held.factor)}", f"× {nearest(held.noise_factor)}", held.sentence) for held in factors
    ]
