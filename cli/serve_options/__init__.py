"""The options of `specvino serve`, in groups: types for Typer, so that each default stands in its signature."""
