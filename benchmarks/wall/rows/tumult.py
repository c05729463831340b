"""Rows of Tumult Analytics: what sessions claim of queries, against the noise that they compile for them."""

from collections.abc import Callable
from typing import Any

from benchmarks.wall.row import Row
from dpaudit.adapters import LibraryRelease, adapt
from dpaudit.adapters.finding import library_module

_LIBRARY = "tumult"


def _row(name: str, ask: Callable[[Any, Any], Any], *, rows: int = 1, rho: float | None = None) -> Row:
    """Return the row of one query of a session that protects so many rows, at epsilon .7 or at rho and delta 1e-5."""

    def build() -> LibraryRelease:
        library = library_module("tmlt.analytics", "tmlt.analytics")
        spark = library_module("pyspark.sql", "pyspark").SparkSession.builder.getOrCreate()
        table = spark.createDataFrame([("a", 1, 0.5), ("b", 2, 1.5)], ["city", "age", "hours"])
        budget = library.PureDPBudget(0.7) if rho is None else library.RhoZCDPBudget(rho)
        session = library.Session.from_dataframe(budget, "people", table, library.AddMaxRows(rows))
        query = ask(library.QueryBuilder("people"), library.KeySet.from_dict({"city": ["a", "b", "c"]}))
        return adapt(session, neighbours="add_remove", query=query, budget=budget, delta=1e-5)

    pair = "one row" if rows == 1 else f"{rows} rows"
    return Row(library=_LIBRARY, name=name, pair=f"add_remove, {pair}", runs=1, build=build)


ROWS = (
    _row("count by city", lambda people, cities: people.groupby(cities).count()),
    _row("count by city", lambda people, cities: people.groupby(cities).count(), rows=3),
    _row("sum of ages, integers", lambda people, _: people.sum("age", 0, 120)),
    _row("sum of hours, floats", lambda people, _: people.sum("hours", -1, 24)),
    _row("count by city, zCDP", lambda people, cities: people.groupby(cities).count(), rho=0.1),
    _row("sum of hours, zCDP", lambda people, _: people.sum("hours", -1, 24), rows=2, rho=0.1),
    _row("median of hours", lambda people, _: people.median("hours", 0, 24)),
)
