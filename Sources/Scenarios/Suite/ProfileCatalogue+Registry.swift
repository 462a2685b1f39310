public import Profiles

extension ProfileCatalogue {
  /// What scenario files may name.
  public var registry: ProfileRegistry { ProfileRegistry(checked: profiles.map(\.vocabulary)) }
}
