"""The independent checker: it accepts what the certifier makes, and finds every change that carries meaning."""

import ast
import copy
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpaudit import (
    Billboard,
    Cells,
    Certificate,
    Claim,
    Declaration,
    Group,
    Local,
    Parallel,
    Printed,
    Release,
    Repeat,
    Sequential,
    Stated,
    certify,
)
from dpaudit.certificate import digest_of
from dpaudit.verifier import verify
from mechanisms import Gaussian, Laplace, RandomisedResponse

JOINT = Claim(epsilon=1.0, delta=1e-5, neighbours="replace_one", model="joint", unit="one round")
CENTRAL = replace(JOINT, model="central")


def noise(stddev: float, neighbours: str = "replace_one") -> Gaussian:
    return Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours=neighbours)


def printed_argument() -> Declaration:
    slots = math.log(1000)
    stddev = 2 * slots * math.sqrt(math.log(1.25 * slots / 1e-5))
    leaf = Printed(rule="classic_gaussian", epsilon=1 / slots, delta=1e-5 / slots)
    releases = tuple(Release(label=f"epoch {i}", mechanism=noise(stddev), printed=leaf) for i in range(5))
    basic = Printed(rule="basic", epsilon=1.0, delta=1e-5, slots=slots)
    return Billboard(
        part=Parallel(parts=releases, key="the arrival time", printed=basic),
        reads=("their own context",),
        printed=Printed(rule="billboard", epsilon=1.0, delta=1e-5),
    )


LAPLACE = Release(label="counts", mechanism=Laplace(scale=20.0, l1_sensitivity=1.0, neighbours="replace_one"))
RESPONSE = Release(label="bit", mechanism=RandomisedResponse(epsilon=0.5, neighbours="replace_one"))
CASES: dict[str, tuple[Declaration, Claim]] = {
    "printed": (printed_argument(), JOINT),
    "tight": (Billboard(part=Release(label="sum", mechanism=noise(3.7306316351127937))), JOINT),
    "refuted": (Release(label="sum", mechanism=noise(3.0)), CENTRAL),
    "wrong model": (Billboard(part=Release(label="sum", mechanism=noise(30.0))), CENTRAL),
    "stated": (Sequential(parts=(Stated(epsilon=0.2, delta=1e-9, source="vendor"), LAPLACE)), CENTRAL),
    "pure": (Local(part=RESPONSE), Claim(epsilon=0.5, neighbours="replace_one", model="local")),
    "cells": (
        Cells(inside=Release(label="in", mechanism=noise(9.0)), touched=Release(label="out", mechanism=noise(9.0, "add_remove"))),
        CENTRAL,
    ),
    "group": (Group(part=Repeat(part=Release(label="sum", mechanism=noise(90.0)), times=7), size=2), CENTRAL),
}  # fmt: skip


@pytest.fixture(scope="module", params=CASES)
def certificate(request: pytest.FixtureRequest) -> Certificate:
    tree, claim = CASES[request.param]
    return certify(tree, claim)


def test_the_checker_accepts_what_the_certifier_makes(certificate: Certificate) -> None:
    assert verify(certificate.to_json()).complaints == ()


def resealed(data: dict[str, Any]) -> str:
    """The text of a forged certificate whose digest was computed anew."""
    return json.dumps(data | {"digest": digest_of(data)})


def forgeries(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every (path, other value) that changes one number, flag, word or list of a certificate."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from forgeries(value, (*path, key))
    elif isinstance(data, list):
        for i, value in enumerate(data):
            yield from forgeries(value, (*path, i))
        if data:
            yield path, data[:-1]
    elif isinstance(data, bool):
        yield path, not data
    elif isinstance(data, int | float):
        yield path, data * 1.1 + 1e-3
        if data:
            yield path, data * 0.5
            yield path, -data
    else:
        yield path, data + "x"


TEXT = {"label", "sentence", "reasons", "unit", "versions", "message", "where", "name"}
"""Fields that a person reads and no number depends on; a forger of these changes words, not evidence."""


def test_every_forgery_is_found_and_those_resealed_with_a_new_digest_wherever_they_carry_meaning() -> None:
    found, missed = 0, []
    for tree, claim in CASES.values():
        data = json.loads(certify(tree, claim).to_json())
        for path, value in forgeries({key: held for key, held in data.items() if key != "digest"}):
            changed = copy.deepcopy(data)
            place = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            assert not verify(json.dumps(changed)).accepted
            if verify(resealed(changed)).accepted:
                missed.append(path)
            else:
                found += 1
    carrying = [path for path in missed if not TEXT & set(path) and path != ("source_digest",)]
    assert found >= 300
    assert carrying == [], carrying


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"verdict": "certified"}', '{"digest": NaN}'])
def test_what_is_no_certificate_is_rejected_without_a_traceback(text: str) -> None:
    assert not verify(text).accepted


def test_the_checker_imports_nothing_of_what_produced_the_certificate() -> None:
    tree = ast.parse(Path("dpaudit/verifier.py").read_text(encoding="utf-8"))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= {"collections", "dataclasses", "hashlib", "json", "math", "numpy", "scipy", "typing"}
