"""How long one booking takes with n entries in the chain, on SQLite: a table, in milliseconds.

Usage: python -m benchmarks.ledger_speed
"""

import tempfile
import time
from pathlib import Path

from dpaudit import Claim, Release, certify
from dpaudit.ledger import Account, Entry, Ledger, recompute, store_at
from dpaudit.ledger.entry import GENESIS
from dpaudit.ledger.pricing import encode_prices, prices
from mechanisms import Gaussian

NOW = "2026-01-01T00:00:00+00:00"
CLAIM = Claim(epsilon=0.01, delta=1e-12, neighbours="replace_one", unit="one person")
BUDGET = Claim(epsilon=4.0, delta=1e-5, neighbours="replace_one", unit="one person")


def chain(account, body, length):
    """Return a chain of one account and `length - 1` bookings."""
    entries, previous = [], GENESIS
    for place in range(1, length + 1):
        kind, held = ("open", account.to_dict()) if place == 1 else ("book", body | {"label": f"release {place}"})
        fields = {"kind": kind, "body": held, "created": NOW, "previous": previous}
        entries.append(Entry.made(sequence=place, account=account.name, **fields))
        previous = entries[-1].data["digest"]
    return entries


def main():
    noise = Gaussian(stddev=900.0, l2_sensitivity=1.0, neighbours="replace_one")
    certificate = certify(Release(label="sum", mechanism=noise), CLAIM)
    account = Account(name="data", budget=BUDGET)
    body = {
        "certificate": certificate.to_dict()["digest"],
        "claim": {
            "epsilon": 0.01,
            "delta": 1e-12,
            "neighbours": "replace_one",
            "model": "central",
            "unit": "one person",
        },
        "prices": encode_prices({name: price.cost for name, price in prices(certificate, account.filters()).items()}),
    }
    print("| entries | booking, ms (wall) | ms (CPU) |\n|---:|---:|---:|")
    for length in (10, 100, 1_000, 10_000):
        with tempfile.TemporaryDirectory() as folder:
            ledger = Ledger(store_at(str(Path(folder) / "ledger.db"), create=True))
            entries = chain(account, body, length)
            assert not recompute(entries).findings
            ledger.take(entry.text for entry in entries)
            wall, cpu = time.perf_counter(), time.process_time()
            ledger.book("data", certificate, "measured", NOW)
            print(
                f"| {length:,} | {1e3 * (time.perf_counter() - wall):.1f} | {1e3 * (time.process_time() - cpu):.1f} |"
            )


if __name__ == "__main__":
    main()
