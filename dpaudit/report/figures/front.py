"""The figure of privacy and usefulness: regret a round against certified epsilon, with floors and ceilings."""

from dpaudit.figures.figure import Figure
from dpaudit.study.front import Front
from dpaudit.study.front_plot import front_plot
from dpaudit.wording.numerals import at_most, nearest, whole


def front_figure(front: Front) -> Figure:
    """Return the figure of a front that has a present setting."""
    present = front.present
    levels = ", ".join(f"{level.label} {nearest(level.regret, 3)}" for level in front.levels)
    return Figure(
        name="front",
        title=f"Privacy and usefulness on {front.problem}, {whole(front.horizon)} simulated users",
        description=f"This setting ({present.label}) loses {nearest(present.regret, 3)} a round at certified epsilon "
        f"{at_most(present.epsilon)}. Levels: {levels}. The table has every point.",
        draw=front_plot(front).draw,
    )
