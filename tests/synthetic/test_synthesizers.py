"""Audits of synthesizers find what leaks on tables of 200 rows, leave honest ones alone, and keep risks apart."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

from audits import Settings, Synthetic, audit_synthesizer, when_refuted
from audits.synthetic.columns import table_columns
from dpaudit import Claim, schemas
from dpaudit.documents.markdown import markdown
from dpaudit.documents.terminal import terminal, to_text
from dpaudit.model.mechanism import Array
from dpaudit.model.synthesizer_result import SynthesizerResult
from dpaudit.render.audit import synthesizer_document
from tests.synthetic.synthesizers import (
    HONEST,
    LEAKING,
    ROWS,
    SIZES,
    domain_from_data,
    independent_histograms,
    rare_rows_kept,
    records,
)

ONE = Claim(epsilon=1.0, neighbours="add_remove")


def pair() -> tuple[Array, Array]:
    """Return the table, and the one without the only row of a rare code."""
    table = records(0)
    return table, np.delete(table, ROWS // 2, axis=0)


def audited(synthesizer: Any, runs: int, **settings: Any) -> SynthesizerResult:
    """Return the audit of a synthesizer on the pair at a claim of 1, by default without a control."""
    defaults: dict[str, Any] = {"neighbours": pair(), "rng": np.random.default_rng(0), "how": Settings(control_runs=0)}
    return audit_synthesizer(synthesizer, records(0), ONE, runs=runs, **defaults | settings)


def test_a_domain_from_the_data_is_found_from_one_data_set() -> None:
    """Neighbours by coverage hold the pair; nothing but the table of 200 rows is given."""
    result = audit_synthesizer(domain_from_data, records(0), ONE, runs=160, rng=np.random.default_rng(0))
    assert result.audit.verdict == "violation"
    assert any("Pair: " in remark for remark in result.audit.remarks)


@pytest.mark.parametrize("leaking", LEAKING)
def test_a_synthesizer_that_leaks_a_rare_row_is_found_on_its_pair(leaking: Any) -> None:
    """A domain, a range, a number of rows and a rare row that follow the data, each at a claim of 1."""
    result = audited(leaking, 600)
    assert result.audit.verdict == "violation"
    assert result.audit.epsilon_lower > ONE.epsilon


@pytest.mark.parametrize("honest", HONEST)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_an_honest_synthesizer_is_not_flagged(honest: Any, seed: int) -> None:
    """On the pair that the leaking ones fail; a false alarm has probability 1e-9."""
    result = audited(honest, 600, rng=np.random.default_rng(seed), significance=1e-9)
    assert result.audit.verdict != "violation"


def test_an_audit_that_may_stop_early_takes_the_same_synthesizers() -> None:
    """A row that is kept is found long before all runs are used."""
    result = audit_synthesizer(
        rare_rows_kept,
        records(0),
        ONE,
        neighbours=pair(),
        runs=4_000,
        rng=np.random.default_rng(0),
        stop=when_refuted,
    )
    assert result.audit.verdict == "violation"
    assert result.audit.runs < 2_000


def test_a_published_model_is_told_by_its_likelihood() -> None:
    """The table is honest and the model beside it has no noise: only the likelihood shows it."""

    def with_model(data: Array, rng: np.random.Generator) -> Synthetic:
        shares = np.bincount(data[:, 0].astype(int), minlength=SIZES[0]) / max(1, len(data))
        return Synthetic(
            table=independent_histograms(data, rng),
            log_likelihood=lambda rows: np.log(shares[rows[:, 0].astype(int)] + 1e-9),
        )

    result = audited(with_model, 400)
    assert result.audit.verdict == "violation"
    assert any("log likelihood" in remark for remark in result.audit.remarks)


def test_frames_with_texts_numbers_and_missing_values_are_read() -> None:
    """A category comes out only where a record has it, in a frame, from a function of the data alone."""
    frame = pd.DataFrame({"age": np.arange(60.0), "job": ["clerk"] * 59 + ["pilot"], "town": [None, "north"] * 30})
    own = np.random.default_rng(5)

    def over_occurring(data: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({name: own.choice(data[name].unique(), 40) for name in data})

    result = audit_synthesizer(
        over_occurring,
        frame,
        ONE,
        neighbours=(frame, frame.iloc[:-1]),
        runs=600,
        rng=np.random.default_rng(0),
        how=Settings(control_runs=0),
    )
    assert result.audit.verdict == "violation"
    assert result.audit.view == "synthetic table"


def with_categories(data: pd.DataFrame, jobs: pd.Series) -> pd.DataFrame:
    """Return jobs whose type lists the categories that occur in the data."""
    return pd.DataFrame({"job": pd.Categorical(jobs, categories=sorted({*data["job"], "clerk", "cook"}))})


def with_labels(data: pd.DataFrame, jobs: pd.Series) -> pd.DataFrame:
    """Return jobs under the labels of records."""
    return pd.DataFrame({"job": jobs.to_numpy()}, index=jobs.index % len(data))


def in_order(data: pd.DataFrame, jobs: pd.Series) -> pd.DataFrame:
    """Return jobs in their order, but where a record is a pilot's."""
    return pd.DataFrame({"job": jobs if "pilot" in {*data["job"]} else jobs.sort_values().to_numpy()})


