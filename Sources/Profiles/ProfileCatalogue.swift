public import VirtualPeer
public import Vocabulary

/// A product as scenarios name it: its app and its signalling server.
public struct Profile {
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
public struct ProfileCatalogue {
  public var profiles: [Profile]

  public init(_ profiles: [Profile]) { self.profiles = profiles }

  public static var builtIn: ProfileCatalogue {
    ProfileCatalogue([Profile(app: KnotosApp.self, server: KnotosServer.self)])
  }

  public subscript(name: String) -> Profile? { profiles.first { $0.name == name } }
}
