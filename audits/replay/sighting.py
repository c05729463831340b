"""What one pair of neighbours shows on fixed streams, and its confirmation on fresh ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import exp, inf
from typing import Any

from audits.outputs.calls import OUTCOME
from audits.outputs.fields import NUMBER
from audits.replay.allowance import beside_others
from audits.replay.coupled_runs import Coupled, coupled_event
from audits.replay.coverage_pairs import Pair
from audits.replay.decided_events import decided_event
from audits.replay.evidence import ROUNDING, Event, Heard, SeenLaw
from audits.replay.noise_model import LOUD, LOUD_STREAM, LOUDER, NoiseModel, model_with_products
from audits.replay.one_call import QUIET, Call, Calls, Player
from audits.replay.reachable import Reachable, apart
from audits.replay.seen_law import KNOWN, SeenLoss, seen_loss
from audits.replay.words import coupled_words, decided_words, effect_words, event_words, law_words, reach_words
from dpaudit import Claim
from dpaudit.model.audit_result import Counts
from dpaudit.model.measures.claims import MeasuredClaim

_CALLS, _MORE = 6, 27
_SEARCHED = 10
"""In the outputs of so many pairs, the loudest first, one is searched that noise on the other side cannot give."""
_LEAST, _LOOK, _SUPPOSED = 1, 25, 200
_UNSEEN = 0.0505
"""More than 1 - (1e-9)^(1/400): a law that this share of runs does not follow shows in 200 runs of each data set."""

UNREACHABLE, RARE_EVENT = "unreachable", "rare event"
"""The subjects of outputs that no noise on the other data set gives, and that larger noise gives on one alone."""

_TWICE, _RARE = 2, 0.1
"""In loud noise, as a rare event counts what is seen twice at least. Of its share so much is expected of noise of its
own size."""

_REPLAYED = 8_501
_SUSPECTED = 1e-4
_CAUTIOUS = 0.6
"""Of the share of few runs that missed an event, so much is expected of further runs."""
_SELECTED = 0.25
"""The same where the share is the largest of many pairs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sighting:
    """Something that tells the data sets of `pair` apart, as `says` puts it into words; `source` is what shows it.

    Of several sightings with one `subject`, one is confirmed. `margin` says by how much it exceeds what the claim
    allows. `epsilon` is a lower bound once it is `confirmed`, and `heard` what its fresh runs of each side answered. A
    seen law that exceeds the claim by too little for so many runs is `supposed` where all of them follow it. Words for
    an event that first runs of one data set never showed, and a fresh one did, are `sometimes`.
    """

    pair: Pair
    subject: str
    says: str
    margin: float
    source: Event | SeenLaw | Coupled
    sometimes: str = ""
    epsilon: float = 0.0
    heard: Heard = ((), ())
    confirmed: bool = False
    supposed: bool = False

    @property
    def counts(self) -> Counts:
        """The counts of its fresh runs; of laws and coupled runs, which are no guess, how many there were."""
        if isinstance(self.source, Event):
            return self.source.counts(self.heard)
        first, second = map(len, self.heard)
        none = dict.fromkeys(("guesses", "correct", "true_positives", "false_positives"), 0)
        return Counts(runs=first + second, positives=second, negatives=first, **none)

    @property
    def words(self) -> str:
        """The sighting in words, as its fresh runs know it."""
        return self.sometimes if self.sometimes and self.heard[0] and not self.certain else self.says

    @property
    def shown(self) -> bool:
        """Whether fresh runs confirm it, or all of them follow its laws."""
        return self.confirmed or self.supposed

    @property
    def certain(self) -> bool:
        """Whether it is a law, or an event of all its fresh runs on one data set and of none on the other."""
        parted = isinstance(self.source, Event) and self.source.parts(self.heard)
        return isinstance(self.source, SeenLaw) or parted

    def confirmed_on(self, player: Player, claim: Claim, level: float, most: int, seed: int) -> "Sighting":
        """Return the sighting after fresh runs of both sides, at most `most` of each, confirmed where they show it.

        Where so many are too few to confirm an event, it stays a sighting if they part the sides without an exception,
        or would confirm it at a level of 1e-4.

        Guarantee: a function that keeps the claim is confirmed to break it with probability at most `level`; for a
        seen law, if the draws of numpy follow their laws.
        """
        needed = self.source.calls_needed(self.margin, claim, level)
        few = needed > most
        supposed = few and isinstance(self.source, SeenLaw)
        if supposed and most < _SUPPOSED:
            return self
        needed = _SUPPOSED if supposed else min(needed, most)
        heard: tuple[list[Any], list[Any]] = ([], [])
        for end in (needed, needed if supposed else most):  # the runs that chose an event make it look clearer
            for number in range(len(heard[0]), end):
                for side, data in enumerate(self.pair.neighbours):
                    heard[side].append(self.source.heard(player.call(data, seed, side, number), side))
                if number % _LOOK == _LOOK - 1 and self.source.hopeless((tuple(heard[0]), tuple(heard[1])), claim):
                    return replace(self, margin=-inf)
            judged = replace(self, heard=(tuple(heard[0]), tuple(heard[1])))
            if isinstance(self.source, SeenLaw) and supposed:
                if not (all(map(all, judged.heard)) and self._holds_beyond(Calls(player=player), self.source)):
                    return replace(judged, margin=-inf)
                return replace(judged, epsilon=self.source.loss.at(claim.delta), supposed=True)
            judged = replace(judged, epsilon=self.source.epsilon(judged.heard, claim, level / 2))
            if judged.epsilon > claim.epsilon:
                return replace(judged, confirmed=True)
            if not self._suspicious(judged.heard, claim):
                return replace(judged, margin=-inf)
        return judged if few else replace(judged, margin=-inf)

    def _holds_beyond(self, call: Calls, law: SeenLaw) -> bool:
        """Return whether calls on both sides follow a law also where few runs come."""
        sides = zip(law.models, self.pair.neighbours, strict=True)
        return all(model.holds_beyond(call, data, law.loss.reach) for model, data in sides)

    def _suspicious(self, answers: Heard, claim: Claim) -> bool:
        """Return whether runs that are too few to confirm an event speak for it."""
        certain = isinstance(self.source, Event) and self.source.parts(answers)
        return certain or self.source.epsilon(answers, claim, _SUSPECTED) > claim.epsilon


