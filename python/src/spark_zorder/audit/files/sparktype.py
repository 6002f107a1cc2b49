"""Finds Spark's types for the columns of Parquet files."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .thrift import Struct

_ROW = b"org.apache.spark.sql.parquet.row.metadata"
# Spark's names of types in the JSON of a schema -> their names in SQL
_OF_JSON = {"byte": "tinyint", "short": "smallint", "integer": "int", "long": "bigint"}
_SIGNED = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint"}
# Spark reads unsigned integers as the next wider type
_UNSIGNED = {8: "smallint", 16: "int", 32: "bigint"}
_DECIMAL = re.compile(r"decimal\((\d+),\s*(-?\d+)\)$")
INTEGERS = frozenset({"tinyint", "smallint", "int", "bigint"})


class SparkType(NamedTuple):
    """A type by its name in SQL. Precision and scale are for decimals."""

    name: str
    precision: int = 0
    scale: int = 0

    @property
    def sql(self) -> str:
        """The type as it is written in a statement."""
        sized = f"DECIMAL({self.precision},{self.scale})"
        return sized if self.name == "decimal" else self.name.upper()


@dataclass(frozen=True)
class Leaf:
    """A column of a Parquet file.

    ``path`` has the names down to it, as in the file. ``logical`` is Parquet's annotation as a dictionary
    with ``Type``, which is the text ``None`` if there is none.
    """

    path: tuple[str, ...]
    physical: str
    logical: dict[str, Any]
    repeated: bool

    @property
    def annotation(self) -> str:
        """The name of the annotation, or the text ``None``."""
        return str(self.logical["Type"])

    @property
    def text(self) -> str:
        """The physical type and the annotation, as in ``BYTE_ARRAY String``."""
        bare = self.annotation in ("None", "Undefined")
        return self.physical if bare else f"{self.physical} {self.annotation}"

    @property
    def signed(self) -> bool:
        """Whether it holds plain or signed integers."""
        return self.annotation == "None" or (self.annotation == "Int" and bool(self.logical["isSigned"]))


# numbers of fields of SchemaElement in parquet.thrift
_PHYSICAL, _NAME, _CHILDREN = 1, 4, 5


def leaves(schema: Any, elements: Sequence[Struct]) -> list[Leaf]:
    """The columns of a ParquetSchema of pyarrow, in the file's order.

    ``elements`` are those of the schema in the footer: pyarrow joins names by dots, and a name may have dots.
    """
    found = []
    rest = iter(elements)
    root = next(rest)
    for i, path in enumerate(_paths(rest, (), root.get(_CHILDREN, 0))):
        column = schema.column(i)
        logical = json.loads(column.logical_type.to_json())
        found.append(Leaf(path, column.physical_type, logical, column.max_repetition_level > 0))
    return found


def _paths(rest: Iterator[Struct], above: tuple[str, ...], count: int) -> Iterator[tuple[str, ...]]:
    """The paths of the columns in the next elements, of which so many are children of ``above``."""
    for _ in range(count):
        element = next(rest)
        path = (*above, element[_NAME].decode(errors="replace"))
        children = element.get(_CHILDREN, 0)
        if _PHYSICAL in element and not children:
            yield path
        else:
            yield from _paths(rest, path, children)


def of_leaf(leaf: Leaf) -> SparkType | None:
    """The type as which Spark reads a column that another writer wrote. None if it cannot."""
    logical, kind = leaf.logical, leaf.annotation
    if kind == "Decimal":
        return SparkType("decimal", int(logical["precision"]), int(logical["scale"]))
    if leaf.physical == "INT64" and kind == "Int" and logical["bitWidth"] == 64 and not logical["isSigned"]:
        return SparkType("decimal", 20, 0)
    name = _name(leaf)
    return None if name is None else SparkType(name)


def _name(leaf: Leaf) -> str | None:
    physical, kind, logical = leaf.physical, leaf.annotation, leaf.logical
    plain = {
        "BOOLEAN": "boolean",
        "INT32": "int",
        "INT64": "bigint",
        "INT96": "timestamp",
        "FLOAT": "float",
        "DOUBLE": "double",
        "BYTE_ARRAY": "binary",
        "FIXED_LEN_BYTE_ARRAY": "binary",
    }
    if kind in ("None", "Undefined") or physical == "INT96":
        return plain.get(physical)
    if kind == "Int":
        widths = _SIGNED if logical["isSigned"] else _UNSIGNED
        return widths.get(int(logical["bitWidth"]))
    if kind == "Date":
        return "date"
    if kind == "Timestamp":
        if logical["timeUnit"] == "nanoseconds":
            return None
        return "timestamp" if logical["isAdjustedToUTC"] else "timestamp_ntz"
    if kind in ("String", "Enum", "JSON"):
        return "string"
    if kind == "Time":
        return "time"
    return "binary" if kind == "BSON" else None


def declared(metadata: dict[bytes, bytes] | None) -> dict[tuple[str, ...], SparkType | None]:
    """The types that Spark noted when it wrote a file, by their paths. None is a type without an order."""
    text = (metadata or {}).get(_ROW)
    return of_schema(text) if text else {}


def of_schema(text: str | bytes) -> dict[tuple[str, ...], SparkType | None]:
    """The types in the JSON of a Spark schema, by their paths. Empty if the text is no schema."""
    try:
        return dict(_fields(json.loads(text)["fields"], ()))
    except (ValueError, KeyError, TypeError):
        return {}


def _fields(fields: list[Any], above: tuple[str, ...]) -> list[tuple[tuple[str, ...], SparkType | None]]:
    found: list[tuple[tuple[str, ...], SparkType | None]] = []
    for field in fields:
        path = (*above, field["name"])
        kind = field["type"]
        if isinstance(kind, dict) and kind.get("type") == "struct":
            found += _fields(kind["fields"], path)
        elif not isinstance(kind, dict):
            found.append((path, _of_json(kind, field.get("metadata") or {})))
    return found


def _of_json(name: str, metadata: dict[str, Any]) -> SparkType | None:
    # CHAR values are padded when read, and collated values have another order
    raw = str(metadata.get("__CHAR_VARCHAR_TYPE_STRING", ""))
    if "__COLLATIONS" in metadata or raw.startswith("char"):
        return None
    decimal = _DECIMAL.match(name)
    if decimal:
        return SparkType("decimal", int(decimal[1]), int(decimal[2]))
    return None if "(" in name and not name.startswith("time(") else SparkType(_OF_JSON.get(name, name))
