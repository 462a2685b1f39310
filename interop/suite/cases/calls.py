"""Calls that go well: who offers, how candidates travel, who is the DTLS client."""

from .. import sdp
from ..case import PEERS, case
from ..verdict import Skipped, expect


@case("audio", sample=PEERS)
async def audio(call):
    """Candidates trickle; both hear the other's melody, over one BUNDLE with RTP and RTCP on one port."""
    await call.open()
    exchange = await call.connect()
    for name, description in (("offer", exchange.offer), ("answer", exchange.answer)):
        group = sdp.values(description, "group")
        expect(group and group[0].startswith("BUNDLE "), f"a BUNDLE group in the {name}", f"it has {group}")
        expect(sdp.has(description, "rtcp-mux"), f"a=rtcp-mux in the {name}", "it is not there")
        # Nor has aiortc any before setLocalDescription; it then has all of them, and its driver tells them one by one.
        candidates = sdp.values(description, "candidate")
        expect(not candidates, f"no candidate in the {name}: they trickle", f"it has {candidates}")
    await call.listen()
    call.measure_first_heard()


@case("all candidates in the descriptions")
async def full(call):
    """No trickle: each description is sent when gathering is complete, with a=end-of-candidates."""
    call.trickle = False
    await call.open()
    await call.connect()
    await call.listen(1.5)
    call.measure_first_heard()


async def _with_answer_role(call, role):
    forced = {"active": "passive", "passive": "active"}[role]

    def check(answer):
        setup = set(sdp.values(answer, "setup"))
        if setup == {forced} and call.answerer.kind.name == "pion":
            raise Skipped(f"Pion 3.1 answers a=setup:{forced} with a=setup:{forced}")
        expect(setup == {role}, f"a=setup:{role} in the answer to a=setup:{forced}", f"it has {setup}")
        return answer

    call.edits.offer = lambda offer: sdp.with_setup(offer, forced)
    call.edits.answer = check
    await call.open()
    await call.connect()
    await call.listen(1.5)
    call.measure_first_heard()


@case("answerer is DTLS client")
async def answerer_active(call):
    """The offer arrives as a=setup:passive, so the answerer must be active and open the DTLS handshake."""
    await _with_answer_role(call, "active")


@case("answerer is DTLS server")
async def answerer_passive(call):
    """The offer arrives as a=setup:active, so the answerer must be passive and wait for the handshake."""
    await _with_answer_role(call, "passive")
