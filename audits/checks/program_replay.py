"""Replay of a whole program on one tape: the same noise and the same public randomness, with other data.

Three comparisons, none of which needs statistics. Neighbours: each answer moves by its sensitivity at most, as often
as declared. Other people: with all releases pinned, everything published is bitwise the same whatever the data.
Noise: what was published less the exact answer is what was drawn, once.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from audits.checks.laws.mechanism_law import asked_by, law_findings
from audits.checks.looked import Looked, attained, decided, secret_draws
from audits.checks.sampler import SamplerSeen, sampler_seen
from audits.checks.taped_budgets import Budget, overspent
from audits.checks.taped_moves import Limits, moves_of, too_far, too_often
from audits.checks.taped_noise import (
    depending,
    drawn_again,
    noises_of,
    not_as_drawn,
    of_another_law,
    of_other_laws_together,
    used_twice,
)
from audits.checks.taped_run import SEED, Compared, Program, Replay, fields_of, replayed
from audits.checks.taped_totals import too_calm
from dpaudit import AuditCase, Condition, Declaration, Streams, Transcript
from dpaudit.model.case import ReplayCase
from dpaudit.model.tape import RunTape, TapedGenerator
from dpaudit.model.trace import Finding, admit
from dpaudit.model.transcript import RecordedRun, record_run, run_on

_RUNS = 4
_MANY_RUNS = 256
_NUMBERS = 40_000
"""The noise of many runs is read as far as it has so many numbers, and at least twice as many runs as usual."""

_ROWS = 10_000
"""The noise of many runs is read where four runs release at most so many rows."""
_SAMPLERS = 1e-6
"""The significance of all looks at samplers together."""

_LITTLE_NOISE = (1e3, 100.0, 10.0)
_WIDTHS = ("bonus_scale", "width_factor")
_SMALL = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What replays of a program found, and the conditions that they looked at."""

    findings: tuple[Finding, ...]
    conditions: tuple[Condition, ...]


def replay_program(
    algorithm: Any,
    problem: Any,
    declaration: Declaration,
    cases: tuple[AuditCase, ...],
    recorded: RecordedRun | None = None,
) -> Replayed:
    """Return the findings of all replays of `algorithm` on `problem`; a program without a tape has none.

    `recorded` is a run of it that was recorded before; without one, it runs once more.

    Rules: `DPA220` an answer moved further than its sensitivity, `DPA221` other releases or an exception on one side
    only, `DPA224` published values differ although all releases were equal, `DPA227` noise was used twice, `DPA228` a
    record moved an answer more often than declared, or several parts of a parallel composition, `DPA229` noise is
    missing, coarse, of another law or not the one that was drawn, `DPA212` samples of a mechanism do not follow their
    stated law, `DPA326` a sampler that `samplings` names does not draw as declared.

    >>> from algorithms.dp_ebs import DpEbs
    >>> from algorithms.problems import load
    >>> algorithm, problem = DpEbs(epsilon=1.0, horizon=64, arms=4), load("bradley_terry")(arms=4)
    >>> replay_program(algorithm, problem, algorithm.declaration(), ()).findings
    ()
    """
    limits, looked, untaped = Limits.of(declaration), Looked(), Replayed(findings=(), conditions=())
    budgets = tuple(Budget.all_of(declaration))
    all_findings: list[Finding] = []
    first = recorded or record_run(algorithm, problem, n_runs=_RUNS, seed=SEED)
    replays = algorithm.replays(problem) if hasattr(algorithm, "replays") else ()
    own_stream = tuple(_own_stream(algorithm, problem, first))
    samplers = tuple(_samplers(algorithm, problem))
    all_findings += [finding for seen in samplers for finding in seen.findings]
    if first.tape.released:
        looked.admitted, looked.overrun = _admitted(declaration, first), _overrun(limits, first)
        all_findings += _whole_program(algorithm, problem, first, looked)
        untaped = _without_tape(algorithm, problem, declaration, first)
        all_findings += untaped.findings
        replays = (*map(_as_replay, cases), *replays)
    redrawn: list[Finding] = []
    for case in replays:
        for says, *pair in case.pairs:
            all_findings += _neighbours(case, (pair[0], pair[1]), says, limits, looked, budgets)
        redrawn += [finding for pair in case.redrawn for finding in _other_draws(case, pair, looked)]
        for data, other in case.others:
            run = replayed(_on(case, data), RunTape(seed=SEED))
            if run.tape.released:
                all_findings += [*_noise(run.tape, looked), *_with_others(run, _on(case, other), "other users", looked)]
    all_findings += redrawn
    findings = tuple({(finding.rule, finding.where): finding for finding in reversed(all_findings)}.values())[::-1]
    conditions = decided(declaration, findings, looked) if looked.pairs or looked.published else ()
    attaining = attained(algorithm, declaration, looked)
    sampled = (*(seen.condition for seen in samplers), *secret_draws(declaration, samplers, redrawn, looked))
    return Replayed(findings=findings, conditions=(*conditions, *own_stream, *attaining, *sampled, *untaped.conditions))


