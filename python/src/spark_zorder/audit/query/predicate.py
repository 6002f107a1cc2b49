"""A predicate as a tree of conditions on columns. What is not understood may be true anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .conditions import Condition


@dataclass(frozen=True)
class On:
    """Where column number `column` meets the condition."""

    column: int
    condition: Condition


@dataclass(frozen=True)
class Both:
    """Where two parts may be true."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Either:
    """Where one of two parts may be true."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Known:
    """A part that is true everywhere, or nowhere."""

    truth: bool


@dataclass(frozen=True)
class Unknown:
    """A part that nothing is known of, and why."""

    reason: str


Node = Union[On, Both, Either, Known, Unknown]


def may_be_true(node: Node, met: Callable[[On], bool]) -> bool:
    """Whether a block may hold a row for which the predicate is true, given which conditions it may meet."""
    if isinstance(node, On):
        return met(node)
    if isinstance(node, Both):
        return may_be_true(node.left, met) and may_be_true(node.right, met)
    if isinstance(node, Either):
        return may_be_true(node.left, met) or may_be_true(node.right, met)
    return node.truth if isinstance(node, Known) else True


def parts(node: Node) -> Iterator[On | Unknown]:
    """The conditions of a tree, and what is not understood, from left to right."""
    if isinstance(node, (Both, Either)):
        yield from parts(node.left)
        yield from parts(node.right)
    elif isinstance(node, (On, Unknown)):
        yield node
