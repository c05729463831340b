"""Known hazards between an Opacus run and its epsilon, each reported as a finding with a rule.

A finding in `BREAKING` voids the amplified epsilon or the claim; the others say what a reader must know.
"""

from collections.abc import Callable

from algorithms.dp_sgd.divisor import divisor_of, telling_neighbour
from algorithms.dp_sgd.plan import record_of
from algorithms.dp_sgd.reading import TrainingRecord
from algorithms.dp_sgd.settings import DpSgdSettings
from dpaudit import Claim, Condition
from dpaudit.model.trace import Finding

BREAKING = frozenset({"DPA213", "DPA220", "DPA221", "DPA326"})
"""Rules that stand against the certificate; DPA319 joins them where several runs are admitted."""

RELATION = "neighbours"
"""Where an epsilon for another relation is found."""

_FIXED = (1, 5, 3)
_OPPOSITE = (
    "both records' clipped gradients are opposite vectors of the clipping norm, as those of one record in two classes"
)


def findings_of(record: TrainingRecord, claim: Claim) -> tuple[Finding, ...]:
    """Return a finding for every hazard of `record`, for `claim`."""
    hazards: tuple[tuple[str, str, Callable[[TrainingRecord, Claim], str]], ...] = (
        ("DPA326", "sampling", _poisson),
        ("DPA326", "sampling rate", _rate),
        ("DPA313", "accountant", _gdp),
        ("DPA314", "secure mode", _secure),
        ("DPA313", RELATION, _relation),
        ("DPA213", "steps", _steps),
        ("DPA326", "weighted sampler", _weights),
        ("DPA220", "ghost clipping", _ghost),
        ("DPA319", "tuning", _tuning),
        ("DPA221", "divisor", _divisor),
        ("DPA221", "adaptive clipping", _adaptive),
        ("DPA220", "layers", _mixing),
    )
    return tuple(
        Finding(rule=rule, where=where, message=message)
        for rule, where, check in hazards
        if (message := check(record, claim))
    )


