"""Tumult Analytics: three queries. In a configuration: `[library]`, `object = "tumult_releases:count"`."""

from pyspark.sql import SparkSession
from tmlt.analytics import AddOneRow, PureDPBudget, QueryBuilder, Session

from dpaudit.adapters import adapt

TABLE = SparkSession.builder.getOrCreate().createDataFrame([("a", 1), ("b", 2)], ["city", "age"])
SESSION = Session.from_dataframe(PureDPBudget(1.0), "people", TABLE, AddOneRow())
ASKED = {"neighbours": "add_remove", "budget": PureDPBudget(0.5)}


def count():
    return adapt(SESSION, query=QueryBuilder("people").count(), **ASKED)


def total():
    return adapt(SESSION, query=QueryBuilder("people").sum("age", 0, 120), **ASKED)


def median():
    return adapt(SESSION, query=QueryBuilder("people").median("age", 0, 120), **ASKED)
