"""What a caller gives, checked: returned as the runtime takes it, or refused with an Error."""
from __future__ import annotations

import math
import operator
import os
from collections.abc import Sequence
from typing import Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from facet._error import Error

Path = Union[str, "os.PathLike[str]"]

_INT_MAX = 2**31 - 1


def path(given: Path) -> bytes:
    """A file's name as the runtime opens it."""
    name = os.fsencode(given)
    if b"\0" in name:
        raise Error(f"expected the path of a file, found {given!r}")
    return name


def integer(given: int, what: str, least: int = 0, most: int = _INT_MAX) -> int:
    """A whole number in a range."""
    number = operator.index(given)
    if not least <= number <= most:
        raise Error(f"{what}: expected {least} to {most}, found {number}")
    return number


def number(given: float, what: str, least: float = 0.0) -> float:
    """A finite number that is not too small."""
    value = float(given)
    if not math.isfinite(value) or value < least:
        raise Error(f"{what}: expected a number of at least {least:g}, found {value:g}")
    return value


def floats(given: ArrayLike, what: str, shape: Sequence[int]) -> NDArray[np.float64]:
    """Numbers of a shape, dense; the caller's own array when it is so already."""
    array = np.asarray(given, dtype=np.float64, order="C")
    if array.shape != tuple(shape):
        raise Error(f"{what}: expected the shape {tuple(shape)}, found {array.shape}")
    return array


def word(given: str | None) -> str:
    """A name in a task's text; None leaves the factor open."""
    if given is None:
        return "*"
    if not isinstance(given, str):
        raise TypeError(f"expected the name of a value, found {given!r}")
    return given
