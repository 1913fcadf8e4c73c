public import TaskModel

extension WallTime {
  /// Where the tests' calendar begins: 2026-01-01T00:00:00Z.
  public static let testStart = WallTime(unixMilliseconds: 1_767_225_600_000)

  /// So many milliseconds after the tests' calendar begins.
  public static func ms(_ milliseconds: Int64) -> WallTime { WallTime(unixMilliseconds: testStart.unixMilliseconds + milliseconds) }
}

extension TaskIdentifier {
  /// An identifier that the test knows to be one.
  ///
  /// - Parameter text: Checked; a wrong one becomes `wrong.identifier`, which no test uses otherwise.
  public static func sample(_ text: String = "org.example.task") -> TaskIdentifier {
    for candidate in [text, "wrong.identifier"] { if let identifier = try? TaskIdentifier(candidate) { return identifier } }
    preconditionFailure("wrong.identifier is an identifier")
  }
}

extension RequestRecord {
  /// A pending request that is due at `due`.
  public static func sample(
    _ sequence: Int64, origin: UInt64, identifier: TaskIdentifier = .sample(), state: RequestState = .pending, due: WallTime = .testStart,
    priority: Int = 0, key: String? = nil, payload: [UInt8] = [], tags: [String] = [], every: Duration? = nil, blockedBy: RequestID? = nil
  ) -> RequestRecord {
    RequestRecord(
      id: RequestID(sequence: sequence, origin: origin),
      request: TaskRequest(
        identifier: identifier, payload: payload, priority: priority, uniqueKey: key, onConflict: key == nil ? .none : .keep,
        retry: RetryPolicy(), repetition: every.map { RepeatRule(every: $0) }, tags: tags),
      state: state, due: due, occurrence: every == nil ? nil : due, submitted: .testStart, blockedBy: blockedBy)
  }
}
