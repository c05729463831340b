"""The declaration: one user sends one message, about one step, or none."""

from algorithms.replayed_lsvi.plan import label_of, plan_of
from algorithms.replayed_lsvi.settings import ReplayedLsviSettings
from dpaudit import Declaration, Local, Parallel, Release

KEY = "the place in the public schedule at which a user comes"
"""What decides which message a user sends, if any."""


def declaration_of(settings: ReplayedLsviSettings) -> Declaration:
    """Return the message about each step, in parallel over users; a user of a main episode sends nothing.

    The values that a message reads were fixed by earlier users' messages, so that it is one Gaussian release.
    """
    mechanism = plan_of(settings).mechanism
    messages = tuple(Release(label=label_of(step), mechanism=mechanism) for step in range(settings.steps))
    return Local(part=Parallel(parts=messages, key=KEY))
