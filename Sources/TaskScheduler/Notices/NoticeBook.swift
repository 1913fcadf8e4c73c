import StrictText
import TaskModel

/// What the scheduler remembers in order to tell of incidents: for each rule its last notifications, and what people were told that a later
/// success recovers from.
struct NoticeBook {
  /// What recovers together: the requests of an identifier with one unique key, or those without one.
  struct Subject: Hashable {
    let identifier: TaskIdentifier
    let key: String?
  }

  /// A rule and its notifications.
  struct Slot {
    let rule: NoticeRule
    /// The notification that waits for its time, if that is known to be so. Incidents are added to it.
    var open: RequestID?
    /// When the last notifications were to begin, at most ``NoticeRule/perHour``, newest last.
    private(set) var starts: [WallTime] = []

    /// When the next notification may begin.
    func nextStart(now: WallTime) -> WallTime {
      // A calendar that was set back must not silence a rule for longer than its own times.
      let starts = starts.map { min($0, now) }
      var next = now
      if let last = starts.last { next = max(next, last + rule.window) }
      if starts.count >= max(1, rule.perHour) { next = max(next, starts[starts.count - max(1, rule.perHour)] + .seconds(3600)) }
      return next
    }

    mutating func note(start: WallTime) {
      starts.append(start)
      if starts.count > max(1, rule.perHour) { starts.removeFirst() }
    }
  }

  var slots: [Slot]
  /// Whoever tells is never told of: a notification about a notification would not end.
  let tellers: Set<TaskIdentifier>
  /// The numbers of failures in a row that a rule asks for.
  let thresholds: Set<Int>
  /// What people were told of each subject since its last success.
  private(set) var troubles: [Subject: Set<Incident.Kind>] = [:]
  /// Whether ``troubles`` is to be written.
  var hasChanged = false
  /// The failed runs of each subject since its last success, if ``thresholds`` has any.
  private(set) var failures: [Subject: Int] = [:]
  /// How many subjects of each identifier are in ``failures``.
  private var counted: [TaskIdentifier: Int] = [:]
  private var identifiers: Set<TaskIdentifier> = []
  /// Changes with ``failures``.
  private(set) var revision: UInt64 = 0

  /// The most subjects of which trouble is remembered, and those of one identifier. Beyond that, their recovery is not told.
  private static let (mostTroubles, mostTroublesOfOne) = (1000, 100)
  /// The most subjects whose failures are counted, and those of one identifier.
  private static let (mostCounted, mostCountedOfOne) = (10_000, 1000)

  /// Whether there is always room for it: the schedules of the configuration are few, keys of one-time requests may be any number.
  private static func isOfSchedule(_ subject: Subject) -> Bool {
    subject.key == nil || ScheduleName(key: subject.key, of: subject.identifier) != nil
  }

  init(_ rules: [NoticeRule]) {
    slots = rules.map { Slot(rule: $0) }
    tellers = Set(rules.compactMap(\.target))
    thresholds = Set(rules.filter { $0.kinds.contains(.failing) }.map(\.failures))
  }

  /// Whether a success of the identifier may matter.
  func concerns(_ identifier: TaskIdentifier) -> Bool { identifiers.contains(identifier) }

  // MARK: Troubles

  func isTold(_ kind: Incident.Kind, of subject: Subject) -> Bool { troubles[subject]?.contains(kind) == true }

  /// Notes that people are told of trouble.
  mutating func note(_ kind: Incident.Kind, of subject: Subject) {
    let hasRoom =
      troubles.count < Self.mostTroubles && troubles.keys.count { $0.identifier == subject.identifier } < Self.mostTroublesOfOne
    guard troubles[subject] != nil || Self.isOfSchedule(subject) || hasRoom else { return }
    guard troubles[subject, default: []].insert(kind).inserted else { return }
    identifiers.insert(subject.identifier)
    hasChanged = true
  }

  /// Notes a success.
  ///
  /// - Returns: Whether people were told of trouble that is over now.
  mutating func recover(_ subject: Subject) -> Bool {
    if failures.removeValue(forKey: subject) != nil {
      counted[subject.identifier] = counted[subject.identifier].flatMap { $0 > 1 ? $0 - 1 : nil }
      revision &+= 1
    }
    var hasRecovered = troubles.removeValue(forKey: subject) != nil
    // Any success of the identifier is one that was expected.
    let all = Subject(identifier: subject.identifier, key: nil)
    if troubles[all]?.remove(.overdue) != nil { hasRecovered = true }
    if troubles[all]?.isEmpty == true { troubles[all] = nil }
    if hasRecovered { hasChanged = true }
    if !troubles.keys.contains(where: { $0.identifier == subject.identifier }),
      !failures.keys.contains(where: { $0.identifier == subject.identifier })
    {
      identifiers.remove(subject.identifier)
    }
    return hasRecovered
  }

  /// Counts a failed run. Returns the number of failures in a row; nil if they are not counted.
  mutating func countFailure(of subject: Subject) -> Int? {
    guard !thresholds.isEmpty, mayCount(subject) else { return nil }
    let count = (failures[subject] ?? 0).adding(saturating: 1)
    restore(failures: count, of: subject)
    return count
  }

  private func mayCount(_ subject: Subject) -> Bool {
    if failures[subject] != nil || Self.isOfSchedule(subject) { return true }
    return failures.count < Self.mostCounted && counted[subject.identifier, default: 0] < Self.mostCountedOfOne
  }

  /// Takes over a count of failed runs, if there is room.
  mutating func restore(failures count: Int, of subject: Subject) {
    guard !thresholds.isEmpty, count > 0, mayCount(subject) else { return }
    if failures.updateValue(count, forKey: subject) == nil { counted[subject.identifier, default: 0] += 1 }
    revision &+= 1
    identifiers.insert(subject.identifier)
  }

  /// Takes over the counts of failed runs that another book has.
  mutating func takeOver(failuresOf other: NoticeBook) {
    for (subject, count) in other.failures { restore(failures: count, of: subject) }
  }

  // MARK: In the store

  /// The troubles as a value of a state.
  var stored: [UInt8] {
    JSONWriter.object { writer in
      writer.array("troubles", troubles.sorted { ($0.key.identifier, $0.key.key ?? "") < ($1.key.identifier, $1.key.key ?? "") }) {
        writer, trouble in
        writer.member("identifier", trouble.key.identifier.rawValue)
        writer.member("key", trouble.key.key)
        writer.member("kinds", trouble.value.map(\.rawValue).sorted())
      }
    }
  }

  /// Reads the troubles back. What cannot be read is forgotten.
  mutating func restore(_ stored: [UInt8]) {
    for node in (try? JSONReader.read(stored))?["troubles"]?.array ?? [] {
      guard let identifier = node["identifier"]?.string.flatMap({ try? TaskIdentifier($0) }) else { continue }
      for kind in (node["kinds"]?.array ?? []).compactMap({ $0.string.flatMap(Incident.Kind.init(rawValue:)) }) {
        note(kind, of: Subject(identifier: identifier, key: node["key"]?.string))
      }
    }
    hasChanged = false
  }
}
