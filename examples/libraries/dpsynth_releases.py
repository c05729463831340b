"""dpsynth: three mechanisms. In a configuration: `[library]`, `object = "dpsynth_releases:histogram"`."""

import numpy as np
import pandas
from dpsynth import CategoricalAttribute, NumericalAttribute, TabularConfig
from dpsynth.local_mode import initialization

from dpaudit.adapters import adapt

ASKED = {"neighbours": "add_remove", "delta": 1e-5}


def histogram():
    cities = CategoricalAttribute(["a", "b", "c"])
    config = initialization.CategoricalInitializerConfig(name="city", attribute=cities)
    return adapt(config.configure(zcdp_rho=0.5), pair=(np.array(["a"]), np.array(["a", "b"])), **ASKED)


def quantiles():
    ages = NumericalAttribute(min_value=0, max_value=120)
    config = initialization.NumericalInitializerConfig(name="age", num_partitions=4, attribute=ages, max_grid_size=1201)
    return adapt(config.configure(zcdp_rho=0.5), pair=(np.array([3.0, 4.0]), np.array([3.0, 4.0, 99.0])), **ASKED)


def synthesizer():
    domains = {"city": CategoricalAttribute(["a", "b"]), "sex": CategoricalAttribute(["f", "m"])}
    frame = pandas.DataFrame({"city": ["a", "b", "a"], "sex": ["f", "m", "f"]})
    return adapt(TabularConfig(domains=domains).configure(zcdp_rho=0.5), pair=(frame[:2], frame), **ASKED)
