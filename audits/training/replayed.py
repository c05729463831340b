"""The replay of a training loop: other records, the same noisy sums, and nothing that is published may change.

A loop is run again from one seed with the noisy sums of a first run in the place of its own. Whatever it publishes
must follow from these sums and from public numbers: weights and buffers after every step, learning rates and the
optimizer's state, the number of steps, and what the loop returns. So the runs on other records, and with other batches,
must agree in all of it. The sums before noise are compared too: two batches that differ in one record may differ by one
clipped gradient, over all parameters together.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from audits.experiment.equality import same
from audits.experiment.replays import Channels, apart, following
from audits.training.lines import Sought, line_of_end, line_of_value
from audits.training.mixed_batches import OF_TWO_KINDS, TwoKinds
from audits.training.replay_data import ALL_ALIKE, FITTED, alike_records, one_changed, other_records, relabelled
from audits.training.replay_runs import Run
from audits.training.replayed_noise import noise_of_another_seed, size_of_noise
from dpaudit.model.mechanism import Array
from dpaudit.model.trace import Finding
from dpaudit.training import Training
from dpaudit.training.steps import Script, Taken

FOLLOWS, CLIPPING, SAMPLING = "DPA224", "DPA220", "DPA326"

_STEPS = "number of steps"

_ROUNDING = 1e-3
"""What single precision may add to a clipping norm, relative; and to a sum, in shares of its size: a hundredth."""

_HALF = 2.0**-7
"""The same of half precision, whose numbers have eight binary digits, and in whole shares of a sum."""

_MOST_NAMED = 6

_NOT_FAR = (0.0, "", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What replays of a loop show: findings, what could not be looked at, and what was compared, by name.

    `sums` says that sums before noise were compared, so that clipping was looked at over all parameters.
    """

    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]
    compared: tuple[str, ...]
    sums: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Pair:
    """Two runs that must publish the same, what differs between their data in words, and which records changed."""

    first: Run
    second: Run
    what: str
    changed: Array


def replay_loop(first: Run, training: Training, rng: np.random.Generator) -> Replay:
    """Return what replays of a loop show beside `first`, a run of it on the same records.

    Guarantee: a loop that repeats itself from one seed and publishes functions of its noisy sums and of public numbers
    has no finding of rule DPA224; one that clips as declared has none of DPA220. No finding rests on chance, except
    that noise of two seeds is the same (DPA227), or that of one seed but for its size (DPA212), both below 1e-9.
    """
    seed, sums = int(rng.integers(2**31)), tuple(step.released for step in first.watch.taken)
    script = Script(sums=sums, most=2 * len(sums) + 10)
    base = replace(first.start, seed=seed, script=script).run()
    if base.error or not (base.names or base.published):
        blind = "what the loop publishes: return it, or attach the watch to the model"
        stale = tuple(noise_of_another_seed((first, base), None, seed))
        return Replay(findings=stale, unseen=(f"replays: {base.error}" if base.error else blind,), compared=())
    pairs, unseen = _pairs(base, rng)
    alike = next((pair.second for pair in pairs if pair.what.endswith(ALL_ALIKE)), None)
    stale = tuple(noise_of_another_seed((first, base), alike, int(rng.integers(2**31))))
    names_seen = set[str]()
    findings = tuple(finding for pair in pairs for finding in _findings_of(pair, training, names_seen))
    if findings:
        doubt = _doubt(base)
        findings, unseen = (() if doubt else _distinct(findings)), (*((doubt,) if doubt else ()), *unseen)
    else:
        unseen = (*unseen, *_half_precision(pairs, training))
    return Replay(
        findings=stale + findings,
        unseen=(*unseen, *_shown_beside(pairs)),
        compared=(*base.names, *base.published),
        sums=any(len(pair.changed) < 2 and _sums_told(pair.first) for pair in pairs),
    )


def _sums_told(run: Run) -> bool:
    """Return whether the first step of a run told its sums before noise; a run without steps told none."""
    return any(step.summed is not None for step in run.watch.taken[:1])


