import CallCore

/// The mappings and sessions of a NAT, with their indexes from inside and from outside.
struct NATTable {
  private struct Mapping {
    var shown: NATMapping
    /// The mapping behavior at its creation: that of the NAT may change.
    let behavior: EndpointDependence
    var sessionCount: Int32
  }

  private struct Session: BitwiseCopyable {
    var mapping: Int32
    var remote: Endpoint
    var activity: SessionActivity
  }

  private var configuration: NATConfiguration
  private var mappings: [Mapping] = []
  private var freeMappings: [Int32] = []
  private var sessions: [Session] = []
  private var freeSessions: [Int32] = []

  private var sessionByInside: [NATFlowKey: Int32] = [:]
  private var sessionByOutside: [NATFlowKey: Int32] = [:]
  private var mappingByInside: [NATFlowKey: Int32] = [:]
  private var mappingByOutside: [NATFlowKey: Int32] = [:]
  /// Sessions per external endpoint and remote address.
  private var permissions: [NATFlowKey: Int32] = [:]
  /// Mappings per external endpoint; maintained only while ports are overloaded.
  private var overloads: [NATFlowKey: Int32] = [:]

  init(_ configuration: NATConfiguration) { self.configuration = configuration }

  var mappingCount: Int { mappings.count - freeMappings.count }
  var sessionCount: Int { sessions.count - freeSessions.count }

  // MARK: Finding

  func session(inside flow: NATFlowKey) -> Int32? { sessionByInside[flow] }
  func session(outside flow: NATFlowKey) -> Int32? { sessionByOutside[flow] }
  func mapping(inside flow: NATFlowKey) -> Int32? { mappingByInside[flow] }

  /// Returns the mapping that owns the external endpoint of an inbound packet.
  func mapping(outside flow: NATFlowKey, external: Endpoint, _ transport: TransportProtocol) -> Int32? {
    mappingByOutside[configuration.overloadsPorts ? flow : Self.endpointKey(external, transport)]
  }

  func mapping(_ index: Int32) -> NATMapping { mappings[Int(index)].shown }
  func internalEndpoint(of session: Int32) -> Endpoint { mappings[Int(sessions[Int(session)].mapping)].shown.internal }
  func externalEndpoint(of session: Int32) -> Endpoint { mappings[Int(sessions[Int(session)].mapping)].shown.external }

  /// Returns whether any mapping uses this external endpoint.
  func isInUse(_ external: Endpoint, _ transport: TransportProtocol) -> Bool {
    let key = Self.endpointKey(external, transport)
    return configuration.overloadsPorts ? overloads[key] != nil : mappingByOutside[key] != nil
  }

  /// Returns whether an overloaded external endpoint is still free towards `remote`.
  func isFree(_ external: Endpoint, towards remote: Endpoint, _ transport: TransportProtocol) -> Bool {
    mappingByOutside[NATFlowKey(transport, local: external, remote: remote)] == nil
  }

  func hasPermission(_ mapping: Int32, for address: IPAddress) -> Bool {
    permissions[permissionKey(self.mapping(mapping), address)] != nil
  }

  /// Live mappings in slot order.
  var liveMappings: [Int32] { mappings.indices.filter { mappings[$0].sessionCount > 0 }.map(Int32.init) }

  /// Returns live sessions in slot order: of one internal host, or all.
  func liveSessions(of host: IPAddress?) -> [Int32] {
    sessions.indices.map(Int32.init).filter { index in
      guard sessions[Int(index)].mapping >= 0 else { return false }
      return host.map { internalEndpoint(of: index).address == $0 } ?? true
    }
  }

  // MARK: Changing

  mutating func addMapping(_ shown: NATMapping) -> Int32 {
    let entry = Mapping(shown: shown, behavior: configuration.mapping, sessionCount: 0)
    let index: Int32
    if let free = freeMappings.popLast() {
      index = free
      mappings[Int(free)] = entry
    } else {
      index = Int32(mappings.count)
      mappings.append(entry)
    }
    mappingByInside[insideKey(shown)] = index
    indexOutside(index)
    return index
  }

  mutating func addSession(to mapping: Int32, remote: Endpoint, at now: Instant) -> Int32 {
    let session = Session(mapping: mapping, remote: remote, activity: SessionActivity(created: now))
    let index: Int32
    if let free = freeSessions.popLast() {
      index = free
      sessions[Int(free)] = session
    } else {
      index = Int32(sessions.count)
      sessions.append(session)
    }
    mappings[Int(mapping)].sessionCount += 1
    let shown = self.mapping(mapping)
    let inside = NATFlowKey(shown.transport, local: shown.internal, remote: remote)
    // A flow stays with a mapping that was made under another behavior.
    if belongs(remote, to: mappings[Int(mapping)]), sessionByInside[inside] == nil { sessionByInside[inside] = index }
    indexOutside(session: index)
    return index
  }

