"""Replay of a user's function: neighbours by coverage, each tried on fixed streams, and what they show confirmed.

Each pair is tried once without noise. Pairs that differ in exceptions, form, lines, draws or channels, and those whose
answers move most, are replayed on more streams; what tells their sides apart is confirmed on fresh runs.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from audits.experiment.function_case import Arithmetic
from audits.experiment.global_generators import other_sources
from audits.experiment.replays import apart
from audits.replay.boundary_pairs import Seeing, Sight
from audits.replay.coverage_pairs import Pair
from audits.replay.evidence import ROUNDING
from audits.replay.fine_columns import columns_of_rounding
from audits.replay.one_call import QUIET, Call, Calls, Player
from audits.replay.recording import usual_of
from audits.replay.sighting import (
    RARE_EVENT,
    UNREACHABLE,
    Sighting,
    by_coupled_runs,
    by_decided_event,
    sightings,
    unfollowed,
)
from dpaudit import Claim
from dpaudit.model.measures.claims import MeasuredClaim

FALSE_ALARM = 1e-9
"""The probability, at most, that a replay flags a function that keeps its claim; what it supposes, if that holds."""

_KEPT, _FEW, _STRANGE = 8, 4, 2
"""So many pairs that differ in form, and as many that move numbers; few of those that move most. Of pairs with a
strange value, so many that differ in form and as many that do not."""

_MORE, _PATIENCE = 10, 10_000
"""Of a quick function so many times the runs may confirm what a few runs cannot; so many runs at least, an event that
a draw decides."""

_REMARKED = 1e-3
"""The level at which a value that no record of the data has is confirmed: it is a remark and decides nothing."""

_CONFIRMED, _TRIES = 9, 3
"""So many subjects are confirmed, each on so many pairs at most; the last one is of coupled runs."""

_ATTACKED, _SHARED, _SMALL, _APART, _EDGES = 3, 1, 3, 3, 4
"""The outputs of so many pairs are attacked, beside one that shows something: those that move most, also beside their
own size and among small ones, those of which draws, lines, form or noise are others, and those near which the function
begins to behave differently, one of each kind."""

_MOST_EPSILON = 30.0
"""Against larger claims no number of runs confirms anything: exp(30) of them would be needed."""

_ROUNDED = 1e-6
"""Noise that is added to other answers differs by less, relatively."""

_MOST_FRAMES = 1_000
"""Lines are traced where a call enters at most so many Python functions."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tried:
    """What one try of a pair shows: `apart` names what differs, `moved` the numbers, `shift` how far these move.

    `share` is how far one moves at most, beside its own size and the noise.

    Form, lines, draws and numbers are those of calls without noise; how noise enters is compared on one stream.
    """

    pair: Pair
    apart: frozenset[Hashable]
    moved: frozenset[str]
    shift: float
    share: float
    lines: tuple[str, ...]
    raised: bool
    heard: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FunctionReplay:
    """What a replay of `tried` pairs shows: all that it found, and the pairs to attack by their outputs.

    `found` has sightings on values of the data first, confirmed ones before others; those outside decide nothing. The
    texts, warnings or files of the pair `channels` differ. `keeps_state` says that earlier calls move the output of a
    later one, and `apart` that therefore a copy of the process served each data set alone. `draws` says how often a
    call draws from rng, and `sources` which other sources of randomness it asks. The law of the numbers `unfollowed` is
    not shown on the first pair. A call of a `quick` function enters few Python functions. Columns `without` follow
    rounding alone and were not compared.
    """

    found: tuple[Sighting, ...]
    pairs: tuple[Pair, ...]
    tried: int
    channels: Pair | None = None
    keeps_state: bool = False
    apart: bool = False
    draws: int = 0
    sources: tuple[str, ...] = ()
    unfollowed: tuple[str, ...] = ()
    quick: bool = False
    without: frozenset[str] = frozenset()

    @property
    def violation(self) -> Sighting | None:
        """The sighting that decides, among values that occur in the data: a confirmed one, or else a supposed one."""
        inside = [sighting for sighting in self.found if sighting.shown and not sighting.pair.outside]
        return max(inside, key=lambda sighting: (sighting.confirmed, sighting.epsilon), default=None)


