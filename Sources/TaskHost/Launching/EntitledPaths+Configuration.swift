import OpenFiles
import TaskModel

extension EntitledPaths {
  /// The paths that the configuration gives to the identifier's plugin.
  init(of identifier: TaskIdentifier, in configuration: HostConfiguration, stateDirectory: String) {
    let settings = configuration.plugin(identifier.rawValue)
    guard settings.isolation != .thread else {
      self = .everything
      return
    }
    let data = try? StateDirectory.dataDirectory(in: stateDirectory, for: identifier)
    self.init(read: settings.entitlements.read, write: settings.entitlements.write + (data.map { [$0] } ?? []))
  }
}
