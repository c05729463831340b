"""The report as one neutral document: plain data with the field names of the published schema.

`report.json` is this document; the page, Markdown and the PDF are written from it and from the figures.
"""

from typing import Any

from dpaudit.ledger.balance import balance_data
from dpaudit.model.bracket import Bracket
from dpaudit.model.codec import encode
from dpaudit.report.compliance.sections import sections_of
from dpaudit.report.cover_lines import cover_lines
from dpaudit.report.curves import Curve, gains_of, highest_true_positive_rate
from dpaudit.report.derivation import Row
from dpaudit.report.facts import Facts
from dpaudit.report.inputs import ReportInputs
from dpaudit.report.marks import marked
from dpaudit.report.meaning import meaning_of, proved_of
from dpaudit.report.not_assessed import not_assessed_of
from dpaudit.report.verdicts import shown_word
from dpaudit.wording.glossary import DISCLAIMER, GLOSSARY

SCHEMA = "urn:dpaudit:schema:report:10"
_RATES = tuple(step / 50 for step in range(51))


def plain(facts: Facts) -> dict[str, Any]:
    """Return everything that the other formats show, as JSON-ready data without the digest to sign."""
    report, outcome, sections = facts.report, facts.outcome, sections_of(facts)
    person, balance, claim = facts.person, report.balance, report.reading.claim
    return {
        "schema": SCHEMA,
        "title": report.title,
        "created": report.created,
        "system": {"name": report.system.name, "unit": report.unit, "description": report.system.description},
        "verdict": outcome.word,
        "word": shown_word(outcome.word, report.word),
        "sentence": outcome.sentence,
        "reasons": list(outcome.reasons),
        "caveats": list(outcome.caveats),
        "meaning": meaning_of(report),
        "proved": proved_of(report),
        "tail": _tail(facts),
        "person": {} if person is None or report.void else {"units": person.units, "epsilon": encode(person.epsilon)},
        "own_unit": report.own_unit,
        "number_of_units": report.number_of_units,
        "units_per_person": report.units_per_person,
        "void": report.void,
        "marks": [{"number": line.number, "mark": line.mark, "because": line.because} for line in marked(report)],
        "digest_to_sign": "",
        "cover": encode(cover_lines(facts, sections[0])),
        "certificate": report.certificate.to_dict(),
        **_reading(report),
        "audits": [audit.to_dict() for audit in report.audits],
        **({} if report.plan is None else {"plan": report.plan.to_dict()}),
        "scores": [
            {"file": scored.file, "digest": scored.digest, "result": scored.result.to_dict()}
            for scored in report.scores
        ],
        "derivation": [_row(row) for row in facts.rows],
        "curve": _curve(facts.curve),
        "trade_off": [
            {
                "false_positive_rate": rate,
                "claim": highest_true_positive_rate(claim.epsilon, claim.delta, rate),
                "certificate": facts.curve.true_positive_rate(rate),
            }
            for rate in _RATES
        ],
        "gains": encode(gains_of(claim, facts.curve)),
        "not_assessed": encode(not_assessed_of(report)),
        "sections": encode(sections),
        "ledger": {"head": report.ledger_head, **balance_data(balance)} if balance is not None else {},
        "code": report.code,
        "environment": dict(report.environment),
        "notes": list(report.notes),
        "command": report.command,
        "config": report.config_text,
        "glossary": [{"word": word, "sense": sense} for word, sense in GLOSSARY],
        "disclaimer": DISCLAIMER,
    }


def _reading(report: ReportInputs) -> dict[str, Any]:
    """Return what follows in epsilon and delta from a claim in another measure; nothing for other claims."""
    reading = report.reading
    if reading.measured is None:
        return {}
    tight = {"epsilon": _sides(reading.tight.epsilon), "delta": _sides(reading.tight.delta)}
    return {"reading": {"claim": encode(reading.claim), "tight": tight}}


def _sides(bracket: Bracket) -> dict[str, Any]:
    """Return a bracket without the names of engines."""
    return {"lower": encode(bracket.lower), "upper": encode(bracket.upper)}


def _tail(facts: Facts) -> dict[str, Any]:
    """Return the bounds on the tail of the loss at the claim's epsilon and delta; empty where there are none."""
    tail, claim = facts.tail, facts.report.reading.claim
    if tail is None:
        return {}
    return {
        "probability_above_epsilon": tail.above(claim.epsilon),
        "epsilon_exceeded_with_delta": encode(tail.exceeded_with(claim.delta)),
        "in_releases": {
            "probability_above_epsilon": tail.above_in_releases(claim.epsilon),
            "epsilon_exceeded_with_delta": encode(tail.exceeded_in_releases(claim.delta)),
        },
    }


def _row(row: Row) -> dict[str, Any]:
    """Return one row of the derivation, its bracket without the names of engines."""
    data: dict[str, Any] = encode(row)
    if row.epsilon is not None:
        data["epsilon"] = _sides(row.epsilon)
    if row.ends is not None:
        del data["delta"]
    return data


def _curve(curve: Curve) -> dict[str, Any]:
    """Return the points of delta(epsilon), or why there are none."""
    return {
        "points": [{"epsilon": e, "delta": {"lower": d.lower, "upper": d.upper}} for e, d in curve.points],
        "unavailable": curve.unavailable,
    }