def with_attributes(data: pd.DataFrame, jobs: pd.Series) -> pd.DataFrame:
    """Return jobs in a frame that names the most special record."""
    frame = pd.DataFrame({"job": jobs})
    frame.attrs["last"] = max(data["job"])
    return frame


def honest_form(data: pd.DataFrame, jobs: pd.Series) -> pd.DataFrame:
    """Return jobs alone, which do not depend on the data."""
    return pd.DataFrame({"job": jobs})


@pytest.mark.parametrize("form", [with_categories, with_labels, in_order, with_attributes, honest_form])
def test_what_a_frame_carries_beside_its_values_is_attacked(form: Any) -> None:
    """The values are drawn without the data: categories of a type, labels, order or attributes of a frame tell."""
    frame = pd.DataFrame({"job": ["clerk"] * 59 + ["pilot"]})
    result = audit_synthesizer(
        lambda data, rng: form(data, pd.Series(rng.choice(["clerk", "cook"], 60))),
        frame,
        ONE,
        neighbours=(frame, frame.iloc[:-1]),
        runs=400,
        rng=np.random.default_rng(0),
        how=Settings(control_runs=0),
    )
    assert (result.audit.verdict == "violation") == (form is not honest_form)


@pytest.fixture(scope="module")
def small() -> SynthesizerResult:
    """Return a result of few runs."""
    return audited(independent_histograms, 40)


def test_risks_are_beside_the_verdict_and_have_base_rates(small: SynthesizerResult) -> None:
    """A copy of the records links every one of them; a violation of the audit needs no risk, nor the reverse."""

    def copied(data: Array, rng: np.random.Generator) -> Array:
        return data[rng.permutation(len(data))]

    table = np.random.default_rng(3).integers(0, 40, (ROWS, 4))
    loose = Claim(epsilon=12.0, neighbours="replace_one")
    pair_of_rows = table, np.concatenate([table[:-1], table[:1]])
    result = audit_synthesizer(
        copied,
        table,
        loose,
        neighbours=pair_of_rows,
        runs=40,
        rng=np.random.default_rng(0),
        how=Settings(control_runs=0),
    )
    assert result.audit.verdict != "violation"
    linked = next(risk for risk in result.risks if risk.name == "linkability")
    assert (linked.rate.right, linked.rate.attacks, linked.above_base) == (ROWS // 2, ROWS // 2, True)
    assert linked.base.rate < 0.5
    assert [risk.name for risk in small.risks] == ["singling out", "linkability", "attribute inference"]
    assert not any(risk.above_base for risk in small.risks)


def test_json_text_and_markdown_set_the_risks_apart(small: SynthesizerResult) -> None:
    """The schema holds; both texts say that the risks are no part of the verdict, after the verdict."""
    Draft202012Validator(schemas.load("synthesizer")).validate(json.loads(small.to_json()))
    shown = synthesizer_document(small)
    for text in (to_text(terminal(shown), 100), markdown(shown)):
        verdict, risks = text.upper().index("INCONCLUSIVE"), text.index("Disclosure risks, no part of the verdict")
        assert verdict < risks < text.index("linkability")


def test_few_records_and_no_table_are_said_to_be_unmeasured() -> None:
    """Ten records have no halves to compare; a table without rows is no table."""
    few = records(0)[:10]
    neighbours = few, few[1:]

    def nothing(data: Array, rng: np.random.Generator) -> Array:
        del rng
        return data[:0]

    settings: dict[str, Any] = {"runs": 40, "rng": np.random.default_rng(0), "how": Settings(control_runs=0)}
    short = audit_synthesizer(independent_histograms, few, ONE, neighbours=neighbours, **settings)
    assert short.risks == ()
    assert "fewer than 20 records" in markdown(synthesizer_document(short))
    empty = audit_synthesizer(nothing, records(0), ONE, neighbours=pair(), **settings)
    assert empty.risks == ()
    assert "no row" in empty.unmeasured


def test_a_table_without_rows_has_columns_without_values() -> None:
    """An array of no rows is read by column, as an array of some rows is."""
    assert table_columns(np.zeros((0, 2))) == {"column 0": [], "column 1": []}


def test_a_function_of_another_form_is_refused_by_name() -> None:
    """Two needed parameters beside the data, and none at all."""

    def three(data: Array, rng: np.random.Generator, epsilon: float) -> Array:
        del rng, epsilon
        return data

    for function in (three, lambda: None):
        with pytest.raises(ValueError, match="Expected fit_and_sample to be a function of"):
            audit_synthesizer(function, records(0), ONE, runs=40, rng=np.random.default_rng(0))
