"""The network of one call: two hosts and a router between them, each a network namespace, joined to nothing else.

    left 198.18.1.2 ── 198.18.1.1 hub 198.18.2.1 ── 198.18.2.2 right

The hub is where the TURN server runs, where packets are captured, and where a path is made to swallow them. All
namespaces lie inside one that the whole suite runs in (`enter`), so what a killed run leaves behind ends with it.
"""

import asyncio
import itertools
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

_INSIDE = "CALLSIM_INTEROP_INSIDE"
_UNSHARE = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def enter():
    """Runs the program again in namespaces of its own. Returns a reason when the machine does not allow that."""
    if os.environ.get(_INSIDE):
        _run("mount", "-t", "tmpfs", "tmpfs", "/run")
        os.makedirs("/run/netns")
        _run("ip", "link", "set", "lo", "up")
        return None
    environment = dict(os.environ, **{_INSIDE: "1"})
    ways = [_UNSHARE]
    if os.geteuid() != 0:
        ways = [[*_UNSHARE[:1], "--user", "--map-root-user", *_UNSHARE[1:]]]
        if shutil.which("sudo"):
            ways.append(["sudo", "--non-interactive", f"{_INSIDE}=1", *_UNSHARE])
    reasons = []
    for way in ways:
        probe = subprocess.run([*way, "true"], capture_output=True, text=True)
        if probe.returncode == 0:
            command = [*way, sys.executable, *sys.argv]
            os.execvpe(command[0], command, environment)
        reasons.append(f"{' '.join(way[:3])}: {probe.stderr.strip() or probe.returncode}")
    return "this machine lets nobody make network namespaces (" + "; ".join(reasons) + ")"


def _run(*command, text=None):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


@dataclass(frozen=True)
class Host:
    name: str
    address: str
    address6: str


class Network:
    _numbers = itertools.count()
    _building = asyncio.Lock()

    def __init__(self, ipv4=True, ipv6=False, flat=False, spare=False):
        """`flat` puts both hosts on one link, where multicast names reach. With `spare` the left one has another
        interface, which leads nowhere and comes first."""
        number = next(self._numbers)
        self.left = Host(f"left{number}", "198.18.1.2", "fd18:1::2")
        self.right = Host(f"right{number}", "198.18.2.2" if not flat else "198.18.1.3", "fd18:2::2")
        self.hub = Host(f"hub{number}", "198.18.1.1", "fd18:1::1")
        self._ipv4, self._ipv6, self._flat, self._spare = ipv4, ipv6, flat, spare

    async def __aenter__(self):
        # The kernel lets one change interfaces at a time, and whoever sets a key of theirs meanwhile spins.
        async with self._building:
            await asyncio.to_thread(self._build)
        await asyncio.to_thread(self._await_links)
        return self

    async def __aexit__(self, *_):
        async with self._building:
            await asyncio.to_thread(self._remove)

    def inside(self, host, *command):
        """A command that runs in a host's namespace."""
        return ["nsenter", f"--net=/run/netns/{host.name}", *command]

    def _build(self):
        for host in (self.left, self.hub, self.right):
            _run("ip", "netns", "add", host.name)
            if not self._ipv6:
                # For interfaces that are still to come; the loopback's own ::1 is in nobody's way.
                self._sysctl(host, "net/ipv6/conf/default/disable_ipv6")
        if self._spare:
            self._ip(self.left, ["link add spare type veth peer name nobody", "link set nobody up", "link set spare up",
                                 "addr add 198.18.9.2/24 dev spare"])  # fmt: skip
        ports = ("left", "right")
        hub = ["link set lo up"]
        if self._flat:
            hub += ["link add bridge type bridge", "link set bridge up"]
        for host, port in zip((self.left, self.right), ports):
            hub += [f"link add {port} type veth peer name eth0 netns {host.name}", f"link set {port} up"]
            if self._flat:
                hub.append(f"link set {port} master bridge")
        for host, port in zip((self.left, self.right), ("bridge", "bridge") if self._flat else ports):
            hub += self._hub_addresses(host, port)
        self._ip(self.hub, hub)
        for host in (self.left, self.right):
            self._ip(host, ["link set lo up", "link set eth0 up", *self._host_addresses(host)])
        self._sysctl(self.hub, "net/ipv4/ip_forward", *(["net/ipv6/conf/all/forwarding"] if self._ipv6 else []))
        chain = "add chain inet path swallow { type filter hook forward priority 0; }"
        _run(*self.inside(self.hub, "nft", "-f", "-"), text=f"add table inet path\n{chain}\n")

    def _await_links(self, within=5.0):
        """A link that was set up swallows packets until the kernel has noticed that its other end is up."""
        deadline = time.monotonic() + within
        for host, device in ((self.left, "eth0"), (self.hub, "left"), (self.hub, "right"), (self.right, "eth0")):
            while "state UP" not in _run("ip", "-n", host.name, "link", "show", device):
                if time.monotonic() > deadline:
                    raise RuntimeError(f"{device} of {host.name} did not come up within {within:g} s")
                time.sleep(0.01)

    def _hub_addresses(self, host, port):
        if self._ipv4 and not (self._flat and host is self.right):
            yield f"addr add {host.address.rsplit('.', 1)[0]}.1/24 dev {port}"
        if self._ipv6:
            yield f"addr add {host.address6.rsplit('::', 1)[0]}::1/64 dev {port} nodad"

    def _host_addresses(self, host):
        if self._ipv4:
            yield f"addr add {host.address}/24 dev eth0"
            yield f"route add default via {host.address.rsplit('.', 1)[0]}.1"
        if self._ipv6:
            yield f"addr add {host.address6}/64 dev eth0 nodad"
            yield f"route add default via {host.address6.rsplit('::', 1)[0]}::1"

    def _ip(self, host, commands):
        _run("ip", "-n", host.name, "-batch", "-", text="\n".join(commands) + "\n")

    def _sysctl(self, host, *keys):
        writes = "; ".join(f"echo 1 >/proc/sys/{key}" for key in keys)
        _run(*self.inside(host, "sh", "-c", writes))

    def _remove(self):
        for host in (self.left, self.hub, self.right):
            subprocess.run(["ip", "netns", "del", host.name], capture_output=True)

    async def swallow(self, rule="drop"):
        """From now on the hub forwards nothing that the rule matches, and says nothing about it."""
        await asyncio.to_thread(_run, *self.inside(self.hub, "nft", f"add rule inet path swallow {rule}"))

    async def restore(self):
        await asyncio.to_thread(_run, *self.inside(self.hub, "nft", "flush table inet path"))
