"""The words of a certificate: its verdict, its brackets, its printed argument and its slack, a sentence each."""

import math
from typing import assert_never

from dpaudit.model.bracket import Bracket, Effort
from dpaudit.model.certificate import CertificateRecord
from dpaudit.model.declaration import Release, walk
from dpaudit.model.measures.claims import MeasuredClaim
from dpaudit.model.measures.ends import End
from dpaudit.model.readings import PrintedReading, Slack
from dpaudit.wording.claims import measured_promise, promise
from dpaudit.wording.escaping import one_line
from dpaudit.wording.numerals import (
    at_least,
    at_least_beside,
    at_most,
    at_most_beside,
    ends,
    exact,
    nearest,
    raised,
)

SEEN = 1e-3
"""The relative width of a bracket from which on it is said."""

UNNAMED = 0.005
"""A logarithm of a noise ratio that is too small to be worth a name."""

_LEAST_LOG10 = -1e9


def bracket_phrase(bracket: Bracket | End) -> str:
    """Return a bracket in words, rounded outwards."""
    if bracket.lower == math.inf:
        return "infinite"
    if bracket.lower == bracket.upper == 0:
        return "0"
    if bracket.upper == math.inf and bracket.lower == 0:
        return "not bounded by what is known"
    if bracket.upper == math.inf:
        return f"at least {at_least(bracket.lower)}, with no upper bound"
    if bracket.upper < 1e-300:
        return below_floats(-300)
    if bracket.lower == 0:
        return f"at most {at_most(bracket.upper)}"
    lower, upper = ends(bracket)
    return f"= {lower}" if lower == upper else f"between {lower} and {upper}"


def finite(epsilon: float, claimed: float | None = None) -> str:
    """Return an upper bound, with enough digits beside the claimed one; no finite one is said in words.

    >>> finite(0.5), finite(math.inf, 1.0)
    ('0.5', 'no finite epsilon')
    """
    if epsilon == math.inf:
        return "no finite epsilon"
    return at_most(epsilon) if claimed is None else at_most_beside(epsilon, claimed)


def width_phrase(lower: float, upper: float, name: str = "epsilon") -> str:
    """Return how wide the bracket of a number is where that shows, rounded up; empty where it does not.

    >>> width_phrase(1.0, 1.0001)
    ''
    >>> width_phrase(0.75, 1.0)
    'the bracket of epsilon is 25 % of its upper end'
    """
    if not 0 < lower < upper < math.inf:
        return ""
    width = (upper - lower) / upper
    return f"the bracket of {name} is {at_most(width * 100, 2)} % of its upper end" if width > SEEN else ""


def one_query_phrase(certificate: CertificateRecord) -> str:
    """Return why a lower end may lie far below: of several queries it counts one; empty where it counts all."""
    labels = {node.label for _, node in walk(certificate.declaration) if isinstance(node, Release)}
    moved = [witness.labels[0] for witness in certificate.witnesses if witness.attained == "by_definition"]
    if len(labels) < 2 or len(moved) != len(certificate.witnesses) or not moved:
        return ""
    return f"from below only {moved[0]!r} is counted: no pair was checked to move several queries at once"


def engines_phrase(names: tuple[str, ...], effort: Effort) -> str:
    """Return the engines that a certificate names, and its effort where it is not the default one.

    >>> engines_phrase(("closed", "tilted"), "default"), engines_phrase(("tilted",), "quick")
    ('engines closed, tilted', 'engines tilted · effort quick')
    """
    return f"engines {', '.join(names)}" + ("" if effort == "default" else f" · effort {effort}")


def below_floats(log10: float) -> str:
    """Return the words for a delta that is too small for a float, from an upper bound on its base-10 logarithm.

    Logarithms below -1e9, minus infinity too, are said as -1e9.

    >>> below_floats(-772.3), below_floats(-300)
    ('at most 10⁻⁷⁷²', 'below 10⁻³⁰⁰')
    """
    if log10 > -301:
        return "below 10⁻³⁰⁰"
    return f"at most 10{raised(math.ceil(max(log10, _LEAST_LOG10)))}"


def certificate_meaning(certificate: CertificateRecord) -> str:
    """Return the meaning of the verdict for the claim in one sentence."""
    claim, tight = certificate.claim, certificate.tight
    measured = claim if isinstance(claim, MeasuredClaim) else None
    match certificate.verdict:
        case "certified":
            return promise(claim) if measured is None else f"With {measured_promise(measured)}"
        case "stated":
            return (
                f"The claim follows only from what {sources_phrase(certificate)} stated; nothing of that was proved or "
                "checked here."
            )
        case "refuted" if measured is not None:
            return f"The declared noise cannot keep the claim {measured.words}."
        case "refuted":
            lower = tight.epsilon.lower
            floor = "infinite" if lower == math.inf else f"at least {at_least_beside(lower, claim.epsilon)}"
            return (
                f"The declared noise cannot keep the claim: at delta = {exact(claim.delta)} epsilon is {floor}, "
                f"and {exact(claim.epsilon)} was claimed."
            )
        case "not_proved":
            return "The claim may be true, but what was declared and seen does not prove it."
        case _:
            assert_never(certificate.verdict)


def sources_phrase(certificate: CertificateRecord) -> str:
    """Return whose word a stated claim rests on, in one line; empty for any other claim."""
    return " and ".join(map(one_line, certificate.trust.sources)) if certificate.trust else ""


def bound_name(certificate: CertificateRecord) -> str:
    """Return the name of the bar of the upper end: *stated* where it is somebody else's word.

    A refutation keeps the name of the proof, which stands below it.
    """
    return "stated" if certificate.verdict == "stated" else "proved"


def printed_sentence(reading: PrintedReading) -> str:
    """Return the conclusion of the printed argument, and whether each step holds as written."""
    steps = "each step holds as written" if reading.valid else "but not every step holds as written"
    return f"It concludes epsilon = {exact(reading.epsilon)}, delta = {exact(reading.delta)}; {steps}."


def slack_sentence(slack: Slack) -> str:
    """Return the slack of the claim in one sentence."""
    if not math.isfinite(slack.epsilon_ratio) or not math.isfinite(slack.noise_ratio):
        return "The slack has no finite size: one of the two readings is infinite or zero."
    if abs(slack.noise_ratio - 1) < 1e-3 and abs(slack.epsilon_ratio - 1) < 1e-3:
        return "There is none: with noticeably less noise the claim is not proved."
    beside = f", and the claimed epsilon {nearest(slack.epsilon_ratio)} times the one delivered"
    return f"{_noise(slack.noise_ratio)}{beside if slack.noise_ratio >= 1 else ''}."


def noise_sentence(slack: Slack) -> str:
    """Return the ratio of the noise to the noise that the claim needs, in one sentence.

    >>> noise_sentence(Slack(epsilon_ratio=24.0, noise_ratio=18.447))
    'The noise is 18.4 times larger than the claim needs.'
    """
    ratio = slack.noise_ratio
    if ratio == math.inf:
        return "The claim needs no noise at all, so that any noise is more than it needs."
    if ratio <= 0:
        return "No amount of noise of this kind meets the claim."
    if abs(math.log(ratio)) < UNNAMED:
        return "With noticeably less noise the claim is not proved."
    return f"{_noise(ratio, 3)}."


def _noise(ratio: float, digits: int = 4) -> str:
    """Return how much larger or smaller the noise is than the claim needs, as the beginning of a sentence."""
    size = f"{nearest(ratio, digits)} times larger" if ratio >= 1 else f"{nearest(1 / ratio, digits)} times smaller"
    return f"The noise is {size} than the claim needs"