def replay_function(
    player: Player,
    pairs: Sequence[Pair],
    claim: Claim,
    *,
    most: int,
    rng: np.random.Generator,
    further: Callable[[Seeing], Sequence[Pair]] | None = None,
    arithmetic: Arithmetic = "exact",
    made: MeasuredClaim | None = None,
) -> FunctionReplay:
    """Return what replays of `pairs` show; a confirmation takes at most `most` runs of each side.

    `claim` follows from `made`, a claim in its own measure, if that is given: seen laws are held against both.
    `further` returns more pairs from what single calls without noise show. Digits that only rounding decides are
    compared with "floating" `arithmetic` alone.

    Guarantee: a function that keeps the claim on all pairs has a confirmed sighting with probability below 1e-9. A
    sighting that is `supposed` rests on the laws that 200 fresh runs of each side followed: it holds under them alone.
    Raises: DPAuditError: an output that cannot be read.
    """
    first = pairs[0].neighbours[0]
    base, sources = other_sources(lambda: player.call(first, QUIET))
    player = replace(player, usual=usual_of(base.draws))
    if arithmetic == "exact":
        player = replace(player, without=columns_of_rounding(player, pairs[0].neighbours))
    calls = Calls(player=player, traced=player.frames(first, QUIET) <= _MOST_FRAMES)
    more = () if further is None else further(partial(_sight, calls))
    tried = [_tried(calls, pair) for pair in (*pairs, *more)]
    chosen = _kept(tried) if claim.epsilon <= _MOST_EPSILON else ()
    level = FALSE_ALARM / (_CONFIRMED * _TRIES)
    groups = _by_subject(calls, chosen, claim, made)
    later = [group for group in groups if group[0].subject in (UNREACHABLE, RARE_EVENT)]
    judged = [_first_confirmed(group, player, claim, level, most, rng) for group in groups if group not in later]
    looks = (by_decided_event, max(_MORE * most, _PATIENCE)), (by_coupled_runs, _MORE * most)
    for searched, patience in looks if calls.traced else ():
        if not _shown(judged) and (seen := searched(calls, _inside(chosen), claim, level, patience)) is not None:
            judged.append(_first_confirmed([seen], player, claim, level, patience, rng))
    if not _shown(judged):  # this takes many calls
        patience = (_MORE if calls.traced else 1) * most
        judged.extend(_first_confirmed(group, player, claim, level, patience, rng) for group in later)
    findings = sorted(
        (candidate for candidate in judged if candidate.margin > 0),
        key=lambda candidate: (candidate.pair.outside, not candidate.shown),
    )
    return FunctionReplay(
        found=tuple(findings),
        pairs=_to_attack(tried, findings),
        tried=len(tried),
        channels=next((candidate.pair for candidate in tried if candidate.heard and not candidate.pair.outside), None),
        draws=len(base.draws),
        sources=sources,
        unfollowed=unfollowed(calls, pairs[0]) if base.draws else (),
        quick=calls.traced,
        without=player.without,
    )


def _shown(judged: Sequence[Sighting]) -> bool:
    """Return whether some sighting decides."""
    return any(sighting.shown and not sighting.pair.outside for sighting in judged)


def _inside(tried: Sequence[Tried]) -> list[Pair]:
    """Return the pairs of values that the data have."""
    return [trial.pair for trial in tried if not trial.pair.outside]


