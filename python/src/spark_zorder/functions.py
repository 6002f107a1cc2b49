"""The column functions. They work on a classic session and on Spark Connect, in any DataFrame operation.

    from spark_zorder import functions as F
    df.orderBy(F.zorder("a", "b"))

A column is given by name or as a ``Column``. All need a session that has spark-zorder: one built by
``spark_zorder.configure`` or one that ``spark_zorder.attach`` was called on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from . import _session

if TYPE_CHECKING:
    from pyspark.sql import Column

    ColumnOrName = Union[Column, str]

__all__ = ["hilbert", "zorder", "zorder_compare", "zorder_file", "zorder_key"]


def zorder(*cols: ColumnOrName) -> Column:
    """The Z-order (Morton) key of the raw values: BINARY, never NULL, compared as unsigned bytes.

    Every atomic type is accepted, and several types may be mixed. Structs (name their fields), arrays, maps
    and variants are refused when the query is analysed, and so is a call without columns. A NULL value has a
    place of its own below every value. All bits are used, the most significant first, and the earlier column
    wins a tie; but of a STRING or BINARY only the first 16 bytes count, so texts with a common beginning are
    equal in the key (in a layout they are not). The key knows nothing of the data: columns of unlike ranges
    are better served by ``ZOrderTable.optimize()`` or ``cluster``, which fit a layout.

    Examples:
        >>> df.orderBy(zorder("day", "customer"))
    """
    return _call("zorder", *cols)


def hilbert(*cols: ColumnOrName) -> Column:
    """The Hilbert key of the raw values: BINARY, never NULL, compared as unsigned bytes.

    Types and NULLs as for ``zorder``. Neighbours on the Hilbert curve are neighbours in every column, so
    ranges of the key are more compact than those of ``zorder``; the key is dearer to compute.

    Examples:
        >>> df.sortWithinPartitions(hilbert("x", "y"))
    """
    return _call("hilbert", *cols)


def zorder_compare(left: ColumnOrName, right: ColumnOrName) -> Column:
    """Compares two structs in Z-order without building a key: INT, -1, 0 or 1.

    The answer is that of comparing ``zorder`` of the fields of one with ``zorder`` of those of the other;
    NULL if a struct is NULL. A NULL field comes before every value. Both structs have the same number of
    fields. Names are ignored, and the two fields at each place are cast to their common type; where there is
    none, the analysis fails.

    Examples:
        >>> df.select(zorder_compare(struct("a", "b"), struct("c", "d")))
    """
    return _call("zorder_compare", left, right)


def zorder_file(layout: str, *cols: ColumnOrName) -> Column:
    """The file that a row belongs to in a layout: INT, from 0; never NULL.

    ``layout`` is the JSON text of a layout (``spark_zorder.fit(...).json``), or names the stored one of a
    table: ``"table:db.t"`` or ``"path:/data/t"``. A partitioned table has one for each partition: add
    ``#day=2026-01-01``, or the id of a layout. The columns are given in the layout's order and have its
    types; further ones spread the rows of a cell whose keys are all equal over its files. A NULL value goes
    where the layout puts NULLs.

    Examples:
        >>> df.groupBy(zorder_file(layout.json, "a", "b")).count()
    """
    return _call_with_layout("zorder_file", layout, cols)


def zorder_key(layout: str, *cols: ColumnOrName) -> Column:
    """The place of a row in a layout: BIGINT, from 0; never NULL.

    Sorting by it orders rows by file, and along the curve inside. Arguments and NULLs are as for
    ``zorder_file``, but ``cols`` are the layout's alone.

    Examples:
        >>> df.sortWithinPartitions(zorder_key(layout.json, "a", "b"))
    """
    return _call_with_layout("zorder_key", layout, cols)


def _call(name: str, *cols: ColumnOrName) -> Column:
    from pyspark.sql import functions as sf

    _session.require_jar()
    return sf.call_function(name, *cols)


def _call_with_layout(name: str, layout: str, cols: tuple[ColumnOrName, ...]) -> Column:
    from pyspark.sql import functions as sf

    if not isinstance(layout, str):
        raise TypeError(
            f"{name} takes a layout first (its JSON, 'table:db.t' or 'path:/data/t'), then the columns."
        )
    return _call(name, sf.lit(layout), *cols)
