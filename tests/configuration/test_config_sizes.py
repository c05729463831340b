"""Configurations too deep or too large to be read: one line with a remedy, and no crash."""

from pathlib import Path

import pytest

from dpaudit.configuration.config import config_of
from dpaudit.configuration.configuration import Configuration
from dpaudit.errors import ConfigError

CLAIM = '[claim]\nepsilon = 1.0\ndelta = 1e-6\nneighbours = "replace_one"\n\n[declaration]\n'
RELEASE = 'node = "release"\nlabel = "sum"\nmechanism = '
LAPLACE = '{ node = "release", label = "sum", mechanism = { name = "laplace", scale = 3.0, l1_sensitivity = 1.0 } }'


def refusal(text: str) -> str:
    """The one line in which a configuration is refused."""
    with pytest.raises(ConfigError) as caught:
        config_of(Path("deep.toml"), text)
    line = str(caught.value)
    assert "\n" not in line
    return line


def trees(depth: int) -> str:
    """A tree as the leaf of a tree, and so on."""
    noise = '{ name = "gaussian", stddev = 4.0, l2_sensitivity = 1.0 }'
    for _ in range(depth):
        noise = f'{{ name = "tree_aggregation", horizon = 2, leaf = {noise} }}'
    return CLAIM + RELEASE + noise + "\n"


def test_mechanisms_inside_mechanisms_without_end_are_refused() -> None:
    """Whether the parser or the reader gives up; one tree is read."""
    assert "nested too deeply" in refusal(trees(260))
    assert isinstance(config_of(Path("one.toml"), trees(1)), Configuration)


def test_tables_inside_tables_without_end_are_refused() -> None:
    """The parser gives up first, and says so in the same words."""
    part = LAPLACE
    for _ in range(400):
        part = f'{{ node = "sequential", parts = [{part}] }}'
    assert "nested too deeply; write it flatter" in refusal(f'{CLAIM}node = "sequential"\nparts = [{part}]\n')


def test_a_file_too_large_names_its_limit_and_what_to_do() -> None:
    """Ten thousand tables, or a mebibyte; the same parts in one array are read."""
    table = "[[declaration.parts]]\n" + LAPLACE[2:-2].replace(", label", "\nlabel").replace(
        ", mechanism", "\nmechanism"
    )
    many = CLAIM + 'node = "sequential"\n' + (table + "\n") * 9000
    assert "call dpaudit.certify from Python" in refusal(many)
    empty = CLAIM + 'node = "sequential"\n' + "[[declaration.parts]]\n" * 10_001
    assert "write the parts as one array" in refusal(empty)
    few = f'{CLAIM}node = "sequential"\nparts = [{LAPLACE}, {LAPLACE}]\n'
    assert isinstance(config_of(Path("few.toml"), few), Configuration)
