"""Facts about the runs that teach an attack: whether the outputs can be read, vary, and were returned at all."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.attacks.table import Table
from audits.experiment.views import length, take
from audits.outputs.calls import OUTCOME
from audits.outputs.fields import Fields

_MOST_UNKNOWN = 0.05
_LEAST_RUNS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Remarks on the outputs; with `readable` false, an audit that finds no violation is inconclusive."""

    remarks: tuple[str, ...] = ()
    readable: bool = True


NOTHING_SEEN = Seen()


def seen_in(view: Any) -> Seen:
    """Return what the outputs of labelled runs show.

    Outputs are unreadable where more than one run in twenty holds a category that the other half of the runs does not
    hold, and where no output varies.
    """
    if not isinstance(view, Fields) or length(view) < 2:
        return NOTHING_SEEN
    outcomes = view[OUTCOME][:, 0] if OUTCOME in view else np.zeros(length(view))
    if (outcomes != 0).all():
        return _unreadable("Every run raised an exception: nothing was released that could be attacked.")
    if not Table.learned(view).columns:
        return _unreadable("Every output was the same: neither noise nor data was seen, so nothing can be concluded.")
    if length(view) < _LEAST_RUNS:
        return NOTHING_SEEN
    half = length(view) // 2
    first_half = Table.learned(take(view, np.arange(half)))
    name, share = first_half.unknown(take(view, np.arange(half, length(view))))
    if share > _MOST_UNKNOWN:
        return _unreadable(
            f"The outputs cannot be read: in {share:.0%} of the runs, {name.strip()!r} holds a category that other "
            "runs do not hold. Return its contents as numbers."
        )
    return NOTHING_SEEN


def _unreadable(remark: str) -> Seen:
    """Return that outputs cannot be judged, and why."""
    return Seen(remarks=(remark,), readable=False)
