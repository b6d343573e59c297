"""Entries of native code for bypassed calls.

They do what a bypass does (see :mod:`.bypass`), without a frame of ours. Calls that give arguments
by name, or leave some out between others, are the bypass's.
"""

from __future__ import annotations

import types
from collections.abc import Hashable
from typing import Final

import numpy as np

from runmat_jit.capture.replay.bailout import EVERY, LetThrough, OfArray
from runmat_jit.capture.tape.lines import hide_our_frames
from runmat_jit.core.epoch import EPOCH_ADDRESS, epoch
from runmat_jit.core.gates import GateWriter, NotForGates

MOST_ELEMENTS: Final = (1 << 63) - 1


def arguments_of(each: LetThrough) -> tuple[Hashable, ...]:
    """The kinds of the arguments, all by position.

    Raises:
        NotForGates: they are given otherwise, or calls are to be counted.

    """
    named = each.kind.named
    given = [of for of in named if of is not None]
    if each.kind.rest or each.kind.more or each.patience is not None:
        raise NotForGates("arguments that are not the function's parameters")
    if None in named[: len(given)]:
        raise NotForGates("an argument that is left out")
    return tuple(given)


def write_entry(write: GateWriter, fn: types.FunctionType, each: LetThrough) -> None:
    """Write an entry for calls of one kind."""
    given = arguments_of(each)
    for register, of in enumerate(given):
        if not isinstance(of, OfArray):
            assert isinstance(of, type), "the class of an argument"
            write.instance(register, of)
            continue
        if isinstance(of.dtype, type) or np.dtype(of.dtype.str) is not of.dtype:
            raise NotForGates("a dtype that is not one object")
        limit = MOST_ELEMENTS if each.below == EVERY else each.below
        write.small_array(register, of.dtype, limit)
    write.word(EPOCH_ADDRESS, epoch())
    write.function(fn)
    write.hand_on(fn, hide_our_frames)
