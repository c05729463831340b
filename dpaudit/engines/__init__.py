"""Engines: each turns a composition into brackets on delta(epsilon) and epsilon(delta)."""

from dpaudit.engines.basic import BASIC as BASIC
from dpaudit.engines.engine import Engine as Engine
from dpaudit.engines.enumeration import ENUMERATION as ENUMERATION
from dpaudit.engines.gaussian import GAUSSIAN as GAUSSIAN
from dpaudit.engines.rare_samples import RARE as RARE
from dpaudit.engines.renyi import RENYI as RENYI
from dpaudit.engines.single import SINGLE as SINGLE
from dpaudit.engines.tilted.engine import TILTED as TILTED
from dpaudit.engines.tilted.engine import TILTED_COARSE, TILTED_COARSE_UPPER, TILTED_ROUGH, TILTED_SHARP, TILTED_UPPER
from dpaudit.engines.tilted.once import ONCE as ONCE
from dpaudit.engines.tilted.once import ONCE_QUICK as ONCE_QUICK
from dpaudit.engines.tilted.once import ONCE_SOON as ONCE_SOON
from dpaudit.engines.tilted.once import ONCE_UPPER as ONCE_UPPER
from dpaudit.model.bracket import Effort as Effort

ENGINES: tuple[Engine, ...] = (SINGLE, ONCE, GAUSSIAN, BASIC, ENUMERATION, RARE, RENYI, TILTED)
"""The engines the accountant asks, the exact ones first."""

ROUGH: tuple[Engine, ...] = (SINGLE, ONCE_QUICK, GAUSSIAN, BASIC, ENUMERATION, RARE, TILTED_ROUGH)
"""Engines that tell which of several compositions may cost most."""

QUICK: tuple[Engine, ...] = (SINGLE, ONCE_SOON, GAUSSIAN, BASIC, ENUMERATION, RARE, TILTED_COARSE)
"""Engines for searches that ask many times: as sound as the others, and wider where no closed form exists."""

SHARP: tuple[Engine, ...] = (SINGLE, ONCE, GAUSSIAN, BASIC, ENUMERATION, RARE, RENYI, TILTED_SHARP)
"""Engines for the narrowest brackets, several times slower than those that are asked by default."""

BY_EFFORT: dict[Effort, tuple[Engine, ...]] = {"quick": QUICK, "default": ENGINES, "sharp": SHARP}
"""The engines of each effort; every one of them gives proved bounds."""

UPPERS: tuple[Engine, ...] = (SINGLE, ONCE_UPPER, GAUSSIAN, BASIC, ENUMERATION, RARE, TILTED_COARSE_UPPER)
"""The quick engines without the lower side where it is dear: their upper bounds are the same, the lower may be 0."""

PROVED_UPPERS: tuple[Engine, ...] = (SINGLE, ONCE_UPPER, GAUSSIAN, BASIC, ENUMERATION, RARE, RENYI, TILTED_UPPER)
"""Engines for one last proof that a claim is met: as narrow as all of them from above, the lower side left out."""
