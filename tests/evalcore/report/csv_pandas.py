"""Loads the CSV files of a report in pandas with the types that columns.md names: csv_pandas.py FOLDER.

A file must have exactly the columns that columns.md gives it, in that order; ints, floats and bools must be read as
such; and the units must be kept: fractions and probabilities from 0 to 1. Exits 77 where pandas is missing."""
import pathlib
import sys

try:
    import pandas
except ImportError:
    sys.exit(77)

TYPES = {"text": "string", "int": "Int64", "float": "Float64", "bool": "Int64"}


def tables(text):
    """{file: [(column, type, unit)]} of columns.md."""
    found, columns = {}, None
    for line in text.splitlines():
        if line.startswith("## "):
            columns = found.setdefault(line[3:], [])
        elif line.startswith("| ") and columns is not None and not line.startswith(("| column", "| ---")):
            name, kind, unit = [part.strip() for part in line.strip("| ").split(" | ")][:3]
            columns.append((name, kind, unit))
    return found


def faults(path, columns):
    types = {name: TYPES[kind] for name, kind, _ in columns}
    frame = pandas.read_csv(path, dtype=types)
    if list(frame.columns) != list(types):
        return [f"columns are {list(frame.columns)}"]
    bad = []
    for name, kind, unit in columns:
        values = frame[name].dropna()
        if kind == "bool" and not values.isin([0, 1]).all():
            bad.append(f"{name} is not 0 or 1: {values.tolist()}")
        if unit == "probability" and not values.between(0, 1).all():
            bad.append(f"{name} is no probability: {values.tolist()}")
        # reads may exceed those of full attention, differences may be negative
        if unit == "fraction" and not values.between(-1, 2).all():
            bad.append(f"{name} is no fraction: {values.tolist()}")
    return bad


def main():
    folder = pathlib.Path(sys.argv[1])
    meaning, failed = tables((folder / "columns.md").read_text()), 0
    for path in sorted(folder.glob("*.csv")):
        bad = faults(path, meaning[path.name]) if path.name in meaning else ["columns.md does not name it"]
        for line in bad:
            print(f"{path.name}: {line}")
        failed += len(bad)
    if not any(folder.glob("*.csv")):
        sys.exit(f"{folder} has no CSV files")
    sys.exit(1 if failed else 0)


main()
