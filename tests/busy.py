"""What interop says where another program is at a store, and nothing is wrong with either.

How often one is overtaken is a matter of the machine: a test of several writers tries again, as
the sentence asks, and holds to account whatever else is said.
"""

from __future__ import annotations

WAITED = "another interop has been writing here"
"""A writer did not get its turn in the time that it waits."""
MOVES = "is being written by another interop"
"""A reader found another write each time that it looked."""


def busy(said: str) -> bool:
    """Does this ask to try again, since nothing was done?"""
    return WAITED in said or MOVES in said