def _pairs(base: Run, rng: np.random.Generator) -> tuple[tuple[_Pair, ...], tuple[str, ...]]:
    """Return the pairs of runs that are compared, and those that were not possible, in words."""
    everybody, nobody = np.arange(len(base.records.labels)), np.arange(0)
    other = base.start.on(other_records(base.records)).run()
    made: list[tuple[Run, str, Array, Callable[[], Run]]] = [(base, "other records", everybody, lambda: other)]
    fitted = relabelled(base.records, base.watch)
    for what, records in (fitted | alike_records(base.records)).items():
        made.append((base, what, everybody, base.start.on(records).run))
    if FITTED in fitted:
        unclipped = base.start.on(fitted[FITTED]).run()
        if not unclipped.error:
            changed, records = one_changed(unclipped.records, unclipped.watch.sampled)
            what = f"one other record among {FITTED}"
            made.append((unclipped, what, changed, base.start.on(records).run))
    if not other.error:
        changed, records = one_changed(other.records, other.watch.sampled)
        made.append((other, "one other record", changed, base.start.on(records).run))
        shorter = partial(_with_other_batches, other, rng)
        made.append((other, "other batches", nobody, partial(shorter, -1)))
        if other.batches is not None and other.watch.loader is not None:
            made.append((other, "batches without their first record", nobody, partial(shorter, 0)))
    pairs: list[_Pair] = []
    unseen: list[str] = []
    for first, what, changed, run in made:
        second = run()
        if second.error:
            unseen.append(f"a replay with {what}: {second.error}")
        else:
            pairs.append(_Pair(first=first, second=second, what=what, changed=changed))
    return (*pairs, *_of_two_kinds(pairs)), tuple(unseen)


def _of_two_kinds(pairs: list[_Pair]) -> list[_Pair]:
    """Return two runs that differ in one record of a mixed batch, where sums are not linear in its two kinds."""
    kinds = [pair.second for pair in pairs if pair.what.endswith(ALL_ALIKE)]
    if len(kinds) != 2:
        return []
    bent = TwoKinds(first=kinds[0], second=kinds[1]).pair_that_bends()
    return [] if bent is None else [_Pair(first=bent[0], second=bent[1], what=OF_TWO_KINDS, changed=bent[2])]


def _with_other_batches(run: Run, rng: np.random.Generator, index: int) -> Run:
    """Return the run without the record at `place` of each batch, with another one in batches of a fixed size.

    Without a loader the random numbers after the first step are others.
    """
    handed_out, loader = run.batches, run.watch.loader
    if handed_out is None or loader is None:
        return replace(run.start, other_draws=True).run()
    records = len(run.records.labels)

    def without_one(batch: Array) -> Array:
        if not loader.fixed_size:
            return np.delete(batch, index) if len(batch) > 1 else batch
        outside = np.setdiff1d(np.arange(records), batch)
        return np.append(np.delete(batch, index), rng.choice(outside)) if len(outside) and len(batch) else batch

    batches = tuple(without_one(batch) for batch in handed_out)
    return replace(run.start, script=replace(run.start.script, batches=batches)).run()


def _findings_of(pair: _Pair, training: Training, names_seen: set[str]) -> list[Finding]:
    """Return what a pair of runs does not have in common although it should; `known` names were found before.

    A row that differs makes those below it meaningless: states, the number of steps, what is published in the end.
    """
    first, second = pair.first, pair.second
    at, names = _first_difference(first, second)
    numbers = first.watch.steps, second.watch.steps
    when = "before the first step" if at == 0 else f"after step {at}"
    rows: tuple[tuple[str, tuple[str, ...], str, Sought | None], ...] = (
        ("", names, f"{when}{_values(first, second, at, names)}", Sought(steps=at, names=names)),
        ("", (_STEPS,) * (numbers[0] != numbers[1]), f"{numbers[0]} against {numbers[1]}", Sought(steps=min(numbers))),
        ("published ", apart(first.published, second.published, same), "in the end", None),
    )
    kind, differing, detail, sought = next((row for row in rows if row[1]), ("", (), "", None))
    findings: list[Finding] = []
    if not names_seen.issuperset(differing):
        names_seen.update(differing)
        lines = [run.start.lines(sought) for run in (first, second) if sought is not None]
        line = "" if sought is None else (line_of_value if names else line_of_end)(lines[0], lines[1])
        findings.append(_follows(kind + ", ".join(differing[:_MOST_NAMED]), pair, detail, line))
    until = at if names else None
    beside = *_other_batches(pair, until), *size_of_noise(first, second, pair.what)
    return [*findings, *beside, *_moved_too_far(pair, training, until)]


