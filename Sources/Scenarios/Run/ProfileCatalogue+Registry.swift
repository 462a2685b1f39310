public import Profiles
public import ScenarioFormat

extension ProfileCatalogue {
  /// The names that scenario files may use.
  public var registry: ProfileRegistry { ProfileRegistry(checked: profiles.map(\.vocabulary)) }
}
