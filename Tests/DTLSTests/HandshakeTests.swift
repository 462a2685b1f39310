import CallCore
import DTLS
import SRTP
import StackWorlds
import Testing

struct HandshakeTests {
  @Test func `two transports connect and hold the same keys crossed`() throws {
    let call = DTLSPair()
    try call.start()
    call.run()
    let (client, server) = (call.client.state, call.server.state)
    #expect(client == .connected && server == .connected)
    #expect(call.keysAgree)
    #expect(call.states(of: .client) == [.connecting, .connected])
    #expect(call.states(of: .server) == [.connecting, .connected])
    let wakes = [call.client.wake, call.server.wake]
    #expect(wakes == [.never, .never])
  }

  @Test func `the session names what was agreed as getStats does`() throws {
    let call = DTLSPair()
    try call.start()
    call.run()
    let agreed = call.client.session
    let session = try #require(agreed)
    #expect(session.version == "FEFD")
    #expect(session.cipher == "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")
    #expect(session.srtpKeys.profile == .aes128CMHMACSHA1_80)
    #expect(session.remoteCertificate == DTLSPair.certificates.server.der)
  }

  @Test(arguments: [SRTPProfile.aes128CMHMACSHA1_80, .aeadAES128GCM, .aeadAES256GCM])
  func `the server's preference among common profiles decides`(profile: SRTPProfile) throws {
    var everything = DTLSTransport.Configuration()
    everything.profiles = [.aes128CMHMACSHA1_80, .aeadAES128GCM, .aeadAES256GCM]
    var preferring = everything
    preferring.profiles = [profile] + everything.profiles.filter { $0 != profile }
    let call = DTLSPair(client: everything, server: preferring)
    try call.start()
    call.run()
    let agreed = call.server.session?.srtpKeys
    #expect(agreed?.profile == profile)
    #expect(agreed?.local.key.count == profile.keyLength)
    #expect(agreed?.local.salt.count == profile.saltLength)
    #expect(call.keysAgree)
  }

  @Test func `without a common profile both ends fail`() throws {
    var one = DTLSTransport.Configuration()
    one.profiles = [.aeadAES128GCM]
    var other = DTLSTransport.Configuration()
    other.profiles = [.aes128CMHMACSHA1_80]
    let call = DTLSPair(client: one, server: other)
    try call.start()
    call.run()
    let failures = [call.client.failure, call.server.failure]
    #expect(failures == [.noCommonSRTPProfile, .alertReceived(.handshakeFailure)])
  }

  @Test func `a wrong fingerprint fails before any key exists`() throws {
    let call = DTLSPair()
    try call.startServer(expecting: [DTLSPair.certificate("mallory").fingerprint()])
    try call.startClient()
    call.run()
    let failures = [call.server.failure, call.client.failure]
    #expect(failures == [.fingerprintMismatch, .alertReceived(.badCertificate)])
    let session = call.server.session
    #expect(session == nil)
    #expect(call.states(of: .server) == [.connecting, .failed])
  }

  @Test(arguments: Fingerprint.HashFunction.allCases)
  func `one matching line among several is enough`(function: Fingerprint.HashFunction) throws {
    let call = DTLSPair()
    try call.startServer()
    try call.startClient(expecting: [
      DTLSPair.certificate("mallory").fingerprint(), DTLSPair.certificates.server.fingerprint(function),
    ])
    call.run()
    let connected = call.bothConnected
    #expect(connected)
  }

  @Test func `two clients tell each other that this cannot work`() throws {
    let call = DTLSPair()
    try call.startServer(as: .client)
    try call.startClient()
    call.run()
    let states = [call.client.state, call.server.state]
    #expect(states == [.failed, .failed])
    #expect(call.now < .zero + .seconds(1))
  }

  @Test func `two servers wait until the handshake timeout`() throws {
    var patient = DTLSTransport.Configuration()
    patient.handshakeTimeout = .seconds(20)
    let call = DTLSPair(client: patient, server: patient)
    call.client.bind(to: DTLSPair.clientPath, at: .zero)
    try call.client.start(as: .server, remoteFingerprints: DTLSPair.serverFingerprints, at: .zero)
    call.run()
    let failure = call.client.failure
    #expect(failure == .handshakeTimeout)
    #expect(call.now == .zero + .seconds(20))
  }