def _by_subject(calls: Calls, tried: Sequence[Tried], claim: Claim, made: MeasuredClaim | None) -> list[list[Sighting]]:
    """Return the sightings on some pairs by subject, the largest margin first; the most telling subjects.

    Events and laws take turns, so that many certain events do not hide the law that explains them.
    """
    groups: dict[tuple[str, bool], list[Sighting]] = {}
    for turn, trial in enumerate(tried):
        for sighting in sightings(calls, trial.pair, claim, turn, made):
            if sighting.margin > ROUNDING:
                says, sometimes = (_with_lines(words, trial) for words in (sighting.says, sighting.sometimes))
                sighted = replace(sighting, says=says, sometimes=sometimes if sighting.sometimes else "")
                groups.setdefault((sighting.subject, trial.pair.outside), []).append(sighted)
    ranked = [sorted(group, key=_rank, reverse=True) for group in groups.values()]
    ranked.sort(key=lambda group: _rank(group[0]), reverse=True)
    turns = Counter[tuple[bool, type]]()

    def place(group: list[Sighting]) -> tuple[bool, int]:
        kind = group[0].pair.outside, type(group[0].source)
        turns[kind] += 1
        return kind[0], turns[kind]

    return sorted(ranked, key=place)[: _CONFIRMED - 1]


def _first_confirmed(
    group: Sequence[Sighting], player: Player, claim: Claim, level: float, most: int, rng: np.random.Generator
) -> Sighting:
    """Return the first of a few sightings of one subject that fresh runs confirm, or the last that was tried."""
    judged = group[0]
    for sighting in group[:_TRIES]:
        own = _REMARKED if sighting.pair.outside else level
        judged = sighting.confirmed_on(player, claim, own, most, int(rng.integers(2**62)))
        if judged.confirmed or judged.margin > 0:
            break
    return judged


def _rank(sighting: Sighting) -> tuple[bool, float]:
    """Return the rank of a sighting among those of one subject: the values of the data, then the margin."""
    return not sighting.pair.outside, sighting.margin


def _with_lines(says: str, tried: Tried) -> str:
    """Return a sentence with the lines of code that one side of its pair alone runs."""
    return f"{says} Only one of them runs {', '.join(tried.lines[:2])}." if tried.lines else says


def _sight(calls: Calls, data: Any) -> Sight:
    """Return what a watched call of any data set shows; data sets that are gone after it are not kept."""
    seen = calls.player.watched(data, QUIET, traced=calls.traced)
    return Sight(traits=seen.traits, numbers=seen.measures)


def _tried(calls: Calls, pair: Pair) -> Tried:
    """Return what one call of each side shows without noise, and where noise enters otherwise."""
    first, second = (calls.quiet(data) for data in pair.neighbours)
    heard = apart(first.channels, second.channels)
    differing = {*apart(first.facts, second.facts), *heard}
    moved = {name for name, value in first.numbers.items() if second.numbers.get(name, value) != value}
    if calls.traced or not (differing or moved):  # a slow function is called with noise only where nothing else differs
        ours, theirs = (_added(calls, data) for data in pair.neighbours)
        differing |= {("noise", name) for name in ours if name in theirs and _differ(ours[name], theirs[name])}
    return Tried(
        pair=pair,
        apart=frozenset(differing),
        moved=frozenset(moved),
        shift=_shift(first, second),
        share=_share(first, second),
        lines=tuple(f"{name.rpartition('/')[2]}:{line}" for name, line in sorted(first.lines ^ second.lines)),
        raised=bool(first.raised or second.raised),
        heard=bool(heard),
    )


def _added(calls: Calls, data: Any) -> dict[str, float]:
    """Return by how much noise moves each number."""
    quiet, loud = calls.quiet(data).numbers, calls(data, QUIET).numbers
    return {name: value - quiet[name] for name, value in loud.items() if name in quiet}


def _differ(first: float, second: float) -> bool:
    """Return whether noise moves a number otherwise on two data sets, by more than doubles round."""
    return abs(first - second) > _ROUNDED * (abs(first) + abs(second))


def _shift(first: Call, second: Call) -> float:
    """Return how far numbers, by the largest noise of the run, and chances of choices move; infinite if one is lost."""
    ours, theirs = first.numbers, second.numbers
    moves = [abs(ours[name] - theirs[name]) for name in ours if name in theirs]
    total = (float(np.nansum(moves)) / _unit(first) if moves else 0.0) + first.loss_of_choices(second)
    return total if np.isfinite(total) else inf


