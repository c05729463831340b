"""Observations of a training loop with noisy gradients, compared with what is declared of it.

Training    the declaration's numbers: noise, clipping norm, sampling rate, steps
Watch       the one callback: a loop reports each step, in numpy arrays, from any framework; `steps` holds one step
plant       canaries in feature slots, which pass through the loop's real clipping and noise
conform     the checks, each with the smallest fault that it would have caught
conform_batches, conform_orders    the same of a sampler's batches, or of shuffled orders, alone
"""

from dpaudit.training.batch_checks import DrawnBatches as DrawnBatches
from dpaudit.training.check import Check as Check
from dpaudit.training.conforming import Conformity as Conformity
from dpaudit.training.conforming import conform as conform
from dpaudit.training.planting import Planted as Planted
from dpaudit.training.planting import gradient_canaries as gradient_canaries
from dpaudit.training.planting import plant as plant
from dpaudit.training.sampling import conform_batches as conform_batches
from dpaudit.training.sampling import conform_orders as conform_orders
from dpaudit.training.watching import Slots as Slots
from dpaudit.training.watching import Training as Training
from dpaudit.training.watching import Watch as Watch
