import TaskModel

/// A pause in its stored form: JSON in one column; NULL for a request that is not paused.
struct StoredPause: Codable {
  var by: String
  var since: Int64
  var reason: String?
  /// Whether a plugin paused it; nil in what an older version wrote: then its words say it.
  var plugin: Bool?

  static func text(of pause: RequestPause?) throws -> String? {
    try pause.map {
      try StoredJSON.encode(StoredPause(by: $0.by, since: $0.since.unixMilliseconds, reason: $0.reason, plugin: $0.isPlugins))
    }
  }

  static func pause(_ text: String?) throws -> RequestPause? {
    try text.map {
      let stored = try StoredJSON.decode(StoredPause.self, from: $0)
      return RequestPause(
        by: stored.by, since: WallTime(stored: stored.since), reason: stored.reason,
        isPlugins: stored.plugin ?? stored.by.hasPrefix(RequestPause.pluginPrefix))
    }
  }
}
