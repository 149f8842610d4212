"""The little of RFC 6455 that a client of the daemon needs: whole text frames, one JSON object each."""

import base64
import json
import os
import socket
import struct

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA


class Socket:
    """One connection to `/api/v1/socket`."""

    def __init__(self, port, headers, timeout=20):
        self.stream = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.reader = self.stream.makefile("rb")
        lines = {
            **headers,
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Protocol": "fourfold.v1",
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.stream.sendall(f"GET /api/v1/socket HTTP/1.1\r\n{head}\r\n".encode())
        status = self.reader.readline().decode().strip()
        while self.reader.readline().strip():
            pass
        if " 101 " not in f"{status} ":
            raise ConnectionError(f"the socket was refused: {status}")

    def say(self, message):
        """Sends one message; a text goes as it is, for what is not JSON."""
        text = message if isinstance(message, str) else json.dumps(message)
        self._send(TEXT, text.encode())

    def hear(self):
        """The next message; `None` when the server has closed the connection."""
        while True:
            head = self.reader.read(2)
            if len(head) < 2:
                return None
            kind, length = head[0] & 0x0F, head[1] & 0x7F
            if length == 126:
                (length,) = struct.unpack(">H", self.reader.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.reader.read(8))
            payload = self.reader.read(length)
            if kind == TEXT:
                return json.loads(payload)
            if kind == CLOSE:
                return None
            if kind == PING:
                self._send(PONG, payload)

    def hear_until(self, fits):
        """The first message that fits; those before it are passed over."""
        while (message := self.hear()) is not None:
            if fits(message):
                return message
        raise ConnectionError("the server closed the connection before it said what was waited for")

    def close(self):
        self.reader.close()
        self.stream.close()

    def _send(self, kind, payload):
        # Clients must mask; with what does not matter here.
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        length = bytes([0x80 | len(payload)]) if len(payload) < 126 else struct.pack(">BH", 0x80 | 126, len(payload))
        self.stream.sendall(bytes([0x80 | kind]) + length + mask + masked)
