public import Foundation
import TaskHostSDK

extension FileManager {
  /// The plugin's own writable folder, the only one in its sandbox, whatever the group is: plugins share no folder. `nil` before the plugin
  /// has registered its handler.
  public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
    PluginPlace.dataDirectory.map { URL(fileURLWithPath: $0, isDirectory: true) }
  }
}
