extension TaskRequest {
  /// Refuses what no host accepts: a value beyond its limit, and fields that contradict each other.
  ///
  /// Called wherever a request arrives, and by the scheduler before it stores one. The scheduler checks what depends on the host, such as
  /// its handlers, its configuration and its clock.
  public func check() throws(RequestRefusal) {
    try RequestField.payload.check(payloadBytes: payload.count)
    try RequestField.priority.check(priority, in: Limits.priorities)
    try checkKeys()
    try checkGates()
    try checkTimes()
    try RequestField.after.check(elements: after.count)
    if let event {
      try event.check()
      try event.check(for: identifier)
    }
    if let repetition { try check(repetition) }
    if let retry { try retry.check() }
  }

  private func checkKeys() throws(RequestRefusal) {
    if let uniqueKey {
      try RequestField.uniqueKey.check(key: uniqueKey)
    } else if onConflict != .none {
      throw RequestField.uniqueKey.refusal("is missing: on_conflict applies to requests with the same key")
    }
    if let uniqueWindow {
      guard uniqueKey != nil, onConflict != .none else {
        throw RequestField.uniqueWindow.refusal("needs a unique key and a conflict policy: send unique_key and on_conflict too")
      }
      try RequestField.uniqueWindow.check(uniqueWindow, in: .milliseconds(1)...Limits.longestDuration)
    }
    if let idempotencyKey { try RequestField.idempotencyKey.check(key: idempotencyKey) }
    try RequestField.tags.check(elements: tags.count)
    for (index, tag) in tags.enumerated() {
      try RequestField.tags.check(key: tag, part: "[\(index)]")
      guard !tag.hasPrefix(Self.ownerTag) || tag == owner.map({ Self.ownerTag + $0.rawValue }) else {
        throw Self.reserved(Self.ownerTag, index)
      }
    }
  }

  /// Throws unless the host itself, or nobody, says with a tag whose end the request tells of.
  ///
  /// - Parameter held: Tags that the request has already.
  public func checkEndedTag(held: [String] = []) throws(RequestRefusal) {
    for (index, tag) in tags.enumerated() where tag.hasPrefix(Self.endedTag) && !held.contains(tag) {
      throw Self.reserved(Self.endedTag, index)
    }
  }

  private static func reserved(_ prefix: String, _ index: Int) -> RequestRefusal {
    RequestField.tags.refusal("tags that begin with \(prefix) are reserved for the host: use another", part: "[\(index)]")
  }

  private func checkGates() throws(RequestRefusal) {
    guard Conditions.all.isSuperset(of: conditions) else {
      throw RequestField.conditions.refusal(
        "unknown bits \(conditions.subtracting(.all).rawValue): the known conditions are \(Conditions.all.names.joined(separator: ", "))")
    }
    if let window = gates.window { try RequestField.window.check(key: window) }
    if let key = gates.concurrencyKey { try RequestField.concurrencyKey.check(key: key, printable: true) }
    if let prefer = gates.prefer { try RequestField.prefer.check(key: prefer, printable: true) }
    try RequestField.flex.check(gates.flex)
    guard !gates.resources.isEmpty else { return }
    try RequestField.resources.check(elements: gates.resources.count)
    for (name, tokens) in gates.resources.sorted(by: { $0.key < $1.key }) {
      try RequestField.resources.check(key: name, printable: true, part: ".\(String(name.prefix(80)).escapingControlCharacters)")
      try RequestField.resources.check(tokens, in: Limits.resourceTokens, part: ".\(name)")
    }
  }

  private func checkTimes() throws(RequestRefusal) {
    if let delay { try RequestField.delay.check(delay) }
    try RequestField.jitter.check(jitter)
    try RequestField.earliestBegin.check(earliestBegin)
    try RequestField.deadline.check(deadline)
    if let deadline, let earliestBegin, deadline < earliestBegin {
      throw RequestField.deadline.refusal("is before the earliest begin: move one of them")
    }
  }

