"""What differs between two recordings of the same program, and what is written in its place.

Each is as narrow as can be: what is replaced is not compared.
"""

import re

# Name; the parts of a recording in which it is; what is replaced, which is the group; and why it differs.
PLACEHOLDERS = [
    # A digest of all modules, styles and texts. The list of assets has each of them by itself.
    ("ASSETS", "pages api assets socket", r"/static/v-([0-9a-f]{16})/"),
    # A guest whom nobody knew before gets a new identity with every page.
    ("NEW-GUEST", "pages api socket", r"(?m)^set-cookie: fourfold=([\w-]+\.[\w-]+);"),
    # Requests without a name get a new one.
    ("REQUEST", "pages api socket assets", r"(?m)^x-request-id: ([0-9a-f]{16})"),
    ("REQUEST", "pages api socket", r'"request_id": ?"([0-9a-f]{16})"'),
    # How long the clocks of a game in progress stand still yet: a minute, from the start of the daemon.
    ("FROZEN", "pages api socket", r"frozen_ms(?:\"|&#34;): ?(\d+)"),
    # The puzzles of a rush are drawn whenever the page is opened.
    ("RUSH", "pages", r'data-puzzles="([^"]*)"'),
    # A session is drawn, and its secret signed, for every connection; an offer's id is drawn, and it ends by the clock.
    ("SESSION", "socket", r'"type": "welcome", "protocol": 1, "session": "(\w+)"'),
    ("SECRET", "socket", r'"secret": "([\w.-]+)"'),
    ("EXPIRY", "socket", r'"expires_ms": (\d+)'),
    # How long the daemon runs, on the page of its state.
    ("UPTIME", "pages", r'<td class="number">(\d+ h \d+ min)</td>'),
    # What solving took, in microseconds, is the last word of its line.
    ("MICROSECONDS", "commands", r"(?m)^[1-9]{4,}(?: -?\d+)+ (\d+)$"),
    # Of games that commands play.
    ("MICROSECONDS", "commands", r'"spent_us":\[([\d,]*)\]'),
    ("TIME", "commands", r'"(?:started|ended)_at":"([\dT:.-]+Z)"'),
]
COMPILED = [(f"<{name}>", parts.split(), re.compile(pattern)) for name, parts, pattern in PLACEHOLDERS]


def fill(text, part):
    for name, parts, pattern in COMPILED:
        if part in parts:
            text = pattern.sub(lambda match, name=name: replaced(match, name), text)
    return text


def replaced(match, name):
    """The match with its group replaced."""
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    return match[0][:start] + name + match[0][end:]
