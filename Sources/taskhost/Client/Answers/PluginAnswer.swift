/// The plugin files that were found.
struct PluginsAnswer: Decodable {
  let plugins: [PluginAnswer]
}

/// A plugin file and what became of it.
struct PluginAnswer: Decodable {
  struct Reason: Decodable {
    let message: String
  }

  let file: String
  let standing: String
  let identifier: String?
  let kind: String?
  let isolation: String?
  let running: Int64
  let maxConcurrentRuns: Int64?
  let heldUntilUnixMs: Int64?
  let lastTrouble: String?
  let quota: String?
  let rate: String?
  let reason: Reason?
}

/// What was held against a plugin until it was released.
struct ReleaseAnswer: Decodable {
  let strikes: Int64
  let hostCrashes: Int64
  let heldUntilUnixMs: Int64?
  let quarantinedSinceUnixMs: Int64?
  let lastTrouble: String?
}
