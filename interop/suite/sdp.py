"""The few edits of descriptions that cases need. Descriptions are text, and stay it."""

import re


def sections(sdp):
    """The session part and each media section, line ends included."""
    return re.split(r"(?m)^(?=m=)", sdp)


def values(sdp, attribute):
    return re.findall(rf"(?m)^a={re.escape(attribute)}:(.*?)\r?$", sdp)


def has(sdp, attribute):
    return re.search(rf"(?m)^a={re.escape(attribute)}\r?$", sdp) is not None


def with_setup(sdp, role):
    return re.sub(r"(?m)^a=setup:\w+", f"a=setup:{role}", sdp)


def with_candidates(sdp, candidates):
    """A description with the candidates that were gathered for it, and the end of them: no trickle is needed."""
    session, *media = sections(sdp)
    for index, section in enumerate(media):
        mid = (values(section, "mid") or [None])[0]
        own = [
            f"a={candidate['candidate']}\r\n"
            for candidate in candidates
            if candidate["candidate"] and (candidate.get("sdpMid") == mid or candidate.get("sdpMLineIndex") == index)
        ]
        if section.endswith("\r\n") and not has(section, "end-of-candidates"):
            media[index] = section + "".join(own) + "a=end-of-candidates\r\n"
    return session + "".join(media)


def without_addresses(sdp):
    """A description with those candidates only that have a name."""
    return re.sub(r"(?m)^a=candidate:(?!.*\.local ).*\n", "", sdp)


def ufrags(sdp):
    return sorted(set(values(sdp, "ice-ufrag")))


def media_lines(sdp):
    """(kind, port, payload types) of each section."""
    return [
        (kind, int(port), formats.split())
        for kind, port, formats in re.findall(r"(?m)^m=(\w+) (\d+) \S+ (.*?)\r?$", sdp)
    ]


def only_payloads(sdp, kind, wanted):
    """A description whose sections of a kind offer nothing but these payload types."""
    session, *media = sections(sdp)
    for index, section in enumerate(media):
        if not section.startswith(f"m={kind} "):
            continue
        gone = [payload for payload in media_lines(section)[0][2] if payload not in wanted]
        for payload in gone:
            section = re.sub(rf"(?m)^a=(rtpmap|fmtp|rtcp-fb):{payload} .*\r\n", "", section)
        head = " ".join(section.split("\r\n", 1)[0].split(" ")[:3] + list(wanted))
        media[index] = head + "\r\n" + section.split("\r\n", 1)[1]
    return session + "".join(media)


def with_wrong_fingerprint(sdp):
    """The fingerprints of a certificate that nobody has."""

    def turned(match):
        digits = match.group(2)
        return match.group(1) + ("00" if digits[:2] != "00" else "01") + digits[2:]

    return re.sub(r"(?m)^(a=fingerprint:\S+ )([0-9A-Fa-f:]+)", turned, sdp)
