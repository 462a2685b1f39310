internal import ScenarioFormat

/// Which faults are a part of the channel that a run meets: those that act on the way of media, or on what carries it.
/// The switches have no default, so that a new effect must be decided.
extension FaultEffect {
  var isOfChannel: Bool {
    switch self {
    case .link, .nat, .firewall, .packetRules, .natEvent, .traffic: true
    // Servers that relay media, and the certificates and clocks by which connections to them stand or fall.
    case .rejection, .silence, .certificate, .turnEvent, .clockJump: true
    case .dtlsFailure: true
    case .dataChannelFailure: false
    case .audioLatency: true
    case .deviceCondition(_, let condition): condition.touchesMedia
    // Messages, and when an app learns of its connection.
    case .signalling, .signallingRefusal, .eventLateness: false
    }
  }
}

extension FaultEffect.DeviceCondition {
  /// Whether the app can lose sound, pictures or its time to run.
  fileprivate var touchesMedia: Bool {
    switch self {
    case .left, .suspended, .audioTaken, .killed, .memoryShort, .phoneCall, .accessory, .cameraInterruption: true
    case .covered: false
    }
  }
}

extension Fault {
  /// What the fault is and what it acts on, the same for every arm of a comparison.
  var channelNote: String {
    let texts = arguments.entries.map { "\($0.name)=\($0.value.value)" }
    return ([kind.rawValue] + texts + [direction?.rawValue].compactMap(\.self)).joined(separator: " ")
  }
}
