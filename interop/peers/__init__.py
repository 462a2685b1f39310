"""Programs that own a WebRTC stack and are driven as docs/peer-protocol.md says."""