def _share(first: Call, second: Call) -> float:
    """Return the largest share by which a number moves of its smaller value and the noise: the noise may follow it."""
    ours, theirs = first.numbers, second.numbers
    both = np.array([(ours[name], theirs[name]) for name in ours if name in theirs]).reshape(-1, 2)
    both = both[np.isfinite(both).all(axis=1)]
    shares = np.abs(both[:, 0] - both[:, 1]) / (np.abs(both).min(axis=1) + _unit(first))
    return float(shares.max(initial=0.0))


def _unit(call: Call) -> float:
    """Return the scale of the largest noise of a call; 1 where it draws none."""
    return float(call.scales.max(initial=0.0)) or 1.0


def _kept(tried: Sequence[Tried]) -> tuple[Tried, ...]:
    """Return the pairs to replay: those that move most, two of each kind of difference, and strange values.

    Of a kind one moves most and one is in the middle: what an extreme record moves may be a round number.
    Raising pairs come first among those that differ in form; pairs that move the fewest numbers first among the others.
    Some show nothing without noise: there, noise decides what comes out. Of data sets of few records the one that moves
    most is replayed too: large counts pass or fail a threshold by chance, and those of nobody seldom do.
    """
    ranked = sorted(tried, key=lambda trial: -trial.shift)
    kinds: dict[Hashable, list[Tried]] = {}
    for trial in ranked:
        kinds.setdefault((trial.apart, trial.moved, trial.pair.outside), []).append(trial)
    firsts = [group[place] for group in kinds.values() for place in dict.fromkeys((0, len(group) // 2))]
    firsts.sort(key=lambda trial: (not trial.raised, len(trial.apart) + len(trial.moved)))
    apart = [trial for trial in firsts if trial.apart and not trial.pair.outside]
    moved = [trial for trial in firsts if trial.moved and not trial.apart and not trial.pair.outside]
    outside = [trial for trial in firsts if trial.pair.outside and trial.apart][:_STRANGE]
    outside += [trial for trial in firsts if trial.pair.outside and trial.moved and not trial.apart][:_STRANGE]
    loudest = [trial for trial in ranked if not trial.pair.outside and not trial.raised]
    silent = [trial for trial in loudest if not (trial.apart or trial.moved)]
    spread = silent[:: -(-len(silent) // _KEPT)] if silent else []
    small = [trial for trial in loudest if trial.pair.small]
    chosen = (*loudest[:_FEW], *small[:1], *apart[:_KEPT], *moved[:_KEPT], *outside, *spread)
    return tuple({id(trial): trial for trial in chosen}.values())


def _to_attack(tried: Sequence[Tried], sighted: Sequence[Sighting]) -> tuple[Pair, ...]:
    """Return the pairs whose outputs to attack: one that shows something, those that move most, and a plain one."""
    inside = [candidate for candidate in tried if not candidate.pair.outside]
    shown = [candidate.pair for candidate in sighted if not candidate.pair.outside][:1]
    ranked = sorted(inside, key=lambda candidate: (candidate.raised, -candidate.shift))
    shared = sorted((candidate for candidate in inside if not candidate.raised), key=lambda candidate: -candidate.share)
    small = [candidate.pair for candidate in ranked if candidate.pair.small and not candidate.raised]
    kinds: dict[frozenset[Hashable], Pair] = {}
    for candidate in sorted(ranked, key=lambda candidate: len(candidate.apart)):
        if candidate.apart:
            kinds.setdefault(candidate.apart, candidate.pair)
    edges: dict[Hashable, Pair] = {}
    for candidate in ranked:
        if candidate.pair.edge and (candidate.apart or candidate.moved):
            edges.setdefault((candidate.moved, candidate.pair.edge), candidate.pair)
    told = [*[*kinds.values()][:_APART], *[*edges.values()][:_EDGES]]
    pairs = [
        *shown,
        *(candidate.pair for candidate in (*ranked[:_ATTACKED], *shared[:_SHARED])),
        *small[:_SMALL],
        *told,
    ]
    return tuple({id(pair): pair for pair in pairs}.values())
