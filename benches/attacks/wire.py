"""A client of the daemon for attacks: bare sockets, so that it can also say what no library would let it say."""

import asyncio
import base64
import json
import os
import struct

# Limits are `asyncio.timeout`: `wait_for` of Python 3.11 forgets a cancellation that meets a result.
READ_S = 20


class Closed(Exception):
    """The daemon closed the connection; carries the close code, or None where it did so without one."""

    def __init__(self, code=None):
        super().__init__(f"closed with {code}")
        self.code = code


class Address:
    """Where a client comes from and where it goes."""

    def __init__(self, source, port):
        self.source, self.port = source, port

    async def connect(self):
        async with asyncio.timeout(READ_S):
            return await asyncio.open_connection("127.0.0.1", self.port, local_addr=(self.source, 0))


async def request(address, method, path, body=None, headers=()):
    """One HTTP request on a connection of its own: status, headers by their lower-case names, and the body as text."""
    reader, writer = await address.connect()
    try:
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{address.port}", "Connection: close"]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
            lines += [f"Origin: http://127.0.0.1:{address.port}"]
        lines += [f"{name}: {value}" for name, value in headers]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
        async with asyncio.timeout(READ_S):
            answer = await reader.read()
    finally:
        writer.close()
    head, _, text = answer.partition(b"\r\n\r\n")
    first, *fields = head.decode("latin-1").split("\r\n")
    if not first.startswith("HTTP/1.1 "):
        raise Closed()
    named = {name.lower(): value.strip() for name, _, value in (field.partition(":") for field in fields)}
    return int(first.split()[1]), named, text.decode(errors="replace")


class Socket:
    """One WebSocket of the protocol."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, address, token=None, cookie=None):
        reader, writer = await address.connect()
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET /api/v1/socket HTTP/1.1",
            f"Host: 127.0.0.1:{address.port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: fourfold.v1",
        ]
        lines += [f"Authorization: Bearer {token}"] if token else []
        lines += [f"Cookie: {cookie}", f"Origin: http://127.0.0.1:{address.port}"] if cookie else []
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        try:
            async with asyncio.timeout(READ_S):
                head = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            writer.close()
            raise Closed() from error
        if b" 101 " not in head.split(b"\r\n")[0]:
            writer.close()
            raise Closed(int(head.split()[1]))
        return cls(reader, writer)

    @classmethod
    async def hello(cls, address, token=None, cookie=None, **more):
        """Opened, and through the handshake: the socket and its `welcome`."""
        socket = await cls.open(address, token, cookie)
        await socket.send(type="hello", protocol=1, client={"name": "attack", "version": "1"}, **more)
        return socket, await socket.until("welcome")

    def frame(self, opcode, payload):
        mask = os.urandom(4)
        size = len(payload)
        length = bytes([0x80 | size]) if size < 126 else bytes([0xFE]) + struct.pack(">H", size)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        self.writer.write(bytes([0x80 | opcode]) + length + mask + masked)

    async def text(self, text):
        self.frame(1, text.encode())
        async with asyncio.timeout(READ_S):
            await self.writer.drain()

    async def send(self, **message):
        await self.text(json.dumps(message))

    async def receive(self):
        """The next message; answers pings meanwhile."""
        while True:
            try:
                first, second = await self.reader.readexactly(2)
                size = second & 0x7F
                if size == 126:
                    size = struct.unpack(">H", await self.reader.readexactly(2))[0]
                elif size == 127:
                    size = struct.unpack(">Q", await self.reader.readexactly(8))[0]
                payload = await self.reader.readexactly(size)
            except (asyncio.IncompleteReadError, ConnectionError) as error:
                raise Closed() from error
            match first & 0x0F:
                case 1:
                    return json.loads(payload)
                case 8:
                    raise Closed(struct.unpack(">H", payload[:2])[0] if size >= 2 else None)
                case 9:
                    self.frame(10, payload)

    async def until(self, *kinds, seconds=READ_S):
        async with asyncio.timeout(seconds):
            while True:
                message = await self.receive()
                if message["type"] in kinds:
                    return message

    def close(self):
        self.writer.close()
