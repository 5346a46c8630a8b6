"""What options of a system are here, in a few words, for --help and the system's page."""

from specvino.cli.system_options.table import MODEL, Meaning


def effect(meaning: Meaning) -> str | None:
    """Says what options do here, or why they are refused; None if they have no effect."""
    if meaning.refused:
        known = f"Only {', '.join(meaning.values)}: " if meaning.values else "Refused: "
        return known + meaning.refused
    if meaning.inside:
        inner = ((part, effect(option.meaning)) for part, option in meaning.inside.items())
        return " ".join(f"{part}: {words}" for part, words in inner if words)
    if meaning.folder_of:
        return "A folder in which the model is looked for."
    if meaning.property:
        return f"As {meaning.property} in --plugin-config."
    if meaning.to is None:
        return None
    known = ", ".join(value for value, ours in meaning.values.items() if ours is not None)
    is_variable = meaning.to != MODEL and not meaning.to.startswith("-")
    named = f"the environment variable {meaning.to}" if is_variable else meaning.to
    if meaning.because:
        return f"As {named}, for {known}. Otherwise without effect: {meaning.because}"
    return f"As {named}."
