import TaskHostSDK

struct Target: Sendable {
  /// The identifier in the host: `NAME` for a wildcard `NAME.*`.
  let hostIdentifier: String
  /// The kind of a run whose request does not state it: the author's hint; continued for a wildcard.
  let hint: BackgroundTasksPlugin.Kind?
  let isWildcard: Bool

  init(_ pattern: String, hint: BackgroundTasksPlugin.Kind?) {
    isWildcard = pattern.hasSuffix(".*")
    hostIdentifier = isWildcard ? String(pattern.dropLast(2)) : pattern
    self.hint = hint ?? (isWildcard ? .continued : nil)
  }

  /// The kind to register. Without a hint it is processing, whose budget is enough for any submission; this module limits a refresh to 30
  /// s.
  var kind: TaskKind { (hint ?? .processing).hostKind }

  /// The most runs at once; tasks that share a wildcard are different tasks.
  var maxConcurrentRuns: UInt32 { isWildcard ? 8 : 1 }

  func covers(_ identifier: String) -> Bool {
    isWildcard && identifier.hasPrefix(hostIdentifier + ".") && identifier.utf8.count > hostIdentifier.utf8.count + 1
  }
}
