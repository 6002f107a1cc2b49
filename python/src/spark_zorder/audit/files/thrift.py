"""Structs of Thrift's compact protocol, in which Parquet writes its footers."""

from __future__ import annotations

import struct
from typing import Any

# from the number of a field to its value; lists are lists, strings are bytes
Struct = dict[int, Any]

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12


def read(data: bytes, last: int | None = None) -> Struct:
    """Reads the struct at the beginning of the data, or its fields up to the ``last`` one.

    Raises ValueError if there is none.
    """
    try:
        return _struct(data, 0, last)[0]
    except (IndexError, RecursionError, struct.error) as error:
        raise ValueError("no struct of Thrift's compact protocol") from error


def _struct(data: bytes, at: int, last: int | None = None) -> tuple[Struct, int]:
    found: Struct = {}
    number = 0
    while True:
        head = data[at]
        at += 1
        if head == 0:
            return found, at
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        kind = head & 15
        if kind in (_TRUE, _FALSE):
            found[number] = kind == _TRUE
        else:
            found[number], at = _value(data, at, kind)
        if number == last:
            return found, at


def _value(data: bytes, at: int, kind: int) -> tuple[Any, int]:
    if 4 <= kind <= 6:
        return _integer(data, at)
    if kind == _BINARY:
        length, at = _unsigned(data, at)
        end = at + length
        if end > len(data):
            raise ValueError("a string ends behind the end")
        return data[at:end], end
    if kind == _STRUCT:
        return _struct(data, at)
    if kind in (_LIST, _SET):
        return _list(data, at)
    if kind in (_TRUE, _FALSE):
        return data[at] == _TRUE, at + 1
    if kind == _BYTE:
        return data[at], at + 1
    if kind == _DOUBLE:
        return struct.unpack_from("<d", data, at)[0], at + 8
    if kind == _MAP:
        return _map(data, at)
    raise ValueError(f"no type of Thrift: {kind}")


def _list(data: bytes, at: int) -> tuple[list[Any], int]:
    head = data[at]
    at += 1
    count, kind = head >> 4, head & 15
    if count == 15:
        count, at = _unsigned(data, at)
    found = []
    for _ in range(count):
        value, at = _value(data, at, kind)
        found.append(value)
    return found, at


def _map(data: bytes, at: int) -> tuple[dict[Any, Any], int]:
    count, at = _unsigned(data, at)
    found: dict[Any, Any] = {}
    if count:
        kinds = data[at]
        at += 1
        for _ in range(count):
            key, at = _value(data, at, kinds >> 4)
            found[key], at = _value(data, at, kinds & 15)
    return found, at


def _integer(data: bytes, at: int) -> tuple[int, int]:
    """Reads an integer in zigzag encoding: 0, -1, 1, -2."""
    number, at = _unsigned(data, at)
    return (number >> 1) ^ -(number & 1), at


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    at += 1
    if byte < 128:
        return byte, at
    number, shift = byte & 127, 7
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
