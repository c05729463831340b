"""Noise of whole numbers need not cost less as it grows, and a calibration says where it does not."""

import pytest

from dpaudit import Claim, Release, Repeat, certify, smallest_noise
from dpaudit.accounting.more_noise import more_noise_of
from dpaudit.accounting.needed_noise import calibration_of
from dpaudit.documents.markdown import markdown
from dpaudit.render.calibration import calibration_document, range_of
from mechanisms import DiscreteGaussian, Gaussian, Laplace

CLAIM = Claim(epsilon=12.0, delta=1e-5, neighbours="replace_one")


def whole(stddev: float) -> Release:
    """A release with noise of whole numbers."""
    return Release(label="count", mechanism=DiscreteGaussian(stddev=stddev, l2_sensitivity=1, neighbours="replace_one"))


def test_a_calibration_says_which_larger_noise_breaks_the_claim() -> None:
    """0.40 meets (12, 1e-5), 0.44 does not, 0.5 does again; certificates agree at each factor."""
    assert [certify(whole(stddev), CLAIM).verdict for stddev in (0.40, 0.44, 0.5)] == [
        "certified",
        "refuted",
        "certified",
    ]
    found = more_noise_of(whole(0.40), CLAIM, 1.0)
    assert found is not None
    ((first, last),) = found.fails
    assert 1.04 < first < 1.1 < last < 1.16
    assert [certify(whole(0.40 * factor), CLAIM).verdict for factor in (first, last)] == ["refuted", "refuted"]


def test_the_words_name_the_range_and_what_was_tried() -> None:
    """In text, Markdown and JSON."""
    calibration = calibration_of(whole(0.40), CLAIM)
    assert calibration.more_noise is not None
    said = range_of(calibration)
    assert said in markdown(calibration_document(calibration))
    assert ("More noise does not always help" in said) == bool(calibration.more_noise.fails)
    assert calibration.to_dict()["more_noise"]["checked"] == 64


@pytest.mark.parametrize("stddev", [0.5, 8.0])
def test_continuous_noise_has_no_such_range(stddev: float) -> None:
    """The twin of the first test: more Gaussian noise always costs less, so that nothing is tried or said."""
    noise = Gaussian(stddev=stddev, l2_sensitivity=1.0, neighbours="replace_one")
    calibration = calibration_of(Release(label="sum", mechanism=noise), CLAIM)
    assert calibration.more_noise is None
    assert range_of(calibration) == ""


@pytest.mark.parametrize("scale", [5.0, 7.6, 8.0, 20.0])
def test_the_noise_that_just_suffices_does_not_depend_on_the_declared_one(scale: float) -> None:
    """Eight Laplace releases against (1, .001) need scale 6.6893; at 8 and 20 delta is 0, which has no slope."""
    noise = Laplace(scale=scale, l1_sensitivity=1.0, neighbours="replace_one")
    tree = Repeat(part=Release(label="sum", mechanism=noise), times=8)
    claim = Claim(epsilon=1.0, delta=1e-3, neighbours="replace_one")
    assert scale * smallest_noise(tree, claim) == pytest.approx(6.6893, rel=1e-4)
