public import VirtualPeer
public import Vocabulary

/// A product as scenarios name it: its app and its servers.
public struct Profile: Sendable {
  public let app: any CallApp.Type
  /// What runs as each server that the vocabulary declares, by the name it has there.
  public let servers: [String: any CallServer.Type]

  public var vocabulary: ProfileVocabulary { app.vocabulary }
  public var name: String { vocabulary.profile }

  public init(app: any CallApp.Type, servers: [String: any CallServer.Type]) {
    self.app = app
    self.servers = servers
  }

  /// A product with one server, whatever its vocabulary calls it.
  public init(app: any CallApp.Type, server: any CallServer.Type) {
    let names = app.vocabulary.servers.map(\.name)
    self.init(app: app, servers: names.count == 1 ? [names[0]: server] : [:])
  }

  /// What does not fit: in the declaration, and between it and the servers that there are.
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

/// The profiles a run may use: ``builtIn``, or those and your own app's to script it like ours.
public struct ProfileCatalogue: Sendable {
  public let profiles: [Profile]

  /// - Throws: what does not fit in the declaration of one of them, or that two have one name.
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

  public static var builtIn: ProfileCatalogue {
    do throws(UnfitProfile) {
      return try ProfileCatalogue([Profile(app: KnotosApp.self, server: KnotosServer.self)])
    } catch {
      preconditionFailure("\(error)")
    }
  }

  public subscript(name: String) -> Profile? { profiles.first { $0.name == name } }
}
