"""TURN servers on the hub, as a case wants them: coturn, and ours."""

import base64
import hashlib
import hmac
import os
import re
import subprocess
import time

from .tool import Tool
from .verdict import expect

PORT, TLS_PORT = 3478, 5349
USER, PASSWORD, SECRET = "alice", "open sesame", "s3cret"


class TurnServer(Tool):
    """`credentials` is "long-term" or "time-limited" (draft-uberti-behave-turn-rest-00)."""

    def __init__(self, call, credentials="long-term", options=()):
        super().__init__(call, "turn-server")
        self._folder, self._credentials, self._options = call.folder, credentials, options
        self.address = call.network.hub.address
        self.certificate, self._key = f"{self._folder}/turn-certificate.pem", f"{self._folder}/turn-key.pem"

    def _certify(self):
        """Makes a certificate for the server's address, signed by itself."""
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=callsim", "-addext", f"subjectAltName=IP:{self.address}", "-keyout", self._key, "-out",
             self.certificate], check=True, capture_output=True,
        )  # fmt: skip

    def trust(self, peer):
        """What a peer's program is told so that it believes the certificate; nil where nothing would help."""
        return {
            "callsim": ("--turn-ca", self.certificate), "chromium": ("--flag=--ignore-certificate-errors",),
        }.get(peer.kind.name)  # fmt: skip

    async def __aexit__(self, *_):
        await self._stop()

    def server(self, transport="udp"):
        """The entry of `iceServers`."""
        if self._credentials == "long-term":
            user, password = USER, PASSWORD
        else:
            user = f"{int(time.time()) + 3600}:{USER}"
            password = base64.b64encode(hmac.digest(SECRET.encode(), user.encode(), hashlib.sha1)).decode()
        url = f"turn:{self.address}:{PORT}?transport={transport}"
        if transport == "tls":
            url = f"turns:{self.address}:{TLS_PORT}?transport=tcp"
        return {"urls": [url], "username": user, "credential": password}

    def relay_only(self, transport="udp"):
        return {"iceServers": [self.server(transport)], "iceTransportPolicy": "relay"}

    def count(self, pattern):
        return len(re.findall(pattern, self.said()))


class Coturn(TurnServer):
    program = "turnserver"

    async def __aenter__(self):
        known = {
            "long-term": ["--lt-cred-mech", f"--user={USER}:{PASSWORD}"],
            "time-limited": ["--use-auth-secret", f"--static-auth-secret={SECRET}"],
        }[self._credentials]
        self._certify()
        await self._start(
            "-n", f"--listening-ip={self.address}", f"--relay-ip={self.address}", f"--listening-port={PORT}",
            "--min-port=50000", "--max-port=50100", "--realm=callsim.test", *known, "--fingerprint",
            f"--tls-listening-port={TLS_PORT}", f"--cert={self.certificate}", f"--pkey={self._key}", "--no-dtls", "--no-cli", "--log-file=stdout", "--simple-log", f"--pidfile={self._folder}/coturn.pid",
            f"--userdb={self._folder}/coturn.db", "--verbose", *self._options, ready="IPv4. UDP listener opened",
        )  # fmt: skip
        return self


class OurServer(TurnServer):
    """The server that scenarios have in the simulated network, on real sockets."""

    async def __aenter__(self):
        self.program = os.environ["CALLSIM"]
        self._certify()
        await self._start(
            "turn", f"--listen={self.address}:{PORT}", f"--listen-tls={self.address}:{TLS_PORT}",
            f"--certificate={self.certificate}", f"--key={self._key}", f"--user={USER}:{PASSWORD}", f"--secret={SECRET}",
            "--realm=callsim.test", *self._options, ready="listening on",
        )  # fmt: skip
        return self

    async def __aexit__(self, *_):
        status = await self._stop()
        expect(status == 0, "our TURN server to exit with 0", f"it exited with {status}: {self.said()[-300:]!r}")
