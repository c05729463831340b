"""Compare brackets with enumerated small systems: `amplified_truth.py FIRST LAST [counts]`.

The systems are those of `tests/accounting/amplification/test_amplified_systems.py`, one a seed, so that ranges of seeds
can be run one after another. With `counts` they are noisy counts whose record is replaced. Prints each violation (there
must be none) and how far the run is; an interrupted run says which seeds it did.
"""

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.accounting.amplification.test_amplified_systems import (
    ROUNDING,
    below_truth,
    judged,
    judged_count,
)

EVERY = 500
"""Systems between two lines of progress."""
CLOSE = 5e-3
"""How near both ends of a noisy count lie to the truth, relatively."""


def wrong_sides(seed: int, *, counts: bool) -> Iterator[str]:
    """Yield each end of a bracket on the wrong side of the truth, and each that is not as near as it should be."""
    for truth, bracket in (judged_count if counts else judged)(seed):
        if below_truth(truth, bracket):
            yield f"upper {bracket} truth {truth!r}"
        if bracket.lower > truth * (1 + ROUNDING[0]) + ROUNDING[1]:
            yield f"lower {bracket} truth {truth!r}"
        if counts and (bracket.upper > truth * (1 + CLOSE) + 1e-9 or bracket.lower < truth * (1 - CLOSE) - 1e-9):
            yield f"wide {bracket} truth {truth!r}"


def main(first: int, last: int, say: Callable[[str], None], *, counts: bool) -> int:
    wrong = done = 0
    started = time.process_time()
    try:
        for seed in range(first, last):
            for complaint in wrong_sides(seed, counts=counts):
                wrong += 1
                say(f"WRONG at seed {seed}: {complaint}")
            done += 1
            if done % EVERY == 0:
                say(f"{done} systems, {wrong} wrong, {time.process_time() - started:.0f} s")
    except KeyboardInterrupt:
        say("interrupted")
    say(f"seeds {first} to {first + done - 1}: {done} systems, {wrong} wrong, {time.process_time() - started:.0f} s")
    return min(1, wrong)


if __name__ == "__main__":
    ends = [int(argument) for argument in sys.argv[1:] if argument != "counts"]
    sys.exit(main(*ends, lambda text: print(text, flush=True), counts="counts" in sys.argv))
