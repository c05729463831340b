"""Travel by air, train, bus or car: a dueling bandit simulated from 210 travellers' choices.

The table that statistics courses know as the travel mode choice data (Greene and Hensher, 1997): 210 non-business
trips between Sydney, Canberra and Melbourne in 1987, each with the mode that was chosen out of air, train, bus and car.

What a simulation from it can show: a traveller made one choice among four modes and was never asked for a
comparison of two. Luce's choice axiom turns shares into comparisons, P(i over j) = share i / (share i + share j),
and the bandit asks *simulated* people who answer so. The sample was drawn by mode, with few car drivers, so its shares
are those of the sample and not of the population; `shares` puts others in their place. Population shares that textbooks
print for this sample (Greene) are taken from there, and nobody verified them. The features of a mode are the
averages over travellers of its waiting time, cost and time in the vehicle, standardised and shortened to length 1.
"""

from pathlib import Path

import numpy as np

from algorithms.problems.duels import Duels, luce
from algorithms.problems.tables import bundled_table, read_columns
from dpaudit.checks import positive
from dpaudit.errors import ConfigError
from dpaudit.model.mechanism import Array

MODES = ("air", "train", "bus", "car")
"""The four modes, in the order of the table."""

_COLUMNS = ("mode", "choice", "ttme", "invc", "invt")


def modechoice(*, path: Path | None = None, shares: tuple[float, ...] = ()) -> Duels:
    """Return the travel mode problem; `path` takes a file of the same columns in place of the bundled one.

    Parameters: `shares` of air, train, bus and car, in place of those of the sample.

    Raises:
        ConfigError: a file that is unreadable, lacks a column, or holds something that is not a number.
        ValueError: shares that are not four positive numbers.

    >>> modechoice().preferences.shape
    (4, 4)
    """
    source = path if path is not None else bundled_table("modechoice", "modechoice.csv")
    table = read_columns(source, _COLUMNS, delimiter=";")
    chosen = np.bincount(table["mode"][table["choice"] == 1].astype(int), minlength=5)[1:5].astype(float)
    if len(shares) not in (0, 4):
        raise ValueError(f"Expected shares={shares!r} to hold four numbers: {', '.join(MODES)}.")
    weights = np.array([positive("shares", share) for share in shares]) if shares else chosen
    if (weights <= 0).any():
        raise ConfigError(f"{source}: a mode was chosen by nobody; Luce's rule needs every mode chosen once.")
    attributes = np.array(
        [[table[name][table["mode"] == mode].mean() for name in _COLUMNS[2:]] for mode in (1, 2, 3, 4)]
    )
    return Duels(
        name="modechoice",
        description=f"Travel by {', '.join(MODES)}: {int(chosen.sum())} travellers' choices in {source.name}.",
        preferences=luce(weights),
        utilities=np.log(weights / weights.max()),
        features=_standardised(attributes),
        names=MODES,
    )


def _standardised(attributes: Array) -> Array:
    """Return columns with mean 0 and deviation 1, all divided by the length of the longest row."""
    centred = (attributes - attributes.mean(axis=0)) / np.maximum(attributes.std(axis=0), 1e-12)
    return centred / np.linalg.norm(centred, axis=1).max()
