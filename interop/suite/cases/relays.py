"""Calls through coturn, on a network where nothing else goes through."""

import asyncio

from ..case import SAMPLED, THEIRS, case
from ..turn import Coturn, OurServer
from ..verdict import Skipped, expect


async def _relayed(call, turn, transport, seconds=1.5, **options):
    await call.network.swallow()
    await call.open(turn.relay_only(transport), **options)
    await call.connect(within=15)
    await call.listen(seconds)
    call.measure_first_heard()
    for peer in call.peers:
        pair = [event.members for event in peer.trail if event.name == "selectedcandidatepairchange"]
        expect(pair, f"{peer} to name its pair", "it named none")
        local = pair[-1]["local"]
        expect(local["candidateType"] == "relay", f"{peer} to send from its relay", f"its candidate is {local}")
        # aiortc does not say.
        expect(local.get("relayProtocol", transport) == transport, f"{peer} to reach it over {transport}", f"{local}")


async def _call(call, transport, credentials):
    async with Coturn(call, credentials) as turn:
        await _relayed(call, turn, transport)


@case("relay over UDP, long-term credentials", sample=SAMPLED)
async def udp_long_term(call):
    """Both are relay-only, nothing goes directly, and coturn knows a user and a password."""
    await _call(call, "udp", "long-term")


@case("relay over UDP, time-limited credentials")
async def udp_time_limited(call):
    """The same with a user name that holds its end, and the HMAC of it for a password."""
    await _call(call, "udp", "time-limited")


@case("relay over TCP, long-term credentials", sample=SAMPLED)
async def tcp_long_term(call):
    """The way to coturn is TCP; what coturn relays is UDP."""
    await _call(call, "tcp", "long-term")


@case("relay over TCP, time-limited credentials")
async def tcp_time_limited(call):
    """The same with a user name that holds its end, and the HMAC of it for a password."""
    await _call(call, "tcp", "time-limited")


async def _secured(call, turn):
    """A call over TLS, between programs that can be told to believe the server's certificate."""
    ours, theirs = turn.trust(call.ours), turn.trust(call.theirs)
    for peer, options in ((call.ours, ours), (call.theirs, theirs)):
        if options is None:
            raise Skipped(f"{peer.kind.name} cannot be told whose certificates to believe")
    await _relayed(call, turn, "tls", ours_options=ours, theirs_options=theirs)


@case("relay over TLS, through coturn")
async def tls_through_coturn(call):
    """The way to coturn is TLS on TCP; what coturn relays is UDP."""
    async with Coturn(call) as turn:
        await _secured(call, turn)


@case("relay over TLS, through our TURN server")
async def tls_through_ours(call):
    """The same with the server that scenarios have in the simulated network."""
    async with OurServer(call) as turn:
        await _secured(call, turn)


async def _outlasting(call, configuration, seconds, step=4.0):
    """A relayed call that goes on for a while, heard all along."""
    await call.network.swallow()
    await call.open(**configuration)
    await call.connect(within=15)
    await call.listen(1.5)
    marks = {peer: peer.mark() for peer in call.peers}
    for _ in range(round(seconds / step)):
        await asyncio.sleep(step)
        for peer, mark in marks.items():
            gap = mark.heard(until=peer.mark()).longest_gap(peer.partner_melody)
            expect(gap <= 0.4, f"{peer} to hear on", f"there was a gap of {gap * 1000:.0f} ms after {mark.time:.0f} s")
            marks[peer] = peer.mark()
    await call.listen(1.5, settle=0)


@case("stale nonce", timeout=60)
async def stale_nonce(call):
    """coturn takes a nonce for a second only: refreshes meet 438, go on with the new nonce, and the call is heard on.
    Only we are relayed: aioice gives up when even its first Allocate comes a second late."""
    options = ["--stale-nonce=1", "--max-allocate-lifetime=12"]
    async with Coturn(call, options=options) as turn:
        await _outlasting(call, {"ours": turn.relay_only(), "theirs": {}}, 8)
        call.measured["438"] = turn.count("error 438")
        expect(call.measured["438"] >= 1, "a stale nonce to be met", "coturn refused no nonce")


async def _count_renewals(call, refreshes, lifetimes):
    """A relayed call of 16 s, in which ours renews sooner than it would. How often it bound a channel and created a
    permission."""
    async with Coturn(call, options=lifetimes) as turn:
        if call.ours.kind.name != "callsim":
            raise Skipped(f"{call.ours.kind.name} cannot be told to renew sooner")
        await _outlasting(call, {"ours": turn.relay_only(), "theirs": {}, "ours_options": refreshes}, 14)
        renewed = turn.count("CHANNEL_BIND processed, success"), turn.count("CREATE_PERMISSION processed, success")
        call.measured["channels bound"], call.measured["permissions created"] = renewed
        return renewed


# A client is not told how long a permission or a binding lasts: RFC 8656 has 300 s and 600 s. So only who can be told
# otherwise can outlast shorter ones. A ChannelBind renews the permission too (RFC 8656 section 12), in coturn for as long
# as the channel lives, so that what is heard tells nothing of CreatePermission: both are counted.
@case("channel refreshed, and its permission", offers=(THEIRS,), timeout=60)
async def channel_refreshed(call):
    """coturn forgets permissions after 6 s and channels after 8 s; our relay renews the channel, and with it the
    permission, and 16 s are heard."""
    refreshes = ("--permission-refresh", "3", "--channel-refresh", "4")
    bound, created = await _count_renewals(call, refreshes, ["--permission-lifetime=6", "--channel-lifetime=8"])
    expect(bound >= 4, "the channel bound, and again every 4 s", f"it was bound {bound} times")
    expect(created == 1, "the permission created once, and renewed by the channel", f"it was created {created} times")


@case("permission refreshed", offers=(THEIRS,), timeout=60)
async def permission_refreshed(call):
    """A channel that is renewed later than permissions end does not keep them: our relay creates them again, every 3 s."""
    refreshes = ("--permission-refresh", "3", "--channel-refresh", "400")
    bound, created = await _count_renewals(call, refreshes, ["--permission-lifetime=6"])
    expect(bound == 1, "the channel bound once", f"it was bound {bound} times")
    expect(created >= 5, "the permission created, and again every 3 s", f"it was created {created} times")


@case("permission and channel outlasted", offers=(THEIRS,), timeout=780, long=True)
async def outlasted(call):
    """Both relay-only on a coturn with its usual lifetimes, for eleven minutes: longer than a channel lives."""
    async with Coturn(call) as turn:
        await _outlasting(call, {"configuration": turn.relay_only()}, 660, step=10)
        call.measured["channels bound"] = turn.count("CHANNEL_BIND processed, success")
        call.measured["permissions created"] = turn.count("CREATE_PERMISSION processed, success")


@case("relay through our TURN server", offers=(THEIRS,))
async def through_ours(call):
    """Both are relay-only, and the server is the one that scenarios have in the simulated network."""
    async with OurServer(call, options=["--nonce-lifetime=5"]) as turn:
        await _relayed(call, turn, "udp")