def sightings(
    call: Calls, pair: Pair, claim: Claim, turn: int, made: MeasuredClaim | None = None
) -> tuple[Sighting, ...]:
    """Return the events by which a pair may be told apart: certain ones, and those of the seen law of its noise.

    `turn` is the number of the pair among those that are replayed; `claim` follows from `made`, if that is given.
    """
    sides = [[call(data, _REPLAYED, number) for number in range(_CALLS)] for data in pair.neighbours]
    seen: list[Sighting] = []
    event = _event(sides, pair, claim)
    if event is None and call.traced and not pair.outside:
        event = _rare_event(call, sides, pair, claim)
    if event is not None:
        seen.append(event)
    if pair.unseen:
        return tuple(seen)
    first, second = _models(call, pair)
    additive = all(run.only_additive for calls in sides for run in calls)
    if first is not None and second is not None:
        entering = all(map(_all_enter, (first, second), sides))
        loss = seen_loss(first, second, claim, made, unseen=0.0 if additive and entering else _UNSEEN)
        if loss is not None and loss.names:
            seen.append(_of_law(loss, (first, second), pair))
    drawn = additive and all(run.noise.size for calls in sides for run in calls)
    searched = call.traced and drawn and turn < _SEARCHED and not (pair.outside or explained(call, pair))
    if searched and all(sighting.margin < _CAUTIOUS for sighting in seen):
        seen.extend(_unreachable(call, sides, pair, claim, turn))
    return tuple(seen)


