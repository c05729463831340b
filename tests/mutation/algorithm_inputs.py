"""Configurations of every shipped algorithm, small enough to plant a defect in each of them."""

_CAPRI = """
[algorithm]
name = "capri"
model = "{model}"
epsilon = 2.0
delta = 1e-5
horizon = 1000
calibration = "tight"
kernel = "squared_exponential"
length_scale = 1.0
[problem]
name = "grid"
contexts = 3
actions = 3
length_scale = 1.0
seed = 0
"""

_DUELING = """
[algorithm]
name = "{name}"
epsilon = 2.0
arms = {arms}
{more}
[problem]
name = "{problem}"
{family}
"""

_LINEAR = """
[algorithm]
name = "{name}"
epsilon = 1.0
delta = 1e-5
episodes = {episodes}
steps = 4
dimension = {dimension}
calibration = "tight"
{more}
[problem]
name = "{problem}"
"""

_TABULAR = """
[algorithm]
name = "{name}"
epsilon = 1.0
episodes = 24
steps = 4
[problem]
name = "low_rank"
"""

_ONE_GOOD = 'family = "one_good"'
_SHARES = "shares = [0.14, 0.13, 0.09, 0.64]"

CONFIGURATIONS: dict[str, str] = {
    "capri joint": _CAPRI.format(model="joint"),
    "capri local": _CAPRI.format(model="local"),
    "cell table": """
[algorithm]
name = "cell_table"
epsilon = 2.0
delta = 1e-5
horizon = 1000
[problem]
name = "grid"
contexts = 3
actions = 3
length_scale = 1.0
""",
    "dp_ebs central": _DUELING.format(
        name="dp_ebs",
        arms=5,
        more='horizon = 3000\nwidth = "tight"\ncalibration = "tight"\nremoval = "R2"',
        problem="bradley_terry",
        family=_ONE_GOOD,
    ),
    "dp_ebs central both": _DUELING.format(
        name="dp_ebs",
        arms=5,
        more='horizon = 3000\ncalibration = "tight"',
        problem="bradley_terry",
        family=_ONE_GOOD,
    ),
    "dp_ebs batched planned": _DUELING.format(
        name="dp_ebs",
        arms=5,
        more='horizon = 60000\nvariant = "batched"\nschedule = "planned"',
        problem="bradley_terry",
        family=_ONE_GOOD,
    ),
    "dp_ebs batched": _DUELING.format(
        name="dp_ebs",
        arms=5,
        more='horizon = 60000\nvariant = "batched"\ncalibration = "tight"',
        problem="bradley_terry",
        family=_ONE_GOOD,
    ),
    "dp_ebs champion": _DUELING.format(
        name="dp_ebs",
        arms=5,
        more='horizon = 60000\nvariant = "champion"',
        problem="bradley_terry",
        family=_ONE_GOOD,
    ),
    "dp_ebs local": _DUELING.format(
        name="dp_ebs",
        arms=5,
        more='horizon = 3000\nwidth = "tight"\nmodel = "local"',
        problem="bradley_terry",
        family=_ONE_GOOD,
    ),
    "g_optimal": _DUELING.format(
        name="g_optimal_dueling",
        arms=4,
        more='horizon = 100000\ndimension = 3\npreset = "practical"',
        problem="modechoice",
        family=_SHARES,
    ),
    "lplr": """
[algorithm]
name = "lplr"
epsilon = 1.0
horizon = 1000000
dimension = 2
actions = 2
variant = "fixed"
[problem]
name = "hard_family"
users = 1e6
""",
    "ucrl joint": _LINEAR.format(
        name="ucrl_vtr", episodes=100, dimension=3, more='model = "joint"', problem="random_mixture"
    ),
    "ucrl local": _LINEAR.format(
        name="ucrl_vtr", episodes=100, dimension=3, more='model = "local"', problem="random_mixture"
    ),
    "lsvi": _LINEAR.format(name="lsvi_ucb", episodes=2000, dimension=4, more="least_batches = 5", problem="low_rank"),
    "lsvi switching": _LINEAR.format(
        name="lsvi_ucb",
        episodes=40,
        dimension=4,
        more='schedule = "switching"\nswitches = 5\nthreshold = 0.1\nshift_scale = 1e-4\nregret_unproved = true',
        problem="low_rank",
    ),
    "ucrl mirror": _LINEAR.format(
        name="ucrl_vtr",
        episodes=100,
        dimension=3,
        more='model = "joint"\nsymmetry = "mirror"',
        problem="random_mixture",
    ),
    "dp_ebs discrete": _DUELING.format(
        name="dp_ebs",
        arms=5,
        more='horizon = 3000\nwidth = "tight"\ncalibration = "tight"\nnoise = "discrete"',
        problem="bradley_terry",
        family=_ONE_GOOD,
    ),
    "dp_sgd": """
[algorithm]
name = "dp_sgd"
epsilon = 0.75
delta = 1e-5
noise_multiplier = 4.0
sample_rate = 0.1
steps = 40
max_grad_norm = 0.1
[problem]
name = "affairs"
""",
    "ucrl period": _LINEAR.format(
        name="ucrl_vtr",
        episodes=100,
        dimension=3,
        more='model = "joint"\nplanning_period = 5',
        problem="random_mixture",
    ),
    "ucrl local long": _LINEAR.format(
        name="ucrl_vtr", episodes=150, dimension=3, more='model = "local"', problem="random_mixture"
    ),
    "lplr gaussian": """
[algorithm]
name = "lplr"
epsilon = 1.0
delta = 1e-5
horizon = 1000000
dimension = 2
actions = 2
variant = "fixed"
noise = "gaussian"
[problem]
name = "hard_family"
users = 1e6
""",
    "pucb period": _TABULAR.format(name="pucb").replace("episodes = 24", "episodes = 32\nplanning_period = 5"),
    "pucb": _TABULAR.format(name="pucb"),
    "ldp_obi": _TABULAR.format(name="ldp_obi"),
}
"""The text of each configuration, by name."""
