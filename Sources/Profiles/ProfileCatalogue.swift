public import VirtualPeer
public import Vocabulary

/// A product in scenarios: its app and its servers.
public struct Profile: Sendable {
  /// The type of the app.
  public let app: any CallApp.Type
  /// The type of each server that the vocabulary declares, by its declared name.
  public let servers: [String: any CallServer.Type]

  /// The vocabulary of the app.
  public var vocabulary: ProfileVocabulary { app.vocabulary }
  /// The profile's name in scenarios.
  public var name: String { vocabulary.profile }

  /// Creates a profile from an app and its servers, by their declared names.
  public init(app: any CallApp.Type, servers: [String: any CallServer.Type]) {
    self.app = app
    self.servers = servers
  }

  /// Creates a profile with one server, with the name that the vocabulary declares.
  public init(app: any CallApp.Type, server: any CallServer.Type) {
    let names = app.vocabulary.servers.map(\.name)
    self.init(app: app, servers: names.count == 1 ? [names[0]: server] : [:])
  }

  /// The errors in the declaration, and between it and the given servers.
  fileprivate var misfits: [Misfit] {
    let declared = vocabulary.servers.map(\.name)
    let missing = declared.filter { servers[$0] == nil }.map {
      Misfit(.server($0), "it is declared, and the profile has none", remedy: "give Profile(app:servers:) its type")
    }
    let extra = servers.keys.sorted().filter { !declared.contains($0) }.map {
      Misfit(.server($0), "the profile has one, and it is not declared", remedy: "add it to servers:")
    }
    return vocabulary.misfits + missing + extra
  }
}

/// The profiles that a run may use: ``builtIn``, or those together with your own app's.
public struct ProfileCatalogue: Sendable {
  /// The profiles in their order.
  public let profiles: [Profile]

  /// Creates a catalogue.
  ///
  /// - Throws: the errors in the declaration of a profile, or a name that two profiles have.
  public init(_ profiles: [Profile]) throws(UnfitProfile) {
    for (index, profile) in profiles.enumerated() {
      let misfits = profile.misfits
      if !misfits.isEmpty { throw UnfitProfile(profile.name, misfits) }
      if profiles[..<index].contains(where: { $0.name == profile.name }) {
        let misfit = Misfit(.profile, "there are two profiles of that name", remedy: "give one of them another name")
        throw UnfitProfile(profile.name, [misfit])
      }
    }
    self.profiles = profiles
  }

  /// The profiles of this package.
  public static var builtIn: ProfileCatalogue {
    do throws(UnfitProfile) {
      return try ProfileCatalogue([
        Profile(app: KnotosApp.self, server: KnotosServer.self),
        Profile(app: ConnectyCubeApp.self, server: ConnectyCubeServer.self),
        Profile(app: TwilioApp.self, server: TwilioRoomServer.self),
        Profile(app: VonageApp.self, server: VonageServer.self),
      ])
    } catch {
      preconditionFailure("\(error)")
    }
  }

  /// The profile of a name, or nil.
  public subscript(name: String) -> Profile? { profiles.first { $0.name == name } }
}
