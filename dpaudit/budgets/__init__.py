"""Budgets over time: filters, odometers, and the theorems behind them."""