  @Test func `a ClientHello that comes before the answer is kept`() throws {
    let call = DTLSPair()
    call.server.bind(to: DTLSPair.clientPath.reversed, at: .zero)
    try call.startClient()
    call.run(until: .zero + .milliseconds(300))
    let early = call.server.state
    #expect(early == .new)
    try call.startServer()
    call.run(until: .zero + .milliseconds(400))
    let connected = call.bothConnected
    #expect(connected, "the handshake must not wait for the client's retransmission")
    let retransmissions = call.client.statistics.retransmissions
    #expect(retransmissions == 0)
  }

  @Test func `no more than two early datagrams are kept`() throws {
    let call = DTLSPair()
    let hello = Records.clientHello
    for _ in 0..<5 { call.server.receive(hello.span.bytes, on: DTLSPair.clientPath.reversed, at: .zero) }
    let dropped = call.server.statistics.earlyDropped
    #expect(dropped == 3)
  }

  @Test func `strangers cannot take the place of an early ClientHello`() throws {
    let call = DTLSPair()
    let elsewhere = Path(local: DTLSPair.serverEndpoint, remote: try #require(Endpoint("203.0.113.66:4000")))
    let hello = Records.clientHello
    for _ in 0..<DTLSTransport.earlyLimit { call.server.receive(hello.span.bytes, on: elsewhere, at: call.now) }
    call.server.admit(DTLSPair.clientPath.local)
    try call.startClient()
    call.run(until: .zero + .milliseconds(500))
    try call.startServer()
    call.run(until: .zero + .milliseconds(900))
    let connected = call.bothConnected
    #expect(connected)
  }

  @Test func `close says goodbye and closes the other end`() throws {
    let call = DTLSPair()
    try call.start()
    call.run()
    call.client.close(at: call.now)
    call.run()
    #expect(call.states(of: .client) == [.connecting, .connected, .closed])
    #expect(call.states(of: .server) == [.connecting, .connected, .closed])
  }

  @Test func `a transport bound to a new path sends there and still listens on the old one`() throws {
    let call = DTLSPair()
    try call.start()
    call.run()
    let elsewhere = Path(local: DTLSPair.clientEndpoint, remote: try #require(Endpoint("198.51.100.9:9")))
    call.client.bind(to: elsewhere, at: call.now)
    let path = call.client.path
    #expect(path == elsewhere)
    call.server.close(at: call.now)
    call.run()
    let state = call.client.state
    #expect(state == .closed, "the goodbye came on the old path")
  }

  @Test func `caller mistakes are thrown`() throws {
    let call = DTLSPair()
    #expect(throws: DTLSError.noFingerprint) { try call.startClient(expecting: []) }
    try call.startClient()
    #expect(throws: DTLSError.alreadyStarted) { try call.startClient() }
    call.client.close(at: .zero)
    let client = { try call.client.start(as: .server, remoteFingerprints: DTLSPair.serverFingerprints, at: .zero) }
    #expect(throws: DTLSError.ended) { try client() }
  }

  @Test func `the key log has one line with the client's random`() throws {
    var logging = DTLSTransport.Configuration()
    logging.logsKeys = true
    let call = DTLSPair(client: logging)
    try call.start()
    call.run()
    let lines = call.events.compactMap { entry in if case .keyLog(let line) = entry.event { line } else { nil } }
    // The random follows record header (13), handshake header (12) and version (2) in the ClientHello.
    let random = call.sent[0].bytes[27..<59].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    #expect(lines.count == 1)
    #expect(lines.first?.lowercased().hasPrefix("client_random \(random) ") == true)
  }

  @Test func `a live transport takes its randomness from the system`() throws {
    var transcripts: [String] = []
    for _ in 0..<2 {
      let call = DTLSPair()
      call.client = DTLSTransport(certificate: DTLSPair.certificates.client, entropy: .system)
      try call.start()
      call.run()
      let connected = call.bothConnected
      #expect(connected)
      transcripts.append(call.transcript)
    }
    #expect(transcripts[0] != transcripts[1])
  }
}
