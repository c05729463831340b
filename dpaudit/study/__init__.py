"""Studies: what privacy costs in usefulness, with contenders compared at equal certified epsilon."""
