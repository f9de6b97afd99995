"""kveval.load: the tables of a run as pandas frames."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from ._program import Error

if TYPE_CHECKING:
    from pandas import DataFrame

_TYPES = {"text": "string", "int": "Int64", "float": "Float64", "bool": "Int64"}


def _columns(text: str) -> dict[str, list[tuple[str, str, str, str]]]:
    """{file: [(column, type, unit, meaning)]} of columns.md."""
    found: dict[str, list[tuple[str, str, str, str]]] = {}
    rows: Any = None
    for line in text.splitlines():
        if line.startswith("## "):
            rows = found.setdefault(line[3:], [])
        elif line.startswith("| ") and rows is not None and not line.startswith(("| column", "| ---")):
            cells = [cell.strip().replace("\\|", "|") for cell in line.strip("| ").split(" | ", 3)]
            rows.append(tuple((cells + [""] * 4)[:4]))
    return found


def load(folder: Union[str, os.PathLike[str]]) -> dict[str, DataFrame]:
    """Reads the tables of a run folder's report: {"accuracy": frame, "settings": frame, "pairs": frame, ...}.

    Columns have the types that the report's columns.md gives them (string, Int64, Float64, boolean), and
    frame.attrs["columns"] says of each its unit and what it means. Fields without a value are <NA>. A run folder
    without a report raises kveval.Error.
    """
    report = Path(folder)
    if (report / "report").is_dir():
        report = report / "report"
    try:
        meaning = _columns((report / "columns.md").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Error(f"{folder} has no report: kveval report {folder} writes it", 2) from None
    import pandas

    frames = {}
    for name, columns in meaning.items():
        if not (path := report / name).exists():
            continue  # a table that does not apply to this run
        types = {column: _TYPES[kind] for column, kind, _, _ in columns}
        frame = pandas.read_csv(path, dtype=types, keep_default_na=False, na_values=[""])
        for column, kind, _, _ in columns:
            if kind == "bool":
                frame[column] = frame[column].astype("boolean")
            elif kind == "text":  # a spreadsheet would compute some texts: these have a ' before them
                frame[column] = frame[column].str.removeprefix("'")
        frame.attrs["columns"] = {column: {"unit": unit, "meaning": text} for column, _, unit, text in columns}
        frames[path.stem] = frame
    return frames
