"""Writes numbers for people."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

UNKNOWN = "-"


def percent(share: float | None) -> str:
    """A share in percent: 12.5 %, 0.04 %. A small share is never 0.0 %, and 100.0 % is exactly all."""
    if share is None:
        return UNKNOWN
    if 0 < share < 0.00005:
        return "< 0.01 %"
    if 0.9995 <= share < 1:
        return "> 99.9 %"
    digits = "0.1" if share == 0 or share >= 0.00995 else "0.01"
    # a half is rounded up, as in the JVM's sentences
    return f"{Decimal(repr(share * 100)).quantize(Decimal(digits), ROUND_HALF_UP)} %"


def times(ratio: float | None) -> str:
    """A ratio: 1.05 x, 13.5 x, 210 x."""
    if ratio is None:
        return UNKNOWN
    digits = 2 if ratio < 9.995 else 1 if ratio < 99.95 else 0
    return f"{ratio:.{digits}f} x"


def count(number: float | None) -> str:
    """A whole number, or a mean with one decimal: 64, 10.9, 2,880,404."""
    if number is None:
        return UNKNOWN
    whole = isinstance(number, int) or number >= 1_000 or number == int(number)
    return f"{number:,.0f}" if whole else f"{number:,.1f}"


def size(number: float | None) -> str:
    """A number of bytes in binary units, as in Spark: 512 B, 8.0 MiB, 1.2 GiB."""
    if number is None:
        return UNKNOWN
    units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
    amount = float(number)
    while abs(amount) >= 1024 and len(units) > 1:
        amount, units = amount / 1024, units[1:]
    whole = units[0] == "B" or abs(amount) >= 99.95
    return f"{amount:,.{0 if whole else 1}f} {units[0]}"


def figure(number: float) -> str:
    """A number with four digits and no exponent: 5, 0.000007298, 12,340."""
    return f"{Decimal(f'{number:.4g}'):,f}"


def things(number: int, name: str, names: str | None = None) -> str:
    """A number with its noun: 1 file, 64 files."""
    return f"{number:,} {name if number == 1 else names or name + 's'}"
