"""Independent random streams, one for each purpose, so that noise never shares one with what is published."""

from dataclasses import dataclass

import numpy as np

from dpaudit.model.tape import TapedGenerator


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """The random generators of a run, by purpose.

    `noise` protects privacy and is seen by nobody; `actions` decides published choices; `environment`
    plays nature; `public` draws data-free designs that everybody may see.

    >>> streams = Streams.spawn(np.random.default_rng(0))
    >>> streams.noise is streams.public
    False
    """

    noise: np.random.Generator
    actions: np.random.Generator
    environment: np.random.Generator
    public: np.random.Generator

    @classmethod
    def spawn(cls, rng: np.random.Generator) -> "Streams":
        """Return four streams that are independent of each other; `rng` is advanced."""
        noise, actions, environment, public = rng.spawn(4)
        named = {"noise": noise, "actions": actions, "environment": environment, "public": public}
        for name, stream in named.items():
            if isinstance(stream, TapedGenerator):
                stream.tape.name(stream, name)
        return cls(noise=noise, actions=actions, environment=environment, public=public)
