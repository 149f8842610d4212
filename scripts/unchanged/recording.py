"""Where one part of a recording is written."""

import re

from unchanged import placeholders

NAME_CHARS_MAX = 150


class Recording:
    """A folder of text files, and the program that they are about."""

    def __init__(self, folder, binary):
        self.folder = folder
        self.binary = binary

    def write(self, name, content):
        """Adds a file; the name may be an address."""
        name = re.sub(r"[^\w.=@,/-]+", "_", name).strip("/")[:NAME_CHARS_MAX] or "index"
        path = self.folder / name
        if path.exists():
            raise RuntimeError(f"{path} is recorded twice: two things have one name")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content.decode(errors="surrogateescape") if isinstance(content, bytes) else content
        path.write_bytes(placeholders.fill(text, self.folder.name).encode(errors="surrogateescape"))
