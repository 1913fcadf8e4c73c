import TaskHostSDK

struct Target: Sendable {
  /// What the host knows: for a wildcard `NAME.*`, `NAME`.
  let hostIdentifier: String
  /// What a run is where its request does not say: the author's hint, else what a wildcard is for.
  let hint: BackgroundTasksPlugin.Kind?
  let isWildcard: Bool

  /// The target of an identifier or a wildcard, with the author's hint.
  init(_ pattern: String, hint: BackgroundTasksPlugin.Kind?) {
    isWildcard = pattern.hasSuffix(".*")
    hostIdentifier = isWildcard ? String(pattern.dropLast(2)) : pattern
    self.hint = hint ?? (isWildcard ? .continued : nil)
  }

  /// The kind it is registered with. Without a hint processing: its budget is enough for whatever is submitted, and a refresh is held to its
  /// 30 s by this module.
  var kind: TaskKind { (hint ?? .processing).hostKind }

  /// How many runs of it may be live at once: tasks that share a wildcard are different tasks.
  var maxConcurrentRuns: UInt32 { isWildcard ? 8 : 1 }

  /// Whether it is a wildcard for `identifier`.
  func covers(_ identifier: String) -> Bool {
    isWildcard && identifier.hasPrefix(hostIdentifier + ".") && identifier.utf8.count > hostIdentifier.utf8.count + 1
  }
}