def _other_batches(pair: _Pair, until: int | None) -> list[Finding]:
    """Return a finding where other records are drawn into a batch because the records have other values."""
    both = zip(pair.first.watch.taken, pair.second.watch.taken, strict=False)
    batches = [(ours.batch, theirs.batch) for ours, theirs in both][:until] if len(pair.changed) else []
    for at, (ours, theirs) in enumerate(batches, start=1):
        if ours is not None and theirs is not None and not np.array_equal(ours, theirs):
            message = (
                f"Step {at}: with {pair.what}, the same random numbers and the very same noisy sums, other records are "
                f"in the batch: {len(np.setdiff1d(ours, theirs))} of {len(ours)} are replaced by "
                f"{len(np.setdiff1d(theirs, ours))} others. What the records hold decides which of them are drawn."
            )
            return [Finding(rule=SAMPLING, where="batches", message=message)]
    return []


def _follows(where: str, pair: _Pair, detail: str, line: str) -> Finding:
    """Return the finding that something published follows the records."""
    seen = f" (seen at {line})" if line else ""
    followed = "the records" if len(pair.changed) else "which records, or how many, are in the batches"
    message = (
        f"{where}, {detail}: with {pair.what} and the very same noisy sums it differs{seen}. It follows {followed} by "
        "another way than the noisy sums, and no noise covers that."
    )
    return Finding(rule=FOLLOWS, where=where, message=message)


def _values(first: Run, second: Run, at: int, names: tuple[str, ...]) -> str:
    """Return the two values of the first name that is a number, in words."""
    for name in names:
        ours, theirs = (run.states[at].get(name) for run in (first, second))
        if isinstance(ours, float | int) and isinstance(theirs, float | int):
            return f" ({name} {ours:.6g} against {theirs:.6g})"
    return ""


def _first_difference(first: Run, second: Run) -> tuple[int, tuple[str, ...]]:
    """Return after how many steps the public states differ first, and in which names."""
    same_end = first.watch.steps == second.watch.steps
    states = list(zip(first.states, second.states, strict=False))
    for at, (ours, theirs) in enumerate(states if same_end else states[:-1]):
        if names := apart(ours, theirs, same):
            return at, names
    return 0, ()


def _half_precision(pairs: tuple[_Pair, ...], training: Training) -> list[str]:
    """Return that sums of gradients in half precision are longer than declared, in words."""
    sums = [(pair, taken) for pair in pairs if pair.second.watch.half for taken in pair.second.watch.taken]
    if not any(_too_far(taken, None, 0, pair, training, strict=True) > _NOT_FAR for pair, taken in sums):
        return []
    return [
        f"whether gradients are clipped to {training.max_grad_norm:g}: half precision makes them up to 1 % longer. "
        "Turn the gradients of records into single precision before they are clipped"
    ]


def _moved_too_far(pair: _Pair, training: Training, until: int | None) -> list[Finding]:
    """Return a finding where a sum before noise, or the difference of two, is longer than its records may make it.

    Steps from number `until` on, counted from 0, are taken at different weights and are not compared.
    """
    both = list(zip(pair.first.watch.taken, pair.second.watch.taken, strict=False))[:until]
    single = [_too_far(taken, None, at, pair, training) for at, (_, taken) in enumerate(both, start=1)]
    differences = [_too_far(*steps, at, pair, training) for at, steps in enumerate(both, start=1)]
    alone, moved = (max(sums, default=_NOT_FAR) for sums in (single, differences))
    if alone > _NOT_FAR:
        return [Finding(rule=CLIPPING, where=alone[1], message=alone[2])]
    if moved > _NOT_FAR and not _random_gradients(pair):
        return [Finding(rule=CLIPPING, where=moved[1], message=moved[2])]
    return []


def _too_far(
    step: Taken, other: Taken | None, at: int, pair: _Pair, training: Training, *, strict: bool = False
) -> tuple[float, str, str]:
    """Return by how much a sum, or the difference of two, is too long, the parameter with most of it, and words."""
    if step.summed is None or step.batch is None or not step.finite:
        return _NOT_FAR
    if other is None:
        difference, contributions = step.summed, len(step.batch)
        what = f"the sum of clipped gradients of all parameters on {pair.what} has length"
    elif other.summed is None or other.batch is None or not other.finite or step.summed.keys() != other.summed.keys():
        return _NOT_FAR
    else:
        difference = {name: step.summed[name] - values for name, values in other.summed.items()}
        contributions = _contributions(step.batch, other.batch, pair.changed)
        what = f"with {pair.what} the sum of clipped gradients of all parameters moved by"
    lengths = {name: float(np.linalg.norm(values)) for name, values in difference.items()}
    size = max(float(np.linalg.norm(values)) for values in step.summed.values())
    half = pair.second.watch.half and not strict  # there, each gradient is rounded as the batch around it is shaped
    rounding, share = (_HALF, _HALF) if half else (_ROUNDING, _ROUNDING / 100)
    allowed = contributions * training.max_grad_norm * (1 + rounding) + share * size
    length = float(np.linalg.norm(list(lengths.values())))
    if length <= allowed:
        return _NOT_FAR
    most = max(lengths, key=lambda name: lengths[name])
    apart = len(lengths) > 1 and max(lengths.values()) <= allowed
    words = _allowance(other, contributions, training, allowed, apart=apart)
    return length - allowed, most, f"Step {at}: {what} {length:.4g}, most of it in {most}; {words}"


