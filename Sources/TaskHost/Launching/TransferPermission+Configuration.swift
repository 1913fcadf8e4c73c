import OpenFiles
import RecordJSON
import TaskModel

extension TransferPermission {
  /// What the configuration lets a plugin have transferred.
  ///
  /// - Parameters:
  ///   - own: All identifiers of the plugin.
  ///   - asking: The one whose run asks.
  /// - Throws: `notPermitted` if nothing.
  init(
    _ own: [TaskIdentifier], _ asking: TaskIdentifier, in configuration: HostConfiguration, stateDirectory: String
  ) throws(CallFailure) {
    let permitted = own.filter { configuration.plugin($0.rawValue).mayTransfer }
    guard let identifier = permitted.contains(asking) ? asking : permitted.first else {
      throw CallFailure(.notPermitted, "\(asking) may have nothing transferred: set may_transfer = true in its table")
    }
    let settings = configuration.plugin(identifier.rawValue)
    let folder: String
    do { folder = try StateDirectory.transferFolder(in: stateDirectory, for: identifier) } catch {
      throw CallFailure(.unavailable, error.description)
    }
    let isFree = settings.isolation == .thread
    self.init(
      identifier: identifier, completions: permitted, folder: folder,
      network: isFree ? .connect : Confinement.Network(settings.entitlements.network)
    ) { path in
      // One that it may write it could replace by a link to another.
      isFree || EntitledPaths(of: identifier, in: configuration, stateDirectory: stateDirectory).entitlement(to: path) == .read
    }
  }
}
