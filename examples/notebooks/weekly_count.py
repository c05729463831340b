# %% [markdown]
# # A weekly count with pandas, SQL and a ledger
#
# A table has visits. Every week the number of visits is published, and the ledger keeps what the weeks cost together. One visitor may come often, so that
# contributions are bounded first: at most two visits of a visitor count in a week. Then a visitor moves a week's count by at most 2.

# %%
import sqlite3

import numpy as np
import pandas as pd

rng = np.random.default_rng(2027)
visits = pd.DataFrame({"week": rng.integers(1, 7, size=3_000), "visitor": rng.integers(0, 400, size=3_000)})
bounded = visits.groupby(["week", "visitor"]).head(2)
counts = bounded.groupby("week").size()
len(visits), int(counts.sum())
# Out: (3000, 2570)

# %% [markdown]
# The same bound in SQL: a window numbers the visits of each visitor in a week.

# %%
database = sqlite3.connect(":memory:")
visits.to_sql("visits", database, index=False)
bounded_counts = """
    SELECT week, COUNT(*) FROM (
        SELECT week, ROW_NUMBER() OVER (PARTITION BY week, visitor) AS place FROM visits
    ) WHERE place <= 2 GROUP BY week ORDER BY week
"""
dict(database.execute(bounded_counts).fetchall()) == counts.to_dict()
# Out: True

# %% [markdown]
# Whole numbers get whole noise, which is exact: nothing about floating point is assumed. The claim of a week is about all visits of one visitor, who is there or not.

# %%
from dpaudit import Claim, Release, certify
from mechanisms import DiscreteLaplace

UNIT = "one visitor's visits"
claim = Claim(epsilon=0.25, neighbours="add_remove", unit=UNIT)
noise = DiscreteLaplace(scale=8.0, l1_sensitivity=2, neighbours="add_remove")
certificate = certify(Release(label="visits of a week", mechanism=noise), claim)
certificate.verdict, certificate.tight.epsilon.upper
# Out: ('certified', 0.25)

# %% [markdown]
# The account has epsilon = 1 for everything that is ever published about a visitor. A week is booked before its count is published.

# %%
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from dpaudit.ledger import Account, Booking, Ledger, store_at

folder = TemporaryDirectory()
ledger = Ledger(store_at(str(Path(folder.name) / "budget.sqlite"), create=True))
budget = Claim(epsilon=1.0, neighbours="add_remove", unit=UNIT)
ledger.open(Account(name="visits", budget=budget), datetime(2027, 1, 4, tzinfo=UTC).isoformat())


def publish(week: int) -> int | str:
    day = datetime(2027, 1, 4 + week, tzinfo=UTC).isoformat()
    result = ledger.book("visits", certificate, f"week {week}", day)
    if not isinstance(result, Booking):
        return "refused"
    draws = np.random.default_rng(week)  # a seed, so that this page repeats; leave it out in earnest
    return int(noise.release(np.array(counts[week]), draws))


published = {week: publish(week) for week in range(1, 7)}
[week for week, number in published.items() if number == "refused"]
# Out: [5, 6]

# %% [markdown]
# Four weeks cost the whole budget; the fifth is refused, and nothing is published. The counts that are published are some visits off.

# %%
pd.DataFrame({"bounded": counts.head(4), "published": [published[week] for week in range(1, 5)]}).to_string()
# Out:       bounded  published
# Out: week
# Out: 1         414        411
# Out: 2         409        395
# Out: 3         441        435
# Out: 4         440        435

# %%
database.close()
folder.cleanup()
