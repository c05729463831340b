"""dp-accounting: three events. In a configuration: `[library]`, `object = "dp_accounting_releases:noise"`."""

from dp_accounting import GaussianDpEvent, LaplaceDpEvent, SelfComposedDpEvent

from dpaudit.adapters import adapt


def noise():
    return adapt(SelfComposedDpEvent(GaussianDpEvent(8.0), 10), neighbours="add_remove", delta=1e-5)


def counts():
    return adapt(SelfComposedDpEvent(LaplaceDpEvent(10.0), 10), neighbours="add_remove", delta=1e-5)


def training():
    return adapt(SelfComposedDpEvent(GaussianDpEvent(40.0), 100), neighbours="add_remove", delta=1e-5)
