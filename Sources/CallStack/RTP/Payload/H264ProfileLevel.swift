/// The profile and level of H.264 in the SDP parameter `profile-level-id` (RFC 6184 section 8.1).
package struct H264ProfileLevel: Hashable, Sendable {
  package enum Profile: UInt8, CaseIterable, Hashable, Sendable {
    case constrainedBaseline, baseline, main, constrainedHigh, high, predictiveHigh444
  }

  /// A level, of which 1b lies between 1 and 1.1.
  package enum Level: UInt8, CaseIterable, Hashable, Sendable, Comparable {
    case level1, level1b, level1_1, level1_2, level1_3, level2, level2_1, level2_2, level3, level3_1, level3_2, level4,
      level4_1, level4_2, level5, level5_1, level5_2

    package static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }

    /// The value of `level_idc`; level 1b shares that of 1.1.
    var code: UInt8 {
      switch self {
      case .level1: 10
      case .level1b, .level1_1: 11
      case .level1_2: 12
      case .level1_3: 13
      case .level2: 20
      case .level2_1: 21
      case .level2_2: 22
      case .level3: 30
      case .level3_1: 31
      case .level3_2: 32
      case .level4: 40
      case .level4_1: 41
      case .level4_2: 42
      case .level5: 50
      case .level5_1: 51
      case .level5_2: 52
      }
    }
  }

  package var profile: Profile
  package var level: Level

  package init(profile: Profile, level: Level) {
    self.profile = profile
    self.level = level
  }

  /// The profile and level of a description without the parameter: Baseline at level 1 (RFC 6184 section 8.1).
  package static let unspecified = H264ProfileLevel(profile: .baseline, level: .level1)

  /// The rows of RFC 6184 table 5: a profile's `profile_idc`, and the values of `profile-iop` that mean it. The lowest
  /// bits must be zero.
  private static let rows: [(code: UInt8, mask: UInt8, value: UInt8, profile: Profile)] = [
    (0x42, 0x4F, 0x40, .constrainedBaseline), (0x4D, 0x8F, 0x80, .constrainedBaseline),
    (0x58, 0xCF, 0xC0, .constrainedBaseline), (0x42, 0x4F, 0x00, .baseline), (0x58, 0xCF, 0x80, .baseline),
    (0x4D, 0xAF, 0x00, .main), (0x64, 0xFF, 0x00, .high), (0x64, 0xFF, 0x0C, .constrainedHigh),
    (0xF4, 0xFF, 0x00, .predictiveHigh444),
  ]

  /// Reads six hexadecimal digits. Returns nil for other text, an unknown profile or level.
  package init?(_ text: String) {
    guard text.utf8.count == 6, text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let value = UInt32(text, radix: 16)
    else { return nil }
    let (code, constraints, levelCode) = (UInt8(value >> 16), UInt8(value >> 8 & 0xFF), UInt8(value & 0xFF))
    guard let row = Self.rows.first(where: { $0.code == code && constraints & $0.mask == $0.value }) else { return nil }
    profile = row.profile
    // Baseline, Main and Extended tell level 1b by a constraint flag.
    let isSetThree = constraints & 0x10 != 0 && [0x42, 0x4D, 0x58].contains(code)
    if levelCode == 11, isSetThree {
      level = .level1b
    } else {
      guard let level = Level.allCases.first(where: { $0.code == levelCode && $0 != .level1b }) else { return nil }
      self.level = level
    }
  }

  /// The six hexadecimal digits; nil for a level 1b that the profile has not.
  package var text: String? {
    if level == .level1b {
      switch profile {
      case .constrainedBaseline: return "42f00b"
      case .baseline: return "42100b"
      case .main: return "4d100b"
      default: return nil
      }
    }
    let head =
      switch profile {
      case .constrainedBaseline: "42e0"
      case .baseline: "4200"
      case .main: "4d00"
      case .constrainedHigh: "640c"
      case .high: "6400"
      case .predictiveHigh444: "f400"
      }
    let digits = String(level.code, radix: 16)
    return head + (digits.count == 1 ? "0" : "") + digits
  }

  /// Returns the profile and level of an answer (RFC 6184 section 8.2.2): the level is the lower of both, unless both
  /// allow asymmetry; then each side states its own. Nil when the profiles differ.
  package static func answer(
    local: H264ProfileLevel, localAllowsAsymmetry: Bool, remote: H264ProfileLevel, remoteAllowsAsymmetry: Bool
  ) -> H264ProfileLevel? {
    guard local.profile == remote.profile else { return nil }
    let isAsymmetric = localAllowsAsymmetry && remoteAllowsAsymmetry
    return H264ProfileLevel(
      profile: local.profile, level: isAsymmetric ? local.level : min(local.level, remote.level))
  }
}