def breaking(record: TrainingRecord, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return those findings that stand against a certificate."""
    tuned = {"DPA319"} if (record.tuning_runs or 1) > 1 else set[str]()
    return tuple(finding for finding in findings if finding.rule in BREAKING | tuned)


def breaking_findings(settings: DpSgdSettings) -> tuple[Finding, ...]:
    """Return the findings that stand against a certificate, before anything has run."""
    record = record_of(settings)
    if settings.sampling == "shuffled":
        return ()
    return breaking(record, findings_of(record, settings.claim()))


def assumed_conditions(settings: DpSgdSettings) -> tuple[Condition, ...]:
    """Return the other findings, which a reader must know of, as assumed conditions."""
    record = record_of(settings)
    findings = findings_of(record, settings.claim())
    against = set(breaking(record, findings))
    others = tuple(
        Condition(kind="implementation", about=(f.where,), text=f"{f.rule}: {f.message}")
        for f in findings
        if f not in against
    )
    return (*others, *_public_divisor(settings), *_named_pair(settings))


def _named_pair(settings: DpSgdSettings) -> tuple[Condition, ...]:
    """Return the pair that clipping admits where a sample's pair needs other records than one: see `replays`."""
    relation = settings.neighbours
    pairs = {
        "truncated_poisson": "one record's clipped gradient has the clipping norm, and those of all others are 0",
        "poisson": _OPPOSITE,
        "allocation": _OPPOSITE,
    }
    if settings.sampling not in pairs or (relation == "add_remove") != (settings.sampling == "truncated_poisson"):
        return ()
    text = f"Clipping admits every gradient up to its norm: {pairs[settings.sampling]}, in every step."
    return (Condition(kind="attained", text=text, status="checked"),)


def divisor_condition(records: int, batches: int) -> Condition:
    """Return whether all neighbours of a data set of so many records have its divisor, as a condition that was seen."""
    other = telling_neighbour(records, batches)
    if other is None:
        text = (
            f"Opacus divides by {divisor_of(records, batches)} for {records - 1}, {records} and {records + 1} records."
        )
    else:
        text = _other_divisor(records, other, batches)
    return Condition(kind="implementation", about=("divisor",), text=text).seen(holds=other is None)


def _public_divisor(settings: DpSgdSettings) -> tuple[Condition, ...]:
    """Return the condition that the divisor is public, where a neighbour has another number of records."""
    if settings.neighbours != "add_remove":
        return ()
    text = (
        "DPA221: Opacus divides sums by the integer part of records times rate. That integer is public or fixed, and "
        "does not follow the number of records."
    )
    return (Condition(kind="implementation", about=("public divisor",), text=text),)


def _other_divisor(records: int, other: int, batches: int) -> str:
    """Return what is wrong with a pair of numbers of records."""
    own, changed = divisor_of(records, batches), divisor_of(other, batches)
    return (
        f"Opacus divides sums and noise by {own} for {records} records and by {changed} for {other}: the scale of the "
        "noise itself tells the two apart, at any noise multiplier. Fix the divisor (expected_batch_size), or claim "
        "replace_one."
    )


def _poisson(record: TrainingRecord, _: Claim) -> str:
    if record.poisson is not False or all(rate == 1 for _, rate, _ in record.history):
        return ""
    return (
        "Batches are not Poisson samples (poisson_sampling=False, or a loader of the user's own), but the accountant "
        "takes credit for sampling; the epsilon it prints is not proved. Use the loader that make_private returns."
    )


def _rate(record: TrainingRecord, _: Claim) -> str:
    drawn = record.loader_rate
    wrong = [rate for _, rate, _ in record.history if drawn is not None and abs(rate - drawn) > 1e-9 * drawn]
    if wrong:
        return f"The accountant was told the rate {wrong[0]:.6g}; the loader draws with {drawn:.6g}."
    meant = record.intended_rate
    away = [rate for _, rate, _ in record.history if meant is not None and abs(rate - meant) > 1e-3 * meant]
    if away and meant is not None:
        return (
            f"The rate accounted for and drawn is {away[0]:.6g} = 1 / number of batches, not batch size over records, "
            f"{meant:.6g}: declare the former."
        )
    return ""


def _gdp(record: TrainingRecord, _: Claim) -> str:
    if record.accountant != "gdp":
        return ""
    return (
        "The GDP accountant uses a central limit theorem, which is no bound: its epsilon can lie below the truth, and "
        "it refuses a change of noise. Use 'prv' or 'rdp', or the bracket printed here."
    )


def _secure(record: TrainingRecord, _: Claim) -> str:
    if record.secure_mode is not False:
        return ""
    return (
        "Floating-point protection: off (secure_mode=False). Noise is drawn in single precision from a generator that "
        "is not cryptographic; the proof is about real numbers."
    )


def _relation(record: TrainingRecord, claim: Claim) -> str:
    if claim.neighbours != "replace_one":
        return ""
    return (
        "Every accountant of Opacus speaks of a record added or removed; for a replaced one its epsilon is too small. "
        "The bracket for replace_one printed here is larger."
    )


def _steps(record: TrainingRecord, _: Claim) -> str:
    if record.stated_steps is None or record.stated_steps == record.steps:
        return ""
    segments = len(record.history)
    hint = f" ({segments} is the number of segments, len(accountant))" if record.stated_steps == segments else ""
    return f"{record.stated_steps} steps are stated{hint}; the history holds {record.steps}."


def _weights(record: TrainingRecord, _: Claim) -> str:
    if not record.weighted:
        return ""
    return "A weighted sampler draws some records more often than the rate that is accounted for."


def _ghost(record: TrainingRecord, _: Claim) -> str:
    if record.grad_sample_mode != "ghost" or record.opacus is None or _numbers(record.opacus) >= _FIXED:
        return ""
    return (
        f"Ghost clipping of Opacus {record.opacus} clips to norm 1 whatever max_grad_norm says: noise is too small by "
        f"that factor{f' ({1 / record.max_grad_norm:g})' if record.max_grad_norm else ''}. Update to 1.5.3 or later."
    )


def _tuning(record: TrainingRecord, _: Claim) -> str:
    if record.tuning_runs == 1:
        return ""
    many = "An unknown number of" if record.tuning_runs is None else str(record.tuning_runs)
    return f"{many} runs on the same data chose the settings; the history holds the cost of one."


def _divisor(record: TrainingRecord, claim: Claim) -> str:
    if claim.neighbours != "add_remove" or None in (record.divisor, record.records, record.batches):
        return ""
    records, batches = int(record.records or 0), int(record.batches or 0)
    other = telling_neighbour(records, batches)
    follows = record.divisor == divisor_of(records, batches)
    return _other_divisor(records, other, batches) if follows and other is not None else ""


def _adaptive(record: TrainingRecord, _: Claim) -> str:
    if not record.adaptive:
        return ""
    return (
        "Adaptive clipping divides the noisy number of unclipped records by the true size of the batch, which one "
        "record changes: the next clipping norm can move by up to twice what is accounted for. Clip with a fixed norm."
    )


def _mixing(record: TrainingRecord, _: Claim) -> str:
    if not record.mixing:
        return ""
    return (
        f"{', '.join(record.mixing):.200}: what the network returns for one record depends on the others, so that "
        "clipping does not bound what one record changes. Normalise over groups or layers instead."
    )


def _numbers(release: str) -> tuple[int, ...]:
    """Return a release as numbers, as far as it has some."""
    return tuple(int(part) for part in release.split(".")[:3] if part.isdigit())
