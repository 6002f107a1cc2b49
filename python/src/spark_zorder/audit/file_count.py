"""How many files a clustering run makes (docs/spec.md, section 2), as far as it says whether one begins."""

from __future__ import annotations

import math

_DEFAULT_TARGET = 256 << 20
_SMALLEST_TARGET = 8 << 20
_WANTED_FILES = 16
_MOST = 1 << 20
# with fewer target files, a run gains next to nothing
_TOO_SMALL = 4


def leaves_alone(size: int, total: int, rows: int) -> bool:
    """Whether a run leaves a partition of `size` bytes alone, if no option sets the number or size of files.

    ``total`` are the bytes of all partitions.
    """
    return _files(size, _target(total), rows) < _TOO_SMALL


def _target(total: int) -> int:
    if total // _DEFAULT_TARGET >= _WANTED_FILES:
        return _DEFAULT_TARGET
    return min(_DEFAULT_TARGET, max(_SMALLEST_TARGET, total // _WANTED_FILES))


def _files(size: int, target: int, rows: int) -> int:
    n = max(1, min(_MOST, math.floor(size / target + 0.5)))
    below = 1 << (n.bit_length() - 1)
    asked = next((p for p in (below, 2 * below) if 0.75 * n <= p <= 1.5 * n), n)
    return max(1, min(asked, rows))
