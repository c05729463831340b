"""The steps of the printed argument: the cited rule, its formula with numbers, and whether it holds."""

from dataclasses import dataclass, replace

from dpaudit.certification.certificate import Certificate
from dpaudit.printed.argument import infer
from dpaudit.render.substitution import substituted
from dpaudit.wording.numerals import nearest


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
