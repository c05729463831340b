"""The result of an audit with what the replay of its function shows beside the attack."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from audits.decision.earned import nothing_earned
from audits.decision.results import overruled
from audits.experiment.function_case import FunctionCase
from audits.experiment.neighbours import pair_remarks
from audits.experiment.replays import apart
from audits.experiment.settings import PLAIN, Settings
from audits.experiment.unseen import unseen_outputs
from audits.outputs.calls import as_run
from audits.procedures.neighbour_search import QUICK, SLOW, BestPair, search_neighbours
from audits.procedures.telling_event import telling_event
from audits.replay.boundary_pairs import Seeing, boundary_pairs
from audits.replay.coverage_pairs import Pair, coverage_pairs
from audits.replay.evidence import SeenLaw
from audits.replay.fine_columns import with_exact_columns
from audits.replay.function_replay import FALSE_ALARM, FunctionReplay, replay_function
from audits.replay.kept_state import FreshPlayer, fresh_digests, fresh_player, keeps_state
from audits.replay.one_call import Player
from audits.replay.sighting import Sighting
from audits.replay.unread_columns import unread_columns
from audits.replay.words import column_words, drawn_words
from dpaudit import AuditCase, AuditResult, Claim, DPAuditError, implied_claim
from dpaudit.model.audit_result import LowerBound
from dpaudit.model.case import Run, Score
from dpaudit.model.claim import Neighbours
from dpaudit.model.measures.claims import MeasuredClaim

_ASIDE, _NAMED, _SHOWN = 35_711, 4, 8
GIVEN = "the given pair"
STATE = (
    "Earlier calls move the output of a later one: on one stream, the same data gave another output than in a process "
    "that had served no other data. Keep no state between calls."
)
_APART = " Each data set was replayed in a copy of the process that served no other."
_RUNS_APART = 400
"""So many runs of each data set confirm, at most, what copies of the process show."""

_NO_DRAW = "No draw from rng was seen ({}): its noise could not be replayed, and its outputs alone were attacked."
_UNFOLLOWED = (
    "Replays do not show how the draws enter {}: no law is known there, and the outputs alone were attacked. Draws of "
    "integers or categories, and numbers that are cut, rounded or divided, are not followed."
)
_UNREAD = "The function was not replayed: {:.200}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replayed:
    """A function replayed on some pairs of neighbours; `replay` is None where its outputs cannot be read.

    `unread` says why they cannot. `channels` names what else than its outputs follows the data. `of_pair` holds remarks
    on the given data sets, which stand first.
    """

    run: Run
    seconds: float | None
    pairs: tuple[Pair, ...]
    replay: FunctionReplay | None
    rng: np.random.Generator
    channels: tuple[str, ...] = ()
    unread: str = ""
    of_pair: tuple[str, ...] = ()

    @property
    def violation(self) -> Sighting | None:
        """What breaks the claim among values that occur in the data, as fresh runs confirm or their laws show."""
        return None if self.replay is None else self.replay.violation

    @property
    def quick(self) -> bool:
        """Whether a call of the function is short, so that many more can be made."""
        return self.replay is not None and self.replay.quick

    @property
    def causes(self) -> tuple[str, ...]:
        """What tells data sets apart, in sentences: the most certain first, values that the data do not have last."""
        return *self._named(outside=False), *self._named(outside=True)

    def _named(self, *, outside: bool) -> tuple[str, ...]:
        """Return what tells pairs apart that hold only values of the data, or others."""
        named = () if self.replay is None else self.replay.found[:_NAMED]
        return tuple(_sentence(sighting) for sighting in named if sighting.pair.outside is outside)

    @property
    def beside(self) -> tuple[str, ...]:
        """What the replay saw beside outputs and draws, or could not see, in sentences."""
        if self.replay is None:
            return (_UNREAD.format(self.unread),)
        state = (STATE + _APART * self.replay.apart,) if self.replay.keeps_state else ()
        beside = (
            (
                f"The data show in {' and in '.join(self.channels)}, which no attack reads: return what it holds as an "
                f"output, or leave it out.{_pair_words(self.replay.channels)}",
            )
            if self.channels
            else ()
        )
        source = () if self.replay.draws else (_NO_DRAW.format(", ".join(self.replay.sources) or "no known source"),)
        return (*state, *beside, *source, *self._unfollowed)

    @property
    def _unfollowed(self) -> tuple[str, ...]:
        """A sentence on the numbers whose law is not known; none where all are followed."""
        sightings = () if self.replay is None else self.replay.found
        followed = {
            name
            for sighting in sightings
            if isinstance(sighting.source, SeenLaw) and sighting.shown
            for name in sighting.source.loss.names
        }
        columns = () if self.replay is None else [name for name in self.replay.unfollowed if name not in followed]
        arrays = [name.rpartition("[")[0] if name.endswith("]") else name for name in columns]
        names = list(dict.fromkeys(map(column_words, arrays)))
        if not names:
            return ()
        more = f" and {len(names) - _NAMED} more numbers" if len(names) > _NAMED else ""
        return (_UNFOLLOWED.format(f"{', '.join(names[:_NAMED])}{more}"),)

    @property
    def sound(self) -> bool:
        """Whether nothing was seen that the claim does not allow and that fresh runs did not confirm."""
        replay = self.replay
        if replay is None:
            return True
        judged = all(sighting.shown or sighting.pair.outside for sighting in replay.found)
        return judged and not self.channels and not replay.keeps_state

    def exactly_read(self, case: FunctionCase) -> FunctionCase:
        """Return the case without the columns that follow rounding alone, as the replay of a given pair found them."""
        if self.replay is None or case.score is not None or case.neighbours is not self.pairs[0].neighbours:
            return with_exact_columns(case, self.seconds)
        return replace(case, fine=self.replay.without)

    def attacked(
        self, claim: Claim, *, runs: int, rng: np.random.Generator, score: Score | None = None
    ) -> tuple[Any, tuple[str, ...]]:
        """Return the pair whose outputs to attack, and remarks on the search for it among several."""
        own = self.pairs[:1] if self.replay is None else self.replay.pairs
        plain = [(pair.says, pair.neighbours) for pair in own if not pair.edge]
        edges = [(pair.says, pair.neighbours) for pair in own if pair.edge]
        if len(plain) + len(edges) == 1:
            return (plain or edges)[0][1], ()
        if self.violation is not None and not self.quick:  # it decides, and a search takes minutes
            return self.violation.pair.neighbours, ()
        part = QUICK if self.quick else SLOW
        races = [
            search_neighbours(self.run, group, claim, runs=runs, rng=rng.spawn(1)[0], score=score, part=part)
            for group in (plain, edges)
            if group
        ]
        best = max(races, key=lambda race: (race.name in race.raised, race.promise))
        return best.pair, _searched(best, races, len(own))

    def applied(self, result: AuditResult, pair: tuple[Any, Any]) -> AuditResult:
        """Return the result of an audit of `pair` with the findings of the replay.

        What fresh runs confirmed is a violation. What is not confirmed leaves the audit inconclusive. A value that no
        record of the data has decides nothing, but nothing is consistent beside it. Of a violation the causes stand
        first, and the event that the attack saw.
        """
        if self.violation is not None and result.verdict != "violation":
            result = _accused(result, self.violation)
        elif not self.sound and result.verdict != "violation":
            result = replace(result, verdict="inconclusive", power=nothing_earned(result.power.repetitions))
        elif self.replay is not None and self.replay.found and result.verdict == "consistent":
            result = replace(result, verdict="not_refuted")
        causes, strange, beside = (
            [
                remark
                for remark in remarks
                if not any(told.startswith(remark.partition(":")[0]) for told in result.remarks)
            ]
            for remarks in (self._named(outside=False), self._named(outside=True), self.beside)
        )
        if result.verdict != "violation":
            return replace(result, remarks=(*self.of_pair, *result.remarks, *causes, *strange, *beside))
        event = ""
        if result.attack != "replay":
            event = telling_event(self.run, pair, self.rng, audited=result.runs, seconds=self.seconds)
        drawn = "" if self._explained else self._drawn(pair)
        told_by = (words for words in (event, drawn) if words)
        return replace(result, remarks=(*self.of_pair, *causes, *told_by, *strange, *result.remarks, *beside))

    @property
    def _explained(self) -> bool:
        """Whether a sighting on values of the data names a law, or an event that is certain on one side alone."""
        sightings = () if self.replay is None else self.replay.found
        return any(sighting.shown and sighting.certain and not sighting.pair.outside for sighting in sightings)

    def _drawn(self, pair: tuple[Any, Any]) -> str:
        """Return what enters the numbers of two data sets, in words."""
        if self.replay is None:
            return ""
        player = Player(run=self.run, seconds=self.seconds)
        quiet = [player.call(data, _ASIDE, factor=0.0) for data in pair]
        loud = [player.call(data, _ASIDE, number) for data in pair for number in range(_SHOWN)]
        ours, theirs = (call.numbers for call in quiet)
        return drawn_words([name for name in apart(ours, theirs) if name in ours and name in theirs], quiet, loud)


def with_replay(
    result: AuditResult, case: AuditCase, claim: Claim, rng: np.random.Generator, how: Settings = PLAIN
) -> AuditResult:
    """Return the audit of a declared case with what replays of its function on its own pair show; `rng` stays."""
    looked = replayed(case.run, case.neighbours, None, claim, runs=result.runs, rng=rng, how=how)
    return replace(looked, of_pair=()).applied(result, case.neighbours)


def replayed(
    function: Callable[..., Any],
    neighbours: tuple[Any, Any] | None,
    data: Any,
    claim: Claim,
    *,
    runs: int,
    rng: np.random.Generator,
    how: Settings = PLAIN,
) -> Replayed:
    """Return the replay of a function on a given pair, or on pairs that cover one data set; leaves `rng` alone.

    Digits that only rounding decides are compared with "floating" `arithmetic` alone. Of a claim in its own measure the
    `delta` of `how` is where its epsilon is read; seen laws are held against the claim itself as well.

    The confirmation of one finding takes at most `runs` runs, half of them on each data set.
    Raises: ValueError: both or neither of `neighbours` and `data`, or a `unit` without data.
    """
    _require_data(neighbours, data, how.unit)
    made = claim if isinstance(claim, MeasuredClaim) else None
    claim = claim if made is None else implied_claim(made, how.delta)
    player, aside = Player(run=as_run(function)[0], seconds=how.run_seconds), _aside(rng)
    of_pair = () if neighbours is None else pair_remarks(neighbours, claim)
    with fresh_player(player) as fresh:
        pairs, further = _pairs(player, neighbours, data, claim.neighbours, how.unit)
        looked = Replayed(run=player.run, seconds=player.seconds, pairs=pairs, replay=None, rng=aside, of_pair=of_pair)
        replays = partial(replay_function, pairs=pairs, claim=claim, rng=aside, arithmetic=how.arithmetic, made=made)
        try:
            first_digests = fresh_digests(fresh, pairs)
            replay = replays(player, most=runs // 2, further=further)
            has_state = keeps_state(player, first_digests, pairs[-1].neighbours[0])
        except (DPAuditError, ValueError, TypeError) as error:
            return replace(looked, unread=" ".join(str(error).split()))
        replay = _apart(replay, fresh, replays, runs) if has_state else replay
    heard = replay.channels
    channels = () if heard is None else unseen_outputs(player.run, heard.neighbours, player.seconds)
    return replace(looked, replay=replay, channels=channels)


def _apart(
    replay: FunctionReplay, fresh: FreshPlayer | None, replays: Callable[..., FunctionReplay], runs: int
) -> FunctionReplay:
    """Return the replay of a function that keeps state: of processes of one data set each, if these break the claim.

    Of a function that draws nothing from rng a copy of the process repeats the noise as well, so that it shows nothing.
    """
    with_state = replace(replay, keeps_state=True)
    if fresh is None or not replay.draws or replay.violation is not None:
        return with_state
    with suppress(DPAuditError):
        first = replays(fresh, most=min(runs // 2, _RUNS_APART))
        if first.violation is not None:
            return replace(first, keeps_state=True, apart=True, channels=None)
    return with_state


def _require_data(neighbours: tuple[Any, Any] | None, data: Any, unit: str | None) -> None:
    """Refuse a pair together with one data set, or neither, and a unit of a pair; raises as `replayed`."""
    if (neighbours is None) == (data is None):
        raise ValueError("Expected either data, one data set, or neighbours=(one, other), two data sets.")
    if neighbours is not None and unit is not None:
        raise ValueError(f"Expected unit={unit!r} beside data only; two given data sets are neighbours as they are.")


def _pairs(
    player: Player, neighbours: tuple[Any, Any] | None, data: Any, relation: Neighbours, unit: str | None
) -> tuple[tuple[Pair, ...], Callable[[Seeing], tuple[Pair, ...]] | None]:
    """Return the given pair, or those that cover one data set with what makes more of them from what replays saw."""
    if neighbours is not None:
        return (Pair(says=GIVEN, neighbours=neighbours),), None
    unvaried = unread_columns(player, data, unit)

    def further(seeing: Seeing) -> tuple[Pair, ...]:
        return boundary_pairs(data, relation, unit, seeing, unvaried)

    return coverage_pairs(data, relation, unit, unvaried), further


def _searched(best: BestPair, races: Sequence[BestPair], pairs: int) -> tuple[str, ...]:
    """Return the remarks on searches: the choice, the pairs on which the function raised, and those left out."""
    spent = sum(race.spent for race in races)
    raised = [name for race in races for name in race.raised]
    left_out = [name for race in races for name in race.left_out]
    remarks = [f"Of {pairs} pairs, a search of {spent} other runs chose {best.name!r}."]
    if raised:
        remarks.append(f"The function raised on {', '.join(map(repr, raised))}: an exception is an output of its run.")
    if left_out:
        remarks.append(f"Not attacked: {'; '.join(left_out)}")
    return tuple(remarks)


def _sentence(sighting: Sighting) -> str:
    """Return what a sighting shows as a remark."""
    runs = len(sighting.heard[0])
    if sighting.pair.outside:
        begins, ends = "With a record that the data do not have: ", " It counts where such a record can occur."
    elif sighting.confirmed:
        begins, ends = "", f" {runs} fresh runs of each data set confirm it."
    elif sighting.supposed:
        begins, ends = "", f" All {runs} fresh runs of each data set follow these laws."
    else:
        begins, ends = "", " These runs are too few to confirm it."
    return f"{begins}{sighting.words}{ends}{_pair_words(sighting.pair)}"


def _pair_words(pair: Pair | None) -> str:
    """Return what sets a pair apart, as a sentence; none for the given one."""
    return "" if pair is None or pair.says == GIVEN else f" Pair: {pair.says}."


def _accused(result: AuditResult, sighting: Sighting) -> AuditResult:
    """Return the result as a violation that a confirmed sighting shows."""
    assumption = "" if sighting.confirmed else f"the outputs follow the laws of {len(sighting.heard[0])} replayed runs"
    bound = LowerBound(name="replay", epsilon=sighting.epsilon, significance=FALSE_ALARM, assumption=assumption)
    return overruled(result, bound, sighting.counts, "replay")


def _aside(rng: np.random.Generator) -> np.random.Generator:
    """Return a generator that depends on the seed of `rng`, whose own streams it leaves alone."""
    sequence: Any = getattr(rng.bit_generator, "seed_seq", None)
    if not isinstance(sequence, np.random.SeedSequence):
        return np.random.default_rng(_ASIDE)
    key = (*sequence.spawn_key, _ASIDE)
    return np.random.default_rng(np.random.SeedSequence(entropy=sequence.entropy, spawn_key=key))
