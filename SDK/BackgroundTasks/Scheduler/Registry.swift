struct Registry: Sendable {
  /// The author's kinds of identifiers and wildcards.
  let hints: [String: BackgroundTasksPlugin.Kind]
  private(set) var targets: [String: Target] = [:]
  private var handlers: [String: LaunchHandler] = [:]

  init(hints: [String: BackgroundTasksPlugin.Kind] = [:]) {
    self.hints = hints
  }

  /// Whether a handler was registered under exactly this identifier or wildcard.
  func hasHandler(_ pattern: String) -> Bool { handlers[pattern] != nil }

  /// The handler of an identifier: its own, else that of the wildcard that covers it.
  func handler(for identifier: String) -> LaunchHandler? {
    handlers[identifier] ?? wildcard(for: identifier).flatMap { handlers[$0.hostIdentifier + ".*"] }
  }

  func target(for identifier: String) -> Target? {
    if let target = targets[identifier], !target.isWildcard { return target }
    return wildcard(for: identifier)
  }

  /// The target to register with the host before a handler for `pattern`; that of the wildcard if one is hinted at.
  func missingTarget(for pattern: String) -> Target {
    let candidates = hints.map { Target($0.key, hint: $0.value) }.filter { $0.covers(pattern) }
    if hints[pattern] == nil, !pattern.hasSuffix(".*"), let wildcard = candidates.max(by: Self.isLessSpecific) { return wildcard }
    return Target(pattern, hint: hints[pattern])
  }

  mutating func add(_ target: Target) { targets[target.hostIdentifier] = target }

  mutating func add(_ handler: LaunchHandler, for pattern: String) { handlers[pattern] = handler }

  private func wildcard(for identifier: String) -> Target? {
    targets.values.filter { $0.covers(identifier) }.max(by: Self.isLessSpecific)
  }

  private static func isLessSpecific(_ one: Target, _ other: Target) -> Bool {
    one.hostIdentifier.utf8.count < other.hostIdentifier.utf8.count
  }
}