def explained(call: Calls, pair: Pair) -> bool:
    """Return whether calls have one form, and numbers that are answers plus noise, of any size, on both data sets."""
    if unfollowed(call, pair):
        return False
    for model, data in zip(_models(call, pair), pair.neighbours, strict=True):
        loud = [call(data, LOUD_STREAM, number, factor=LOUD) for number in range(LOUDER)]
        first, *others = (*(call(data, _REPLAYED, number) for number in range(_CALLS)), *loud)
        if any(other.form != first.form for other in others):
            return False
        if model is not None and not (
            KNOWN.issuperset(model.of(model.names).laws) and all(map(model.louder(LOUD).explains, loud))
        ):
            return False
    return True


def unfollowed(call: Calls, pair: Pair) -> tuple[str, ...]:
    """Return the numbers that calls on a pair do not show to be an exact answer plus additive noise."""
    followed = [frozenset[str]() if model is None else model.followed for model in _models(call, pair)]
    numbers = dict.fromkeys(name for data in pair.neighbours for name in call(data, _REPLAYED, 0).numbers)
    return tuple(name for name in numbers if not all(name in names for names in followed))


def _models(call: Calls, pair: Pair) -> tuple[NoiseModel | None, NoiseModel | None]:
    """Return the noise models of both data sets."""
    first, second = pair.neighbours
    return _model(call, first), _model(call, second)


def _model(call: Calls, data: Any) -> NoiseModel | None:
    """Return the noise model of one side; more calls are made where some number may sum several draws."""
    if id(data) not in call.models:
        quiet, calls = call.quiet(data), [call(data, _REPLAYED, number) for number in range(_CALLS)]
        model, draws = model_with_products(quiet, tuple(calls)), len(quiet.noise)
        explained = 0 if model is None else len(model.followed)
        if explained < len(quiet.numbers) and 1 < draws <= _MORE - 3:
            calls += [call(data, _REPLAYED, number) for number in range(_CALLS, draws + 3)]
            model = model_with_products(quiet, tuple(calls))
        call.models[id(data)] = model
    return call.models[id(data)]


def _all_enter(model: NoiseModel, calls: Sequence[Call]) -> bool:
    """Return whether all noise of some calls enters numbers that a model knows: other noise may choose them."""
    entering = int((model.matrix != 0).any(axis=0).sum())
    return all(len(call.noise) == entering for call in calls)


def _of_law(loss: SeenLoss, models: tuple[NoiseModel, NoiseModel], pair: Pair) -> Sighting:
    """Return what the seen law of both sides shows."""
    first, second = (model.of(loss.names) for model in models)
    return Sighting(
        pair=pair,
        subject=f"law: {loss.kind}",
        says=law_words(loss, first, second),
        margin=loss.telling,
        source=SeenLaw(loss=loss, models=(first, second)),
    )


def by_coupled_runs(call: Calls, pairs: Sequence[Pair], claim: Claim, level: float, most: int) -> Sighting | None:
    """Return the event that coupled runs of some pair show too often, where `most` runs of each side confirm it.

    Of pairs that laws explain nothing is asked.
    """
    asked = [pair for pair in pairs if not explained(call, pair)]
    numbered_event = coupled_event(call.player, [pair.neighbours for pair in asked], claim)
    if numbered_event is None:
        return None
    number, shown = numbered_event
    source, says = shown.coupled, coupled_words(shown)
    if source.calls_needed(source.growth, claim, level) > most:
        return None
    return Sighting(pair=asked[number], subject="coupled runs", says=says, margin=source.growth, source=source)


def by_decided_event(call: Calls, pairs: Sequence[Pair], claim: Claim, level: float, most: int) -> Sighting | None:
    """Return the event that draws of some pair decide and that exceeds the claim, where `most` runs show it.

    Where they do not, it may be supposed: then it exceeds the claim also if few runs have the law of the other side,
    and each draw decides an event that is too frequent to lie between two positions that were looked at.
    """
    asked = [pair for pair in pairs if not explained(call, pair)]
    numbered_event = decided_event(call.player, [pair.neighbours for pair in asked], claim)
    if numbered_event is None:
        return None
    number, event = numbered_event
    margin, pair, parts = event.loss.margin, asked[number], event.models[0].parts
    says = decided_words(event)
    if len(parts) == 1:
        quiet, loud = [call.quiet(data) for data in pair.neighbours], [call(data, QUIET) for data in pair.neighbours]
        says += effect_words(parts[0].condition.name, quiet, loud)
    allowed = beside_others(claim, _UNSEEN)
    slack = event.loss.often - exp(allowed.epsilon) * event.loss.seldom - allowed.delta
    rare = min(part.share for together in event.models for part in together.parts) < _UNSEEN
    if event.calls_needed(margin, claim, level) > most and (rare or slack <= ROUNDING):
        return None
    return Sighting(pair=pair, subject="decided event", says=says, margin=margin, source=event)


