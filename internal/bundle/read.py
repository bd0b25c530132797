"""The rows of data.csv with the types of columns.csv; None where nothing is known."""
import csv
import pathlib

def table(name):
    with open(pathlib.Path(__file__).with_name(name), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))

read = {"integer": int, "number": float, "boolean": "true".__eq__, "array": lambda text: text.split(" | ")}
types = {column["name"]: read.get(column["type"], str) for column in table("columns.csv")}
data = [{name: types[name](text) if text else None for name, text in row.items()} for row in table("data.csv")]
if __name__ == "__main__":
    print(len(data), "rows of", len(types), "columns")