  /// Removes a session, and returns its mapping if that was removed too.
  mutating func removeSession(_ index: Int32) -> NATMapping? {
    let session = sessions[Int(index)]
    let shown = mapping(session.mapping)
    let inside = NATFlowKey(shown.transport, local: shown.internal, remote: session.remote)
    if sessionByInside[inside] == index { sessionByInside[inside] = nil }
    sessionByOutside[NATFlowKey(shown.transport, local: shown.external, remote: session.remote)] = nil
    Self.decrement(&permissions, permissionKey(shown, session.remote.address))
    sessions[Int(index)].mapping = -1
    freeSessions.append(index)
    mappings[Int(session.mapping)].sessionCount -= 1
    guard mappings[Int(session.mapping)].sessionCount == 0 else { return nil }
    mappingByInside[insideKey(shown)] = nil
    unindexOutside(shown)
    freeMappings.append(session.mapping)
    return shown
  }

  /// Moves a mapping to another external endpoint. ``rebuildOutside()`` must follow to find its sessions from outside.
  mutating func move(_ index: Int32, to external: Endpoint) {
    unindexOutside(mapping(index))
    mappings[Int(index)].shown.external = external
    indexOutside(index)
  }

  /// Applies another configuration to later look-ups and mappings; existing ones stay.
  mutating func change(to new: NATConfiguration) {
    configuration = new
    rebuildOutside()
  }

  mutating func rebuildOutside() {
    sessionByOutside.removeAll(keepingCapacity: true)
    permissions.removeAll(keepingCapacity: true)
    for index in sessions.indices where sessions[index].mapping >= 0 { indexOutside(session: Int32(index)) }
  }

  mutating func record(
    _ session: Int32, _ direction: BorderDirection, _ transport: TransportProtocol, _ flags: TCPFlags, at now: Instant
  ) -> IdleTimer {
    sessions[Int(session)].activity.record(
      direction, transport, flags: flags, at: now, timers: configuration.timers)
  }

  // MARK: Indexes

  private static func endpointKey(_ external: Endpoint, _ transport: TransportProtocol) -> NATFlowKey {
    NATFlowKey(transport, local: external, remote: .unspecifiedIPv4)
  }

  /// Returns whether packets to `remote` use this mapping. A remote endpoint that only a permissive filter admitted
  /// does not: packets to it use the mapping that the mapping behavior selects.
  private func belongs(_ remote: Endpoint, to mapping: Mapping) -> Bool {
    mapping.behavior.relevant(remote) == mapping.shown.remote ?? .unspecifiedIPv4
  }

  private func insideKey(_ shown: NATMapping) -> NATFlowKey {
    NATFlowKey(shown.transport, local: shown.internal, remote: shown.remote ?? .unspecifiedIPv4)
  }

  private func outsideKey(_ shown: NATMapping) -> NATFlowKey {
    guard configuration.overloadsPorts, let remote = shown.remote else {
      return Self.endpointKey(shown.external, shown.transport)
    }
    return NATFlowKey(shown.transport, local: shown.external, remote: remote)
  }

  private func permissionKey(_ shown: NATMapping, _ address: IPAddress) -> NATFlowKey {
    NATFlowKey(shown.transport, local: shown.external, remote: Endpoint(address, port: 0))
  }

  private mutating func indexOutside(_ index: Int32) {
    let shown = mapping(index)
    mappingByOutside[outsideKey(shown)] = index
    if configuration.overloadsPorts { overloads[Self.endpointKey(shown.external, shown.transport), default: 0] += 1 }
  }

  private mutating func unindexOutside(_ shown: NATMapping) {
    mappingByOutside[outsideKey(shown)] = nil
    if configuration.overloadsPorts { Self.decrement(&overloads, Self.endpointKey(shown.external, shown.transport)) }
  }

  private mutating func indexOutside(session index: Int32) {
    let session = sessions[Int(index)]
    let shown = mapping(session.mapping)
    sessionByOutside[NATFlowKey(shown.transport, local: shown.external, remote: session.remote)] = index
    permissions[permissionKey(shown, session.remote.address), default: 0] += 1
  }

  private static func decrement(_ counts: inout [NATFlowKey: Int32], _ key: NATFlowKey) {
    guard let count = counts[key] else { return }
    counts[key] = count > 1 ? count - 1 : nil
  }
}
