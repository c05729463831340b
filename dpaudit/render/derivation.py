"""The derivation as a document and as plain data: a tree with the cost of each step, and the printed argument."""

from dataclasses import dataclass, replace
from typing import Any

from dpaudit.certification.certificate import Certificate
from dpaudit.documents import document as blocks
from dpaudit.documents.document import document, under
from dpaudit.model.codec import encode
from dpaudit.model.declaration import walk
from dpaudit.printed.argument import infer
from dpaudit.render.certificate import slack_blocks
from dpaudit.render.substitution import substituted
from dpaudit.report.derivation import Row, rows_of
from dpaudit.report.marks import certificate_word, marks_of
from dpaudit.wording.certificates import bracket_phrase, printed_sentence
from dpaudit.wording.claims import claim_parameters, neighbours_phrase
from dpaudit.wording.measures import bounds_rows
from dpaudit.wording.nodes import node_words
from dpaudit.wording.numerals import nearest, powers


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentStep:
    """One inference in words; `places` are the nodes with an equal inference, `problems` is empty if it holds."""

    places: tuple[str, ...]
    title: str
    source: str
    formula: str
    here: str
    needs: tuple[str, ...]
    problems: tuple[str, ...]

    @property
    def where(self) -> str:
        """The nodes, as in `root.0.1 and 4 alike`."""
        others = len(self.places) - 1
        return f"{self.places[0]} and {others} alike" if others else self.places[0]


def steps_of(certificate: Certificate) -> tuple[ArgumentStep, ...]:
    """Return the steps of the printed argument, leaves first; equal steps appear once."""
    places_by_step: dict[ArgumentStep, list[str]] = {}
    for inference in reversed(infer(certificate.declaration, certificate.claim.neighbours)):
        printed, rule = inference.step.printed, inference.rule
        budget = f"epsilon {nearest(printed.epsilon)}, delta {nearest(printed.delta)}"
        step = ArgumentStep(
            places=(),
            title=rule.title,
            source=rule.source,
            formula=rule.formula,
            here=f"{substituted(rule, inference.step, inference.concluded)}; printed: {budget}",
            needs=rule.side_conditions,
            problems=tuple(problem.message for problem in inference.problems),
        )
        places_by_step.setdefault(step, []).append(inference.path)
    return tuple(replace(step, places=tuple(reversed(places))) for step, places in places_by_step.items())


def derivation_document(certificate: Certificate) -> blocks.Document:
    """Return the derivation: claim, verdict, tree, printed argument, slack and conditions."""
    claim, relation = certificate.claim, neighbours_phrase(certificate.claim.neighbours)
    sources = {path: node_words(node).source for path, node in walk(certificate.declaration)}
    return document(
        under(
            "Claim",
            blocks.Paragraph(f"{claim_parameters(claim)}, {claim.model} model; neighbours differ in {relation}."),
        ),
        under("Verdict", blocks.Paragraph(f"{certificate_word(certificate)}. {powers(' '.join(certificate.reasons))}")),
        under("Derivation", blocks.Tree(tuple(_branch(row, sources) for row in rows_of(certificate)))),
        _printed(certificate),
        slack_blocks(certificate),
        blocks.Heading("Conditions"),
        blocks.items(f"{line.mark}: {line.condition.text}" for line in marks_of(certificate)),
        title="Derivation",
    )


def derivation_data(certificate: Certificate) -> dict[str, Any]:
    """Return the derivation as plain data: claim, nodes, printed reading and slack."""
    return {
        "claim": encode(certificate.claim),
        "nodes": encode(rows_of(certificate)),
        "printed": encode(certificate.printed),
        "steps": [encode(step) for step in steps_of(certificate)],
        "slack": encode(certificate.slack),
    }


def _branch(row: Row, sources: dict[str, str]) -> blocks.Branch:
    """Return a node with its details: rule, noise, own epsilon, source, and the printed budget."""
    alike = f" ({row.alike} alike)" if row.alike > 1 else ""
    path = f"[{row.path}] " if row.node else ""
    title = f"{path}{row.node} {row.name}".strip() + alike
    if not row.node:
        return blocks.Branch(row.depth, title, left_out=True)
    lines = [row.noise or row.rule]
    if row.sensitivity:
        lines.append(f"sensitivity {row.sensitivity}")
    if row.epsilon is not None:
        lines.append(f"epsilon {bracket_phrase(row.epsilon)}, at delta = {nearest(row.delta)}")
    if row.ends is not None:
        lines += [f"{name} {bounds}" for name, bounds in bounds_rows(row.ends)]
    lines.append(f"by: {sources[row.path]}")
    if row.printed is None:
        return blocks.Branch(row.depth, title, details=tuple(lines))
    slots = f" over {nearest(row.printed.slots)} slots" if row.printed.slots else ""
    budget = f"epsilon {nearest(row.printed.epsilon)}, delta {nearest(row.printed.delta)}"
    printed = f"printed: {row.printed.rule.replace('_', ' ')}{slots}, {budget}"
    return blocks.Branch(row.depth, title, details=tuple(lines), quiet=(printed,))


def _printed(certificate: Certificate) -> tuple[blocks.Block, ...]:
    """Return the conclusion of the printed argument, its steps and its problems."""
    reading = certificate.printed
    if reading is None:
        return ()
    steps = tuple(_step(number, step) for number, step in enumerate(steps_of(certificate), 1))
    problems = blocks.items((problem.message for problem in reading.problems if problem.rule == "claim"), "✗")
    return under("The published proof", blocks.Paragraph(printed_sentence(reading)), blocks.Items(steps), problems)


def _step(number: int, step: ArgumentStep) -> blocks.Item:
    """Return one step of the printed argument with its lines."""
    lines = (
        f"{step.source}: {step.formula}",
        f"here: {step.here}",
        *(f"needs: {need}" for need in step.needs),
        *(f"✗ {problem}" for problem in step.problems),
        *(() if step.problems else ("✓ holds as written",)),
    )
    return blocks.Item(f"{number}. {step.title} at {step.where}", lines)
