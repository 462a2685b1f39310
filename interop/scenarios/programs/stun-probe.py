"""Asks a STUN server for its address twenty times, and says how long that took and what it was told (RFC 8489).

    stun-probe.py LEAST MOST ADDRESS

It ends with 0 when the median round trip is within LEAST to MOST milliseconds and the server always saw ADDRESS.
"""

import ipaddress
import os
import secrets
import socket
import struct
import sys
import time

COOKIE = 0x2112A442


def ask(sock, server):
    """One Binding request: the round trip in milliseconds, and the address and port that the server saw."""
    transaction = secrets.token_bytes(12)
    began = time.monotonic()
    sock.sendto(struct.pack("!HHI", 0x0001, 0, COOKIE) + transaction, server)
    while True:
        answer, source = sock.recvfrom(2048)
        if source[:2] == server and answer[8:20] == transaction:
            break
    took = (time.monotonic() - began) * 1000
    position = 20
    while position + 4 <= len(answer):
        kind, size = struct.unpack_from("!HH", answer, position)
        if kind == 0x0020:
            mask = struct.pack("!I", COOKIE) + transaction
            (port,) = struct.unpack_from("!H", answer, position + 6)
            address = bytes(a ^ b for a, b in zip(answer[position + 8 : position + 4 + size], mask))
            return took, (str(ipaddress.ip_address(address)), port ^ (COOKIE >> 16))
        position += 4 + (size + 3) // 4 * 4
    raise SystemExit("the server's answer has no XOR-MAPPED-ADDRESS")


def main():
    least, most, expected = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    server = (os.environ["CALLSIM_ADDRESS_STUN"].split()[0], 3478)
    sock = socket.socket(socket.AF_INET6 if ":" in server[0] else socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(2)
    answers = []
    for _ in range(20):
        answers.append(ask(sock, server))
        time.sleep(0.02)
    times = sorted(took for took, _ in answers)
    median = times[len(times) // 2]
    seen = sorted({mapped for _, mapped in answers})
    print(f"round trips {times[0]:.1f} to {times[-1]:.1f} ms, median {median:.1f}; seen as {seen}", flush=True)
    raise SystemExit(0 if least <= median <= most and [address for address, _ in seen] == [expected] else 1)


main()