def _whole_program(algorithm: Any, problem: Any, first: RecordedRun, looked: Looked) -> Iterator[Finding]:
    """Yield findings about a recorded run of the whole program: its noise, its mechanisms, and what else it reads."""
    transcripts: list[Transcript] = []
    program = _program_of(algorithm, problem, transcripts, _RUNS)
    yield from _noise(first.tape, looked)
    yield from _with_others(_recorded(first, program), program, "other users", looked)
    yield from _said_apart(first.transcript, transcripts[0]) if transcripts else ()
    if sum(len(release.runs) for release in first.tape.released) <= _ROWS:
        numbers = sum(release.value.size for release in first.tape.released) / first.transcript.n_runs
        many = int(np.clip(_NUMBERS / max(1.0, numbers), 2 * _RUNS, _MANY_RUNS))
        more = record_run(algorithm, problem, n_runs=many, seed=SEED + 1)
        program = _program_of(algorithm, problem, [], many)
        yield from _noise(more.tape, looked)
        yield from _with_others(_recorded(more, program), program, f"other users, in {many} runs")
    yield from law_findings(asked_by(first.tape))
    yield from _with_little_noise(algorithm, problem)


def _recorded(run: RecordedRun, program: Program) -> Replay:
    """Return a recorded run of a program, beside which nobody listened."""
    return Replay(program=program, tape=run.tape, published=run.published, channels=None)


def _without_tape(algorithm: Any, problem: Any, declaration: Declaration, taped: RecordedRun) -> Replayed:
    """Return what an ordinary run shows beside a taped one: findings of its trace, and violated conditions.

    A tape starts every stream afresh after each release, so that streams that were copied part on it.
    """
    try:
        transcript = algorithm.run(problem, Streams.spawn(np.random.default_rng(SEED)), _RUNS)
    except Exception as error:  # an exception is an output of the audited code
        message = f"The program ends with {type(error).__name__} without a tape, and not on one."
        return Replayed(findings=(Finding(rule="DPA221", where="the program", message=message),), conditions=())
    violated = tuple(condition for condition in transcript.conditions if condition.status == "violated")
    on_tape = {(finding.rule, finding.where) for finding in admit(declaration, taped.transcript.trace)}
    findings = tuple(f for f in admit(declaration, transcript.trace) if (f.rule, f.where) not in on_tape)
    return Replayed(findings=findings, conditions=violated)


def _own_stream(algorithm: Any, problem: Any, first: RecordedRun) -> Iterator[Condition]:
    """Yield a violated condition where noise does not change with the seed of the noise stream, all else equal.

    Such noise is a constant, follows the data, or comes from a stream that serves something else. Noise of a label on
    the tape was drawn from a stream of the tape; nothing more is run where all labels are there.
    """
    taped = {label for release in first.tape.released for label in release.labels}
    if all(line.label in taped or line.fingerprint is None for line in first.transcript.trace):
        return
    tape = RunTape(seed=first.tape.seed, salts={"noise": 1})
    again = run_on(algorithm, problem, tape.generator(), first.transcript.n_runs)
    same = {
        ours.label
        for ours, theirs in zip(first.transcript.trace, again.trace, strict=False)
        if ours.fingerprint is not None and any(ours.fingerprint) and ours.fingerprint == theirs.fingerprint
    }
    if same:
        text = (
            f"Noise follows the seed of its own stream (that of {', '.join(sorted(same))} stays the same whatever that "
            "seed is)."
        )
        yield Condition(kind="own_noise_stream", text=text).seen(holds=False)


def _samplers(algorithm: Any, problem: Any) -> Iterator[SamplerSeen]:
    """Yield what is seen of each sampler that the algorithm names; nothing where it names none."""
    named = algorithm.samplings(problem) if hasattr(algorithm, "samplings") else ()
    for case, rng in zip(named, np.random.default_rng(SEED).spawn(len(named)), strict=True):
        yield sampler_seen(case, rng, _SAMPLERS / len(named))


def _admitted(declaration: Declaration, recorded: RecordedRun) -> int:
    """Return how many releases a run had, if each was declared and came as often as declared; else 0."""
    trace = recorded.transcript.trace
    other = any(finding.rule == "DPA213" for finding in admit(declaration, trace))
    return 0 if other else sum(released.times for released in trace)


def _overrun(limits: Limits, recorded: RecordedRun) -> bool:
    """Return whether a run released some label more often than declared, counting labels that are not declared."""
    times: Counter[str] = Counter()
    for released in recorded.transcript.trace:
        times[released.label] += released.times
    free = {*limits.touched, *limits.paid}
    return any(number > limits.times.get(label, 0) for label, number in times.items() if label not in free)


def _as_replay(case: AuditCase) -> ReplayCase:
    """Return the replay of an audit's own neighbours."""
    first, second = case.neighbours
    return ReplayCase(name=case.name, pairs=((case.description, first, second),), run=case.run)


