// Exports everything that an app, a server or a test of another package needs, as one module.
@_exported public import CallCore
@_exported public import Codecs
@_exported public import DTLS
@_exported public import Formats
@_exported public import ICE
@_exported public import PeerSession
@_exported public import Profiles
@_exported public import SCTP
@_exported public import SDP
@_exported public import ScenarioFormat
@_exported public import ScenarioJudge
@_exported public import ScenarioRun
@_exported public import ScenarioSuite
@_exported public import SimNet
@_exported public import Statistics
@_exported public import VirtualPeer
@_exported public import Vocabulary
