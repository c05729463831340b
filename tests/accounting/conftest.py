"""Shared by the accounting tests: the independent truth."""

import importlib.util
from pathlib import Path

import pytest


def load_oracle():
    """Return the oracle as a module, loaded by its path."""
    spec = importlib.util.spec_from_file_location("accounting_oracle", Path(__file__).with_name("oracle.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def oracle():
    return load_oracle()