def _event(sides: list[list[Call]], pair: Pair, claim: Claim) -> Sighting | None:
    """Return an event that every run of one side shows and some run of the other does not; best one that none does."""
    found = _one_sided(sides, _LEAST)
    if found is None:
        return None
    event, others = found
    share, shown = len(others) / _CALLS, (sides[event.side][0], others[0], event.side)
    always, sometimes = (event_words(event.name, *shown, always=always) for always in (True, False))
    return Sighting(
        pair=pair,
        subject=f"event {event.name}",
        says=always if share == 1 else sometimes,
        margin=(1.0 if share == 1 else _CAUTIOUS * share) - claim.delta,
        source=event,
        sometimes=sometimes,
    )


def _rare_event(call: Calls, sides: list[list[Call]], pair: Pair, claim: Claim) -> Sighting | None:
    """Return an event that noise of several times its size shows on one side alone; how rare it is nobody knows yet."""
    loud = [[call(data, LOUD_STREAM, number, factor=LOUD) for number in range(LOUDER)] for data in pair.neighbours]
    found = _one_sided([[*calls, *own] for calls, own in zip(loud, sides, strict=True)], _TWICE)
    if found is None:
        return None
    event, others = found
    says = event_words(event.name, sides[event.side][0], others[0], event.side, always=False)
    margin = _RARE * len(others) / LOUDER - claim.delta
    return Sighting(pair=pair, subject=RARE_EVENT, says=says, margin=margin, source=event)


def _one_sided(sides: list[list[Call]], least: int) -> tuple[Event, list[Call]] | None:
    """Return a value that all calls of one side have, and the calls of the other side that do not; None below `least`.

    The value that most of these calls do not have is taken.
    """
    names = dict.fromkeys(name for calls in sides for call in calls for name in call.columns)
    best: tuple[Event, list[Call]] | None = None
    for name, side in product(sorted(names, key=_importance), (0, 1)):
        event = Event(name=name, value=sides[side][0].column(name), side=side)
        others = [call for call in sides[1 - side] if not event.heard(call, side)]
        if len(others) >= least and all(event.heard(call, side) for call in sides[side]):
            best, least = (event, others), len(others) + 1
    return best


def _unreachable(call: Calls, sides: list[list[Call]], pair: Pair, claim: Claim, turn: int) -> Iterator[Sighting]:
    """Yield how often noise on one data set, which gives all of its own outputs, cannot give those of the other one."""
    for side, data in enumerate(pair.neighbours):
        reached = Reachable(name="", value=1.0, side=side, calls=call, data=data)
        if not all(reached.heard(own, side) for own in sides[side]):
            continue
        others = [call(pair.neighbours[1 - side], _REPLAYED, turn, number) for number in range(_CALLS)]
        missed = [
            (near, other) for near, other in ((reached.nearest(run), run) for run in others) if apart(near, other)
        ]
        if len(missed) < _LEAST:
            continue
        name = min(apart(*missed[0]), key=_importance)
        margin = _SELECTED * len(missed) / _CALLS - claim.delta
        says = reach_words(name, *missed[0], side)
        yield Sighting(pair=pair, subject=UNREACHABLE, says=says, margin=margin, source=reached)


def _importance(name: str) -> tuple[bool, bool, int]:
    """Order columns: the outcome first, then forms, then numbers; the whole before its parts."""
    return name != OUTCOME, name.startswith(NUMBER), len(name)
