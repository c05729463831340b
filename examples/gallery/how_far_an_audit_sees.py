"""How far an audit can see.

No attack, however good, shows more than its runs allow: N runs without a single wrong guess show about
ln(N / ln(1 / significance)). The guessing game sees as far as a fair coin allows; two error rates, tested one by one,
see less; and for a large epsilon both need many runs. "Consistent" says little unless the ceiling is well above the
claim, which is why every result prints it.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from audits import ceiling
from audits.bounds import error_rate_bound, guessing_bound


def main() -> Figure:
    """Return the largest epsilon that two bounds can show by the number of runs, at significance 0.05."""
    runs = [int(n) for n in np.logspace(1, 6, 60)]
    figure, axes = plt.subplots()
    for bound, name in ((guessing_bound, "guessing game"), (error_rate_bound, "two error rates")):
        axes.plot(runs, [ceiling(bound, n, 0.0, 0.05) for n in runs], label=name)
    axes.set(xscale="log", xlabel="counted runs", ylabel="largest epsilon that can be shown")
    axes.set_title("The ceiling of an audit, whatever the attack")
    axes.legend(loc="upper left")
    return figure
