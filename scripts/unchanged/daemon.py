"""A daemon on a directory of its own, and what it answers."""

import http.client
import os
import re
import signal
import subprocess
import threading
from dataclasses import dataclass

# Sent as `Host`, so that the port on which it happens to listen stands in no answer.
HOST = "arena.test"
START_SECONDS = 60
ANSWER_SECONDS = 30


def environment(home):
    """That of all commands: nothing of whoever runs this may change what they print."""
    return {"PATH": os.environ.get("PATH", ""), "HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Answer:
    status: int
    reason: str
    headers: list
    body: bytes


class Daemon:
    """Started with a configuration on a data directory; ends with the `with` block."""

    def __init__(self, binary, config, data):
        command = [str(binary), "serve", "--config", str(config), "--data", str(data), "--listen", "127.0.0.1:0"]
        self.data = data
        self.log = []
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(data)
        )
        # Read all the time: a full pipe would stop the daemon.
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()
        watchdog = threading.Timer(START_SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        listening = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", line)
        if not listening:
            self.process.wait()
            raise RuntimeError(f"the daemon did not start: {' '.join(command)}\n{''.join(self.log[-5:])}")
        self.port = int(listening[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def ask(self, path, headers=None, method="GET", body=None, whole=True, port=None):
        """One request on a connection of its own. Of an answer that never ends, `whole=False` takes the first line."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.port, timeout=ANSWER_SECONDS)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            sent = {"Host": HOST, **(headers or {})}
            if body is not None:
                sent = {"Content-Type": "application/json", "Content-Length": str(len(body)), **sent}
            for name, value in sent.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            content = response.read() if whole else response.readline()
            return Answer(response.status, response.reason, response.getheaders(), content)
        except (OSError, http.client.HTTPException) as error:
            raise RuntimeError(f"{method} {path}: {error}\n{''.join(self.log[-5:])}") from error
        finally:
            connection.close()
