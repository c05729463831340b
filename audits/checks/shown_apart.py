"""What a replayed program shows beside its published values: printed text, warnings, logs, files, its exceptions' text.

With every release of one run pinned, another run on the same tape must show the same there, whatever the data. What
differs between two runs on the same data, such as times and counters, follows no data.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audits.experiment.channels import shown_beside
from audits.outputs.raised import said_by
from dpaudit.model.trace import Finding

_EXCEPTION = "the text of the exception"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replay:
    """What one replayed run published, the type of the exception that ended it, and what it showed, by channel."""

    published: Any
    ended: str = ""
    channels: dict[str, Any] = field(default_factory=dict[str, Any])


def replayed(program: Callable[[], Any]) -> Replay:
    r"""Return what a program published and showed; an exception is an outcome.

    >>> replayed(lambda: print("sum 3")).channels
    sum 3
    {'printed text': 'sum 3\n'}
    """
    published, ended, said = None, "", {}
    with shown_beside() as shown, np.errstate(all="ignore"):
        try:
            published = program()
        except Exception as error:  # an exception is an output of the audited code
            ended, said = type(error).__name__, {_EXCEPTION: said_by(error)}
    return Replay(published=published, ended=ended, channels=shown.channels | said)


def shown_apart(
    ours: Replay, theirs: Replay, again: tuple[Callable[[], Any], Callable[[], Any]], says: str
) -> Iterator[Finding]:
    """Yield a finding (DPA224) for each channel that shows other things with other data, on one tape.

    `again` runs the two programs once more, where some channel differs.
    """
    names = [
        name
        for name in dict.fromkeys((*ours.channels, *theirs.channels))
        if ours.channels.get(name) != theirs.channels.get(name)
    ]
    if not names:
        return
    first, second = (replayed(program) for program in again)
    for name in names:
        pairs = ((ours, first), (theirs, second))
        if any(one.channels.get(name) != two.channels.get(name) for one, two in pairs):
            continue
        message = (
            f"The data show in {name}, where no noise covers them: every release was equal. Pair: {says.rstrip('.')}."
        )
        yield Finding(rule="DPA224", where=name, message=message)
