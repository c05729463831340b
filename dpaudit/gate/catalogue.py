"""The rules of the gate; the meaning of an identifier never changes."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRule:
    """One kind of issue: what it means, and what to do about it."""

    id: str
    name: str
    level: Level
    short: str
    remedy: str


def _rule(identifier: str, name: str, short: str, remedy: str, level: Level = "error") -> GateRule:
    """Return a rule."""
    return GateRule(id=identifier, name=name, level=level, short=short, remedy=remedy)


_RULES = (
    _rule(
        "DPA001",
        "UnusableConfiguration",
        "The configuration cannot be read or is wrong.",
        "Correct the line that the message names.",
    ),
    _rule(
        "DPA101",
        "ClaimRefuted",
        "The declared releases provably exceed the claim.",
        "Add noise (dpaudit calibrate says how much), release less, or claim a larger epsilon or delta.",
    ),
    _rule(
        "DPA102",
        "ClaimNotProved",
        "What is declared and seen does not prove the claim.",
        "Read the reasons; declare what is missing, or claim what can be proved.",
    ),
    _rule(
        "DPA103",
        "ConditionViolated",
        "A run broke a condition on which the proof rests.",
        "Make the code keep the condition (clip, bound, fix the schedule) or drop it from the argument.",
    ),
    _rule(
        "DPA104",
        "PrintedArgumentInvalid",
        "A step of the argument as printed does not hold as written.",
        "Correct the argument; a certificate that holds anyway rests on the tight reading.",
        "warning",
    ),
    _rule(
        "DPA105",
        "StatedBySupplier",
        "The claim, or a part of it, is a supplier's word and not proved here.",
        "Declare the releases of stated parts, or accept the issue with a reason that names the supplier's evidence.",
    ),
    _rule(
        "DPA106",
        "CheckerDisagrees",
        "The independent checker derives other numbers than the certificate states.",
        "Report the declaration: an engine, a mechanism's loss or the checker is wrong.",
    ),
    _rule(
        "DPA107",
        "ClaimLimitsNothing",
        "The claim is so large that it limits next to nothing.",
        "Claim an epsilon of at most 20 and a delta of at most 0.01, or accept the issue with a reason.",
    ),
    _rule("DPA210", "UndeclaredRelease", "A run released something that is not declared.", "Declare it, or remove it."),
    _rule("DPA211", "MissingRelease", "A declared release never happened.", "Declare what the code does."),
    _rule(
        "DPA212",
        "OtherNoise",
        "A run used other noise, or another sensitivity, than declared.",
        "Sample the mechanism object that is declared.",
    ),
    _rule(
        "DPA213",
        "OtherNumberOfReleases",
        "A run released more or less often than declared.",
        "Declare the number of releases that the code makes.",
    ),
    _rule("DPA214", "ReusedNoise", "The same noise was used twice.", "Draw fresh noise for each release."),
    _rule(
        "DPA220",
        "MovedTooFar",
        "On one tape of noise, a record moved an answer further than its stated sensitivity.",
        "Clip every record where it enters, hostile ones too, or state the larger sensitivity.",
    ),
    _rule(
        "DPA221",
        "OtherReleases",
        "Which releases a run makes, or how it ends, depends on the data.",
        "Fix the releases by public values alone, and refuse no record with an exception.",
    ),
    _rule(
        "DPA222",
        "NoiseFollowsData",
        "The noise of a release depends on the data.",
        "Fix the mechanism before any data is seen.",
    ),
    _rule(
        "DPA223",
        "ShapeFollowsData",
        "The shape of a released answer depends on the data.",
        "Release an array whose shape is public.",
    ),
    _rule(
        "DPA224",
        "ReadsDataAgain",
        "Published values differ with the data although every release was equal.",
        "Compute what is published from the noisy releases alone.",
    ),
    _rule(
        "DPA225",
        "DrawsFollowData",
        "The generator was drawn from a different number of times on the two neighbours.",
        "Draw the same amount of randomness whatever the data; the number of draws must not tell of them.",
    ),
    _rule(
        "DPA226",
        "SeveralParts",
        "One record moved several parts of a parallel composition.",
        "Let each record enter one part, or declare the parts in sequence.",
    ),
    _rule(
        "DPA227",
        "NoiseUsedTwice",
        "Two releases, runs or entries carry the same noise.",
        "Draw fresh noise for each number.",
    ),
    _rule(
        "DPA228",
        "MovedTooOften",
        "One record moved an answer more often than declared.",
        "Let a record enter as often as declared, or declare the number.",
    ),
    _rule(
        "DPA229",
        "NoiseMissing",
        "A published value carries no noise, coarse noise, or other noise than was drawn for it.",
        "Publish what the mechanism returned.",
    ),
    _rule(
        "DPA230",
        "AnotherLaw",
        "Samples of a mechanism do not follow the law that its parameters state.",
        "Correct the sampler; scale, symmetry, tails and independence are those of the stated law.",
    ),
    _rule(
        "DPA301",
        "AuditViolation",
        "An attack on the code shows more leakage than is claimed or declared.",
        "Look for missing noise, a wrong sensitivity or a second read of the data; dpaudit audit repeats the attack.",
    ),
    _rule(
        "DPA302",
        "AuditInconclusive",
        "The audit could not have seen even a gross violation.",
        "Give the audit more runs or a sharper score.",
        "warning",
    ),
    _rule(
        "DPA303",
        "ScoresExceedClaim",
        "Membership scores, if sampled as stated, show more leakage than is claimed.",
        "Check that the sampling is as stated and the scores are of this code; then look for the leak as for DPA301.",
    ),
    _rule(
        "DPA311",
        "NoPoissonSampling",
        "The accountant takes credit for Poisson sampling that does not happen.",
        "Use the loader that make_private returns, or declare sampling = 'shuffled' and claim for replaced records.",
    ),
    _rule(
        "DPA312",
        "OtherRateAccounted",
        "The sampling rate accounted for is not the one drawn or stated.",
        "Declare 1 / number of batches, which is what Opacus draws and accounts for.",
    ),
    _rule(
        "DPA313",
        "CentralLimitAccountant",
        "The GDP accountant's central limit theorem is no bound.",
        "Use the 'prv' or 'rdp' accountant, or dpaudit's own upper bound.",
        "warning",
    ),
    _rule(
        "DPA314",
        "FloatingPointProtectionOff",
        "Noise is drawn in floating point from a generator that is not cryptographic.",
        "State it beside the claim; the proof is about real numbers.",
        "warning",
    ),
    _rule(
        "DPA315",
        "RelationReplaced",
        "An epsilon for a record added or removed is read as one for a record replaced.",
        "Use the upper bound for replace_one, which is larger.",
        "warning",
    ),
    _rule(
        "DPA316",
        "StepsAndSegments",
        "The stated number of steps is not the history's; len(accountant) counts segments.",
        "Sum num_steps over the history.",
    ),
    _rule(
        "DPA317",
        "WeightedSampler",
        "Some records are drawn more often than the accounted rate.",
        "Sample all records with one rate, or account for the largest.",
    ),
    _rule(
        "DPA318",
        "GhostClippingIgnoresNorm",
        "Ghost clipping of Opacus before 1.5.3 clips to norm 1 whatever max_grad_norm says.",
        "Update Opacus to 1.5.3 or later and train again.",
    ),
    _rule(
        "DPA319",
        "TuningUnaccounted",
        "Several runs on the same data chose the settings; one is accounted for.",
        "Declare every run, or tune on public data.",
        "warning",
    ),
    _rule(
        "DPA340",
        "DivisorFollowsRecords",
        "A neighbour's gradients are divided by another integer, so that the scale of the noise differs.",
        "Fix the divisor beforehand and publish it, or claim replace_one, whose neighbours have as many records.",
    ),
    _rule(
        "DPA341",
        "AdaptiveClippingSize",
        "Adaptive clipping divides by the true size of the batch, which is not accounted for.",
        "Clip with a fixed norm, or divide by a size that is fixed beforehand.",
    ),
    _rule(
        "DPA342",
        "LayersMixRecords",
        "A layer mixes the records of a batch, so that clipping each gradient bounds nothing.",
        "Replace batch normalisation by group or layer normalisation.",
    ),
    _rule(
        "DPA320",
        "TrainingNoise",
        "The noise seen in the training loop is smaller than declared.",
        "Hold noise_multiplier times max_grad_norm, and what the noise is added to, against the loop.",
    ),
    _rule(
        "DPA321",
        "TrainingContribution",
        "A record moves the gradient sum further than the clipping norm.",
        "Clip each record's gradient, over all parameters, before summing.",
    ),
    _rule(
        "DPA322",
        "TrainingRate",
        "Records enter batches at another rate than declared.",
        "Declare the rate that the sampler uses.",
    ),
    _rule(
        "DPA323",
        "TrainingDispersion",
        "Records are not sampled independently of earlier steps.",
        "Sample by Poisson, or declare sampling = 'shuffled', which amplifies nothing.",
    ),
    _rule(
        "DPA324",
        "TrainingSteps",
        "The loop took another number of steps than declared.",
        "Declare the steps that are taken.",
    ),
    _rule(
        "DPA325",
        "TrainingNoiseReused",
        "Two steps carry the same noise.",
        "Draw fresh noise in each step.",
    ),
    _rule(
        "DPA326",
        "SamplerDeparts",
        "Batches or orders are not drawn as declared: sizes, single records, records together, or batches again.",
        "Draw each sample afresh, each record by itself with the declared probability, from the generator alone.",
    ),
    _rule(
        "DPA327",
        "TrainingNoiseLaw",
        "The noise of single steps, or its centre, tails or distribution, is not the declared normal law.",
        "Add noise of the declared size in every step, and change nothing of it afterwards.",
    ),
    _rule(
        "DPA330",
        "StepLeaks",
        "One step tells more about a canary than its declared noise allows.",
        "Look at the clipping norm and at the noise of a single step.",
    ),
    _rule(
        "DPA331",
        "RunLeaks",
        "The canaries of one run refute the claim on the whole run.",
        "Read the findings of the other layers; they say where.",
    ),
    _rule(
        "DPA332",
        "TrainingNotFinite",
        "A watched training step released a number that is not finite.",
        "Drop records whose gradient is not finite before gradients are clipped; NaN passes clipping and noise.",
    ),
    _rule(
        "DPA333",
        "TrainingEmptyBatch",
        "A watched training step with an empty batch released no noise.",
        "Add the noise to every step, and take a step where no record was sampled as well.",
    ),
    _rule(
        "DPA334",
        "TrainingRecordTwice",
        "A record stands in a watched training step more than once.",
        "Clip the sum of a record's gradients in the step, or account for as many records as it stands there.",
    ),
    _rule(
        "DPA336",
        "TrainingPublishesMore",
        "The watched loop publishes outputs without declared noise.",
        "Keep losses and metrics of private records to yourself, or declare a noisy release of them.",
    ),
    _rule(
        "DPA337",
        "TrainingFollowsRecords",
        "With other records and the same noisy sums, a replayed loop publishes other weights, rates, steps or values.",
        "Let weights, learning rates, stopping and outputs follow from the noisy sums and public numbers alone.",
    ),
    _rule(
        "DPA401",
        "UsefulnessNotShown",
        "A study of this configuration does not show that it learns; the claim is not affected.",
        "Study a longer horizon, a larger epsilon or tighter noise; a run that ignores its data needs no noise.",
        "warning",
    ),
    _rule(
        "DPA402",
        "Dominated",
        "Another contender lost less at a certified epsilon not larger; the claim is not affected.",
        "Use that contender, or accept the issue with a reason why it does not fit.",
        "warning",
    ),
    _rule(
        "DPA403",
        "UsefulnessNotAssessed",
        "Usefulness was asked for, and no study speaks of this configuration; the claim is not affected.",
        "Run dpaudit study on it and name its study.json in [evidence] study.",
        "warning",
    ),
)
RULES: dict[str, GateRule] = {rule.id: rule for rule in _RULES}
"""Every rule by its identifier, in order."""


def rule_of(identifier: str) -> GateRule:
    """Return a rule; an identifier that this version does not know becomes a rule of level error."""
    if identifier in RULES:
        return RULES[identifier]
    return _rule(identifier, identifier, "The run contradicts its declaration.", "Read the message.")
