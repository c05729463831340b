"""Batches of two kinds of records: they show whether a record's gradient follows the other records of its batch.

Where each gradient is clipped by itself, the sum of a batch is linear in how many of its records are of one kind. A
quantile of the batch's norms, its largest norm or its counts of labels bend this line, and one record more of the kind
then moves the sum by more than one clipped gradient. Bisection finds such a record; its pair of runs is the evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audits.training.replay_data import Records
from audits.training.replay_runs import Run
from dpaudit.model.mechanism import Array

OF_TWO_KINDS = "one other record among records of two kinds"

_FIRST_SHARE, _GOLDEN = 0.75, (5**0.5 - 1) / 2
"""Shares of the second kind: three quarters in the first batch; multiples of the golden ratio spread the others."""

_STRAIGHT = 1e-3
"""Sums are linear that differ from the line by no more than this share of their lengths, as by single precision."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoKinds:
    """Two runs of one loop with the same batches and noisy sums, each on records that are all of one kind."""

    first: Run
    second: Run

    def pair_that_bends(self) -> tuple[Run, Run, Array] | None:
        """Return two runs and the place of the one record that differs, where sums of mixed batches are not linear."""
        mixed = self._run(np.flatnonzero(self._second_kind()))
        step = self._most_bent(mixed)
        if step is None:
            return None
        batch = np.asarray(mixed.watch.taken[step].batch)
        differing = np.intersect1d(batch, np.flatnonzero(self._differing()))
        chosen = self._second_kind()[differing]
        members = np.concatenate([differing[chosen], differing[~chosen]])
        fewer = self._steepest(members, step, int(chosen.sum()))
        return self._run(members[:fewer]), self._run(members[: fewer + 1]), members[fewer : fewer + 1]

    def _run(self, second_kind: Array) -> Run:
        """Return the run on records of the first kind, and of the second at some places."""
        ours, theirs = self.first.records, self.second.records
        features, labels = np.array(ours.features), np.array(ours.labels)
        features[second_kind], labels[second_kind] = theirs.features[second_kind], theirs.labels[second_kind]
        return self.first.start.on(Records(features=features, labels=labels)).run()

    def _differing(self) -> Array:
        """Return which records differ between the kinds. Shape: (records,)."""
        ours, theirs = self.first.records, self.second.records
        number = len(ours.labels)
        unlike = (ours.features != theirs.features).reshape(number, -1).any(axis=1)
        differing: Array = unlike | (ours.labels != theirs.labels).reshape(number, -1).any(axis=1)
        return differing

    def _second_kind(self) -> Array:
        """Return which records are of the second kind, in another share of the new records of each batch."""
        chosen, met = np.zeros((2, len(self.first.records.labels)), dtype=bool)
        for number, batch in enumerate(self.first.watch.sampled):
            new = np.unique(batch[~met[batch]])
            share = (_FIRST_SHARE + number * _GOLDEN) % 1
            chosen[new[: round(share * len(new))]] = True
            met[new] = True
        return chosen

    def _most_bent(self, mixed: Run) -> int | None:
        """Return the step whose sum is farthest from the line between the kinds; None where all are linear."""
        bends: dict[int, float] = {}
        differing, chosen = self._differing(), self._second_kind()
        for step in range(min(run.watch.steps for run in (self.first, self.second, mixed))):
            sums = sums_at((self.first, self.second, mixed), step)
            batch = mixed.watch.taken[step].batch
            if batch is None or not differing[batch].any() or not sums:
                continue
            first, second, both = sums
            share = (chosen & differing)[batch].sum() / differing[batch].sum()
            lengths = np.linalg.norm(first) + np.linalg.norm(second)
            bend = float(np.linalg.norm(both - first - share * (second - first)))
            if bend > _STRAIGHT * lengths:
                bends[step] = bend
        return max(bends, key=lambda step: bends[step], default=None)

    def _steepest(self, members: Array, step: int, middle: int) -> int:
        """Return after how many of `members` one more of the second kind moves the sum of a step most, by bisection."""
        low, high = 0, len(members)
        ends = sums_at((self.first, self.second), step)
        while high - low > 1:
            middle = middle if low < middle < high else (low + high) // 2
            alike = sums_at((self.first, self._run(members[:middle])), step)
            if not alike:
                break
            between = alike[1]
            left = np.linalg.norm(between - ends[0]) / (middle - low)
            right = np.linalg.norm(ends[1] - between) / (high - middle)
            low, high = (low, middle) if left >= right else (middle, high)
            ends = [ends[0], between] if left >= right else [between, ends[1]]
        return low


def sums_at(runs: Sequence[Run], step: int) -> list[Array]:
    """Return the sums before noise of a step, one vector for each run; none where one was not told or has other parts.

    Parts are other ones where a loop sums the parameters of those labels alone that are in the batch.
    """
    taken = [each for run in runs for each in run.watch.taken[step : step + 1]]
    told = [each.summed for each in taken if each.summed is not None and each.finite]
    forms = {tuple((name, np.shape(part)) for name, part in sums.items()) for sums in told}
    if len(told) < len(runs) or len(forms) > 1:
        return []
    return [np.concatenate([np.ravel(part) for part in sums.values()]) for sums in told]
