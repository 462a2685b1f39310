public import Profiles
public import ScenarioFormat

extension ProfileCatalogue {
  /// What scenario files may name.
  public var registry: ProfileRegistry { ProfileRegistry(checked: profiles.map(\.vocabulary)) }
}
