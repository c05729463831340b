"""The derivation on a terminal, as Markdown and as plain data: a tree with the cost of each step."""

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from dpaudit.certification.certificate import Certificate
from dpaudit.model.codec import encode
from dpaudit.model.declaration import walk
from dpaudit.model.readings import Factor
from dpaudit.render.argument import steps_of
from dpaudit.render.layout import columns, inset, section
from dpaudit.report.derivation import Row, rows_of
from dpaudit.report.marks import certificate_word, marks_of
from dpaudit.wording.certificates import bracket_phrase, printed_sentence, slack_sentence
from dpaudit.wording.claims import claim_parameters, neighbours_phrase
from dpaudit.wording.markdown import bullets, cell, table
from dpaudit.wording.measures import between_phrase, number_name
from dpaudit.wording.nodes import node_words
from dpaudit.wording.numerals import nearest, powers


def derivation_text(certificate: Certificate) -> RenderableType:
    """Return the derivation for a terminal."""
    claim, relation = certificate.claim, neighbours_phrase(certificate.claim.neighbours)
    return Group(
        section("Claim"),
        inset(f"{claim_parameters(claim)}, {claim.model} model; neighbours differ in {relation}."),
        section("Verdict"),
        inset(f"{certificate_word(certificate)}. {powers(' '.join(certificate.reasons))}"),
        section("Derivation"),
        inset(_tree(rows_of(certificate), _sources(certificate))),
        *_printed(certificate),
        *_slack(certificate),
        section("Conditions"),
        *(inset(f"{line.mark}: {line.condition.text}") for line in marks_of(certificate)),
    )


def derivation_markdown(certificate: Certificate) -> str:
    """Return the derivation as Markdown."""
    sources = _sources(certificate)
    lines = [
        f"{'  ' * row.depth}- **{cell(_title(row))}** {cell('; '.join(_details(row, sources)))}".rstrip()
        for row in rows_of(certificate)
    ]
    verdict = f"{certificate_word(certificate)}. {powers(' '.join(certificate.reasons))}"
    parts = ["## Derivation", claim_parameters(certificate.claim), cell(verdict), "\n".join(lines)]
    if certificate.printed is not None:
        steps = (f"{title}; {'; '.join(lines)}" for title, lines in _argument(certificate))
        parts += ["### The printed argument", printed_sentence(certificate.printed), bullets(steps)]
    if certificate.slack is not None:
        rows = [
            (name, epsilon, noise, sentence) for name, epsilon, noise, sentence in _steps(certificate.slack.factors)
        ]
        parts += ["### Slack", slack_sentence(certificate.slack)]
        parts += [table(("step", "epsilon", "noise", "why"), rows)] if rows else []
    parts += [
        "### Conditions",
        bullets(f"{line.mark}: {line.condition.text}" for line in marks_of(certificate)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def derivation_data(certificate: Certificate) -> dict[str, Any]:
    """Return the derivation as plain data: claim, nodes, printed reading and slack."""
    return {
        "claim": encode(certificate.claim),
        "nodes": encode(rows_of(certificate)),
        "printed": encode(certificate.printed),
        "steps": [encode(step) for step in steps_of(certificate)],
        "slack": encode(certificate.slack),
    }


def _sources(certificate: Certificate) -> dict[str, str]:
    """Return the reference for each node by its path."""
    return {path: node_words(node).source for path, node in walk(certificate.declaration)}


def _tree(rows: tuple[Row, ...], sources: dict[str, str]) -> Tree:
    """Return rows, which come parents first with their depth, as a tree."""
    first, *others = rows
    root = Tree(_label(first, sources), guide_style="dim")
    branches = [root]
    for row in others:
        del branches[row.depth :]
        branches.append(branches[-1].add(_label(row, sources)))
    return root


def _label(row: Row, sources: dict[str, str]) -> Text:
    """Return a node with its details below it."""
    label = Text(_title(row), style="bold" if row.node else "dim italic")
    for detail in _details(row, sources):
        label.append(f"\n{detail}", style="not bold dim" if detail.startswith("printed") else "not bold")
    return label


def _title(row: Row) -> str:
    """Return the title of a node."""
    alike = f" ({row.alike} alike)" if row.alike > 1 else ""
    path = f"[{row.path}] " if row.node else ""
    return f"{path}{row.node} {row.name}".strip() + alike


def _details(row: Row, sources: dict[str, str]) -> list[str]:
    """Return the details of a node: rule, noise, own epsilon, source, and the printed budget."""
    if not row.node:
        return []
    lines = [row.noise or row.rule]
    if row.sensitivity:
        lines.append(f"sensitivity {row.sensitivity}")
    if row.epsilon is not None:
        lines.append(f"epsilon {bracket_phrase(row.epsilon)}, at delta = {nearest(row.delta)}")
    if row.ends is not None:
        lines += [f"{number_name(row.ends.measure, end.at)} {between_phrase(end)}" for end in row.ends.rows]
    lines.append(f"by: {sources[row.path]}")
    if row.printed is not None:
        slots = f" over {nearest(row.printed.slots)} slots" if row.printed.slots else ""
        budget = f"epsilon {nearest(row.printed.epsilon)}, delta {nearest(row.printed.delta)}"
        lines.append(f"printed: {row.printed.rule.replace('_', ' ')}{slots}, {budget}")
    return lines


def _printed(certificate: Certificate) -> list[RenderableType]:
    """Return the conclusion of the printed argument and its problems."""
    reading = certificate.printed
    if reading is None:
        return []
    steps = (
        part
        for title, lines in _argument(certificate)
        for part in (inset(title), *(inset(inset(line)) for line in lines))
    )
    problems = (problem for problem in reading.problems if problem.rule == "claim")
    return [
        section("The printed argument"),
        inset(printed_sentence(reading)),
        *steps,
        *(inset(f"✗ {problem.message}") for problem in problems),
    ]


def _argument(certificate: Certificate) -> list[tuple[str, list[str]]]:
    """Return the steps of the printed argument: a title each, and its lines."""
    return [
        (
            f"{number}. {step.title} at {step.where}",
            [
                f"{step.source}: {step.formula}",
                f"here: {step.here}",
                *(f"needs: {need}" for need in step.needs),
                *(f"✗ {problem}" for problem in step.problems or ()),
                *(() if step.problems else ("✓ holds as written",)),
            ],
        )
        for number, step in enumerate(steps_of(certificate), 1)
    ]


def _slack(certificate: Certificate) -> list[RenderableType]:
    """Return the slack as a table of steps in epsilon and in noise."""
    slack = certificate.slack
    if slack is None:
        return []
    head = (Text("step", style="dim"), Text("epsilon", style="dim"), Text("noise", style="dim"), Text(""))
    steps = columns([head, *_steps(slack.factors)], "", "cyan", "cyan", "")
    return [section("Slack"), inset(slack_sentence(slack)), *([Text(), steps] if slack.factors else [])]


def _steps(factors: tuple[Factor, ...]) -> list[tuple[str, str, str, str]]:
    """Return each factor in epsilon and in noise, with its sentence."""
    return [
        (factor.name, f"× {nearest(factor.factor)}", f"× {nearest(factor.noise_factor)}", factor.sentence)
        for factor in factors
    ]