  private func check(_ rule: RepeatRule) throws(RequestRefusal) {
    switch rule.schedule {
    case .event where event == nil: throw RequestField.everyEvent.refusal("needs an event: name one, or a file to watch")
    case .event: break
    case .every(let interval):
      try checkOnlyTimes(.every)
      try RequestField.every.check(interval, in: .milliseconds(1)...Limits.longestDuration)
    case .cron(let cron):
      try checkOnlyTimes(.cron)
      try RequestField.cron.check(key: cron.expression)
      if !cron.timeZone.isEmpty { try RequestField.timeZone.check(key: cron.timeZone) }
    }
    if case .all(let limit, let spread) = rule.missed {
      try RequestField.missedLimit.check(limit, in: Limits.missedRuns)
      try RequestField.missedSpread.check(spread)
    }
    guard after.isEmpty else {
      throw RequestField.after.refusal(
        "a request that repeats cannot wait for others: submit it once they have succeeded, or leave after out")
    }
    guard onConflict != .append else {
      throw RequestField.onConflict.refusal("a request that repeats never ends, so nothing can be appended: choose keep, replace or update")
    }
  }

  private func checkOnlyTimes(_ field: RequestField) throws(RequestRefusal) {
    guard event != nil else { return }
    throw field.refusal("a request waits for its times or for an event: send every_event to run at every event")
  }
}

extension RetryPolicy {
  fileprivate func check() throws(RequestRefusal) {
    try RequestField.retry.check(attempts, in: Limits.attempts, part: RequestField.Retry.attempts.part)
    try RequestField.retry.check(initial, in: Limits.retryDelays, part: RequestField.Retry.initial.part)
    try RequestField.retry.check(maximum, in: Limits.retryDelays, part: RequestField.Retry.maximum.part)
    guard initial <= maximum else {
      throw RequestField.retry.refusal(
        "\(initial.wholeMilliseconds) is above maximum_ms (\(maximum.wholeMilliseconds)): raise that too",
        part: RequestField.Retry.initial.part)
    }
  }
}

extension EventTrigger {
  /// Refuses a text that is neither the name of an event nor a path, and a debounce time beyond its limit.
  ///
  /// - Parameter field: The field that carried the path: a name that begins with ``filePrefix`` may come as an event.
  public func check(pathIn field: RequestField = .watch) throws(RequestRefusal) {
    if let path {
      let shown = String(path.prefix(80)).escapingControlCharacters
      guard path.hasPrefix("/") else {
        throw field.refusal("\"\(shown)\" is not an absolute path: begin with /, since the host does not know your directory")
      }
      guard path.utf8.count <= Limits.pathBytes, !path.utf8.contains(0) else {
        throw field.refusal("\"\(shown)\" is not a valid path: it is too long or has a NUL character")
      }
    } else if let flaw = Self.flaw(of: name) {
      throw RequestField.event.refusal(flaw)
    }
    try RequestField.debounce.check(debounce)
  }

  /// Refuses an event that requests of `identifier` must not wait for.
  public func check(for identifier: TaskIdentifier) throws(RequestRefusal) {
    guard HostEvents.task(of: name) != identifier else {
      throw RequestField.event.refusal("a task that runs at the end of its own runs would never stop: name another identifier")
    }
  }

  /// What is wrong with the name of an event; nil if it is valid.
  public static func flaw(of name: String) -> String? {
    if !(1...Limits.keyBytes).contains(name.utf8.count) {
      return "an event name has 1 to \(Limits.keyBytes) bytes, this one has \(name.utf8.count)"
    }
    if name.hasPrefix(filePrefix) { return "an event name must not begin with \(filePrefix), which stands for a file" }
    if let flaw = HostEvents.flaw(of: name) { return flaw }
    return name.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F } ? "an event name must not contain control characters" : nil
  }
}
