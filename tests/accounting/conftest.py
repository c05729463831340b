"""Shared by the accounting tests: the independent truth, and random compositions."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.narrowing import present


def load(name: str) -> ModuleType:
    """Return a module of this folder, loaded by its path."""
    spec = importlib.util.spec_from_file_location(f"accounting_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(present(spec))
    spec.loader.exec_module(module)
    return module


def load_oracle() -> ModuleType:
    """Return the oracle as a module."""
    return load("oracle")


@pytest.fixture(scope="session")
def oracle() -> ModuleType:
    return load_oracle()


@pytest.fixture(scope="session")
def drawing() -> ModuleType:
    return load("drawing")
