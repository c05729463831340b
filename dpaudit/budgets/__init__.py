"""Budgets over time: filters, odometers, and the theorems behind them."""

from typing import TYPE_CHECKING

from dpaudit.runtime.exports import lazy_exports

if TYPE_CHECKING:
    from dpaudit.budgets.filters import Filter as Filter
    from dpaudit.budgets.filters import Refusal as Refusal
    from dpaudit.budgets.filters import advanced_filter as advanced_filter
    from dpaudit.budgets.filters import basic_filter as basic_filter
    from dpaudit.budgets.filters import concentrated_filter as concentrated_filter
    from dpaudit.budgets.filters import gaussian_filter as gaussian_filter
    from dpaudit.budgets.filters import renyi_filter as renyi_filter
    from dpaudit.budgets.odometers import Odometer as Odometer
else:
    __getattr__, __dir__ = lazy_exports(__name__)
