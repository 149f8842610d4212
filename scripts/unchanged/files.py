"""What lies in the repository and others rely on."""

import hashlib

from unchanged.store import ROOT


def wire(recording):
    """The messages of the socket, as other programs send and read them."""
    for path in sorted((ROOT / "tests" / "wire").glob("*.json")):
        recording.write(path.name, path.read_bytes())


def migrations(recording):
    """Databases out there have run them: the daemon refuses one whose migrations are others."""
    folder = ROOT / "migrations"
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in paths]
    recording.write("sha256.txt", "".join(lines))