def _program_of(algorithm: Any, problem: Any, transcripts: list[Transcript], n_runs: int) -> Program:
    """Return the whole program, with everything that any adversary sees; `kept` gets the transcript of each call."""

    def program(rng: TapedGenerator) -> dict[str, Any]:
        transcripts.append(run_on(algorithm, problem, rng, n_runs))
        return RecordedRun(transcript=transcripts[-1], tape=rng.tape).published

    return program


def _said_apart(first: Transcript, second: Transcript) -> Iterator[Finding]:
    """Yield a finding where the texts of conditions, which a certificate prints, differ though releases were equal."""
    texts = tuple(tuple(condition.text for condition in run.conditions) for run in (first, second))
    for ours, theirs in zip(*texts, strict=False):
        if ours != theirs:
            message = f"The data show in the text of a condition, which the certificate prints: {ours!r} or {theirs!r}."
            yield Finding(rule="DPA224", where="conditions", message=message)
            return


def _on(case: ReplayCase, data: Any) -> Program:
    """Return the program of a replay on one data set."""
    return lambda rng: case.run(data, rng, _RUNS)


def _with_others(first: Replay, program: Program, says: str, looked: Looked | None = None) -> Iterator[Finding]:
    """Yield findings where a run and a program with other users, the releases of the run pinned, differ."""
    second = first.again(program, environment=1)
    if looked is not None and not second.ended:
        looked.published += _published(first)
    yield from Compared(first=first, second=second, says=says).findings()


def _other_draws(case: ReplayCase, pair: tuple[Any, Any], looked: Looked) -> Iterator[Finding]:
    """Yield findings where what is published follows secret draws though every release was the same."""
    first = replayed(_on(case, pair[0]), RunTape(seed=SEED))
    if not first.tape.released:
        return
    looked.redrawn += _published(first)
    second = first.again(_on(case, pair[1]))
    yield from Compared(first=first, second=second, says="the same data, and other secret draws").findings()


def _published(run: Replay) -> int:
    """Return how many values a run published."""
    return sum(np.size(value) for value in fields_of(run.published).values())


def _noise(tape: RunTape, looked: Looked) -> Iterator[Finding]:
    """Yield findings about the noise of a recorded run."""
    noises = noises_of(tape)
    looked.noises += sum(noise.values.size for noise in noises.values())
    looked.releases += len(tape.released)
    yield from not_as_drawn(tape)
    yield from drawn_again(tape)
    yield from used_twice(noises)
    yield from too_calm(tape)
    yield from of_another_law(noises)
    yield from depending(noises)
    yield from of_other_laws_together(noises)


def _with_little_noise(algorithm: Any, problem: Any) -> Iterator[Finding]:
    """Yield findings about the same code with so little noise that what it decides follows what it reads.

    Noise can be so large that decisions are the same whatever is read; then a second read of the data would not show.
    """
    quiet, first = _quiet_run(algorithm, problem)
    if first is not None:
        program = _program_of(quiet, problem, [], _RUNS)
        yield from _with_others(_recorded(first, program), program, "other users, with little noise")


def _quiet_run(algorithm: Any, problem: Any) -> tuple[Any, RecordedRun | None]:
    """Return the algorithm at the largest epsilon that it takes of a few, and its run; None where it takes none.

    Bonuses and widths that matter for usefulness only are made small, as a clipped bonus hides what is read.
    """
    small = {name: _SMALL for name in _WIDTHS if hasattr(algorithm, name)}
    for epsilon, more in product(_LITTLE_NOISE, (small, {})):
        with suppress(Exception):  # a setting that the code does not take; another one, or none, is tried
            quiet = replace(algorithm, epsilon=epsilon, **more)
            return quiet, record_run(quiet, problem, n_runs=_RUNS, seed=SEED)
    return algorithm, None


def _neighbours(
    case: ReplayCase,
    pair: tuple[Any, Any],
    says: str,
    limits: Limits,
    looked: Looked,
    budgets: tuple[Budget, ...],
) -> Iterator[Finding]:
    """Yield findings about one pair of neighbours on one tape."""
    first = replayed(_on(case, pair[0]), RunTape(seed=SEED))
    second = first.again(_on(case, pair[1]))
    compared = Compared(first=first, second=second, says=says, where=case.name)
    if not first.tape.released and first.ended == second.ended:
        return
    yield from compared.findings()
    if first.ended != second.ended:
        return
    moves = moves_of(first.tape, second.tape, limits)
    looked.pairs += 1
    looked.moved += len(moves)
    looked.unknown += sum(move.distance is None for move in moves)
    for move in moves if says in case.attaining else ():
        looked.attaining[move.label] = max(looked.attaining.get(move.label, 0.0), move.distance or 0.0)
    often = too_often(moves, limits, _streams(first.tape))
    for finding in (*too_far(moves), *often, *overspent(moves, budgets)):
        yield replace(finding, message=f"{finding.message} Pair: {says.rstrip('.')}.")


def _streams(tape: RunTape) -> dict[str, int]:
    """Return, for each stream of sums, how many of its elements one record may move."""
    allowed: dict[str, int] = {}
    for release in tape.released:
        if release.element is not None:
            for label in release.labels:
                allowed[label] = len(getattr(release.mechanism, "signs", (1,)))
    return allowed
