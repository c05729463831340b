"""SmartNoise SQL: three queries. In a configuration: `[library]`, `object = "smartnoise_releases:count"`."""

import pandas
import snsql

from dpaudit.adapters import adapt

COLUMN = {"type": "int", "lower": 0, "upper": 10}
TABLE = {"": {"s": {"t": {"row_privacy": True, "rows": 100, "censor_dims": False, "x": COLUMN}}}}
PAIR = pandas.DataFrame({"x": [1, 2, 3]}), pandas.DataFrame({"x": [1, 2, 3, 10]})
ASKED = {"neighbours": "add_remove", "pair": PAIR, "metadata": TABLE}


def count():
    return adapt(snsql.Privacy(epsilon=1.0, delta=0.01), query="SELECT COUNT(*) FROM s.t", **ASKED)


def total():
    return adapt(snsql.Privacy(epsilon=1.0, delta=0.01), query="SELECT SUM(x) FROM s.t", **ASKED)


def mean():
    return adapt(snsql.Privacy(epsilon=1.0, delta=0.01), query="SELECT AVG(x) FROM s.t", **ASKED)