def _allowance(other: Taken | None, contributions: int, training: Training, allowed: float, *, apart: bool) -> str:
    """Return how far a sum may be or move, and what a longer way shows, in words.

    `apart` says that each parameter's sum keeps to that by itself.
    """
    if not contributions:
        return (
            "both batches hold the same records, so that it may not move. The gradients follow records outside of the "
            "batch, as through a mean, a scale or a weight of the whole data set."
        )
    many = f"{contributions} contribution{'' if contributions == 1 else 's'} of norm {training.max_grad_norm:g}"
    why = " A contribution is longer than that: each record's gradient is clipped, before gradients are added."
    if apart:
        why = " Each parameter keeps to that by itself: clip by the norm of all parameters together."
    elif other is not None:
        why = (
            " Either a contribution is longer than that, or a record moves the gradients of the others, as through a "
            "loss that is divided by a sum over the batch, batch normalisation, a mask that the batch seeds, or "
            "clipping of the sum in place of each gradient."
        )
    return f"{many} {'is' if contributions == 1 else 'are'} declared, {allowed:.4g} at most.{why}"


def _contributions(first: Array, second: Array, changed: Array) -> int:
    """Return how many contributions of one record may differ between the sums of two batches."""
    alone = len(np.setdiff1d(first, second)) + len(np.setdiff1d(second, first))
    return alone + 2 * len(np.intersect1d(np.intersect1d(first, second), changed))


def _random_gradients(pair: _Pair) -> bool:
    """Return whether sums follow random numbers beside records, as with dropout, where batches of other sizes draw."""
    if all(
        len(a.batch) == len(b.batch)
        for a, b in zip(pair.first.watch.taken, pair.second.watch.taken, strict=False)
        if a.batch is not None and b.batch is not None
    ):
        return False
    start = pair.first.start
    again = replace(start, script=replace(start.script, batches=pair.first.batches or ()), other_draws=True).run()
    steps = zip(pair.first.watch.taken, again.watch.taken, strict=False)
    return any(
        a.summed is not None and b.summed is not None and not np.array_equal(a.summed[key], b.summed[key])
        for a, b in steps
        for key in a.summed or {}
    )


def _doubt(base: Run) -> str:
    """Return why differences say nothing: the loop does not repeat itself, or does not go on with the given sums."""
    again, script = base.start.run(), base.start.script
    if again.error or _first_difference(base, again)[1] or apart(again.published, base.published, same):
        return "replays: two runs on the same records from one seed differ; draw all randomness from `rng`"
    if not base.watch.readers:
        turned = tuple({name: -values for name, values in sums.items()} for sums in script.sums)
        if replace(base.start, script=replace(script, sums=turned)).run().published == base.published:
            return "replays: go on with what watch.step returns, `released = watch.step(released, summed, batch)`"
    return ""


def _shown_beside(pairs: tuple[_Pair, ...]) -> list[str]:
    """Return what is printed, logged or written and follows the records, in words; times and counters do not."""
    follow: dict[str, None] = {}
    for first, second in ((pair.first, pair.second) for pair in pairs):
        follow |= dict.fromkeys(following((first.channels, second.channels), partial(_again, first, second)))
    return [f"{name}, which follows the records: return what it holds, or leave it out" for name in sorted(follow)]


def _again(first: Run, second: Run) -> tuple[Channels, Channels]:
    """Return what repetitions of two runs show beside."""
    return first.start.run().channels, second.start.run().channels


def _distinct(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the first finding of each rule and place."""
    first: dict[tuple[str, str], Any] = {}
    for finding in findings:
        first.setdefault((str(finding.rule), finding.where), finding)
    return tuple(first.values())
