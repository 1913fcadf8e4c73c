package import TaskModel

/// Idempotency keys where those of clients and of all plugins are in one table, as in a fleet: a plugin's own name it.
package enum SharedKey {
  private static let beginning = TaskRequest.pluginKeyPrefix

  /// What stands for a plugin's key; nil if that has more than ``Limits/keyBytes``.
  package static func text(_ key: String, of plugin: TaskIdentifier) -> String? {
    let text = "\(beginning)\(plugin.rawValue):\(key)"
    return text.utf8.count <= Limits.keyBytes ? text : nil
  }

  /// The plugin and its key; nil for a client's.
  package static func parts(of text: String) -> (plugin: TaskIdentifier, key: String)? {
    guard text.hasPrefix(beginning) else { return nil }
    let rest = text.dropFirst(beginning.count)
    guard let end = rest.firstIndex(of: ":"), let plugin = try? TaskIdentifier(String(rest[..<end])) else { return nil }
    let key = String(rest[rest.index(after: end)...])
    return key.isEmpty ? nil : (plugin, key)
  }
}
