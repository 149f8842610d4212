"""Shows how two recordings differ, to people."""

import difflib

LINES_MAX = 40
CHARS_MAX = 220
NAMES_MAX = 5
DIFFERENCES_MAX = 25


def show(before, after, parts):
    """Prints the differences, each once however many files have it; returns 1 if there are any."""
    folders = [(root, root / part) for root in (before, after) for part in parts]
    names = {str(path.relative_to(root)) for root, folder in folders for path in folder.rglob("*") if path.is_file()}
    different = [name for name in sorted(names) if content(before / name) != content(after / name)]
    alike = {}
    for name in different:
        alike.setdefault(difference(before / name, after / name), []).append(name)
    for lines, of in list(alike.items())[:DIFFERENCES_MAX]:
        rest = f", and {len(of) - NAMES_MAX} more" if len(of) > NAMES_MAX else ""
        print("\n".join([f"=== {', '.join(of[:NAMES_MAX])}{rest}", *lines]), end="\n\n")
    if len(alike) > DIFFERENCES_MAX:
        others = [of[0] for of in list(alike.values())[DIFFERENCES_MAX:]]
        print(f"=== other differences, not shown: {', '.join(others)}\n")
    print(f"{len(names)} files compared, {len(different)} differ")
    return 1 if different else 0


def content(path):
    return path.read_bytes() if path.exists() else None


def difference(before, after):
    """The lines that differ, shortened."""
    if not (before.exists() and after.exists()):
        return ("is not in the recording" if after.exists() else "is not there any more",)
    lines = list(difflib.unified_diff(lines_of(before), lines_of(after), lineterm="", n=1))[2:]
    lines = [line if len(line) <= CHARS_MAX else f"{line[:CHARS_MAX]} …" for line in lines if line[:2] != "@@"]
    # Nothing between the lines into which the text is cut can differ but where the cuts are.
    lines = lines or ["other bytes, the same to the eye"]
    rest = len(lines) - LINES_MAX
    return tuple(lines[:LINES_MAX] + ([f"… and {rest} lines more"] if rest > 0 else []))


def lines_of(path):
    """The text in lines that one can read: JSON and HTML come in very long ones."""
    text = path.read_bytes().decode(errors="backslashreplace")
    return text.replace(',"', ',\n"').replace(",&#34;", ",\n&#34;").replace("><", ">\n<").splitlines()
