public import VirtualPeer
public import Vocabulary

/// A product as scenarios name it: its app and its signalling server.
public struct Profile: Sendable {
  public let app: any CallApp.Type
  public let server: any SignallingServer.Type

  public var vocabulary: ProfileVocabulary { app.vocabulary }
  public var name: String { vocabulary.profile }

  public init(app: any CallApp.Type, server: any SignallingServer.Type) {
    self.app = app
    self.server = server
  }
}

/// The profiles a run may use: ``builtIn``, or those and your own app's to script it like ours.
public struct ProfileCatalogue: Sendable {
  public let profiles: [Profile]

  /// - Throws: what does not fit in the declaration of one of them, or that two have one name.
  public init(_ profiles: [Profile]) throws(UnfitProfile) {
    for (index, profile) in profiles.enumerated() {
      try profile.vocabulary.check()
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
