"""The servers under test, started on loopback as a row or a tool wants them."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from .client import BINDING, Client, Silence

USERS = {"alice": "open sesame", "bob": "sesame"}
SECRET = "s3cret"
REALM = "callsim.test"
ADDRESS = "127.0.0.1"
# Below the ports that a system gives to clients (32768 and up), so that no socket of theirs holds one.
RELAY_PORTS = "30000-30100"


def certify(folder):
    """A certificate for the address that is served, signed by itself, and its key."""
    certificate, key = f"{folder}/certificate.pem", f"{folder}/key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=callsim", "-addext", f"subjectAltName=IP:{ADDRESS}", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


class Server:
    """One process. `options` are pairs by the names of `callsim turn`."""

    name = ""
    # Whose crash at its end is a failure of the row.
    is_ours = False

    def __init__(self, port, options=(), credentials="long-term", alternate=None):
        self.address, self.tls_address = (ADDRESS, port), (ADDRESS, port + 5)
        self._options, self._credentials, self._alternate = dict(options), credentials, alternate

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="turn-servers-")
        self.certificate, self._key = certify(self._folder.name)
        self._log = open(Path(self._folder.name) / "log", "w+b")
        self._process = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log, start_new_session=True
        )
        deadline = time.monotonic() + 15
        # It says that it listens before it does: so it is asked.
        while self.ready not in self.said() or not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = self.said()
                self._end()
                raise RuntimeError(f"{self.name} did not start: {said[-400:]!r}")
            time.sleep(0.02)
        return self

    def _answers(self):
        for transport in ("udp", "tcp", "tls"):
            with contextlib.suppress(OSError, Silence), self.client(transport) as client:
                client.write(client.build(BINDING, signed=False))
                client.read(0.2)
                continue
            return False
        return True

    def client(self, transport, *arguments):
        place = self.tls_address if transport == "tls" else self.address
        return Client(place, transport, *arguments, authority=self.certificate)

    def __exit__(self, *_):
        said = self.said()
        status = self._end()
        if self.is_ours and status != 0:
            raise RuntimeError(f"{self.name} ended with status {status}: {said[-400:]!r}")

    def _end(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGTERM)
        try:
            status = self._process.wait(5)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            status = self._process.wait()
        self._log.close()
        self._folder.cleanup()
        return status

    def said(self):
        return (Path(self._folder.name) / "log").read_text(errors="replace")


class Coturn(Server):
    name = "coturn"
    ready = "TCP listener opened"
    _NAMES = {"nonce-lifetime": "stale-nonce", "deny": "denied-peer-ip"}

    @staticmethod
    def missing(_):
        return None if shutil.which("turnserver") else "coturn is not installed"

    def command(self):
        options = {"ports": RELAY_PORTS, **self._options}
        low, high = options.pop("ports").split("-")
        known = ["--use-auth-secret", f"--static-auth-secret={SECRET}"]
        if self._credentials == "long-term":
            known = ["--lt-cred-mech", *(f"--user={user}:{password}" for user, password in USERS.items())]
        return [
            "turnserver", "-n", f"--listening-ip={ADDRESS}", f"--relay-ip={ADDRESS}",
            f"--listening-port={self.address[1]}", f"--min-port={low}", f"--max-port={high}", f"--realm={REALM}", *known,
            "--fingerprint", f"--tls-listening-port={self.tls_address[1]}", f"--cert={self.certificate}",
            f"--pkey={self._key}", "--no-dtls", "--no-cli", "--allow-loopback-peers", "--log-file=stdout",
            "--simple-log", f"--pidfile={self._folder.name}/pid", f"--userdb={self._folder.name}/db", "-v",
            *(f"--{self._NAMES.get(name, name)}={value}" for name, value in options.items()),
        ]  # fmt: skip


class Callsim(Server):
    name = "callsim"
    is_ours = True
    ready = "listening"
    program = ""

    @classmethod
    def missing(cls, program):
        cls.program = program
        return None if os.access(program, os.X_OK) else f"{program} is not built"

    def command(self):
        options = {"ports": RELAY_PORTS, "allow": "127.0.0.0/8", **self._options}
        if "deny" in options:
            # coturn wants ranges, and ours prefixes.
            options["deny"] = options["deny"].split("-")[0] + "/24"
        known = ["--secret", SECRET]
        if self._credentials == "long-term":
            known = [part for user, password in USERS.items() for part in ("--user", f"{user}:{password}")]
        alternate = ["--alternate", "{}:{}".format(*self._alternate)] if self._alternate else []
        return [
            self.program, "turn", "--listen", "{}:{}".format(*self.address), "--listen-tls",
            "{}:{}".format(*self.tls_address), "--certificate", self.certificate, "--key", self._key, "--realm", REALM, *known, *alternate,
            *(part for name, value in options.items() for part in (f"--{name}", str(value))),
        ]  # fmt: skip
