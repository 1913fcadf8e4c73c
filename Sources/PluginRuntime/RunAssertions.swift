import CTaskHost
import TaskModel

/// The execution assertions of a run, as a value.
///
/// The host ends an assertion at its time by itself. The runtime keeps the same time, from before it asked the host, to call the plugin.
struct RunAssertions: Sendable {
  private enum State {
    case held(until: MonotonicTime)
    /// Its time is over, and a thread is in its expiration handler.
    case calling(on: UInt)
    case expired
  }

  private struct Entry {
    let id: AssertionID
    let call: AssertionCall?
    var state: State

    var deadline: MonotonicTime? { if case .held(let end) = state { end } else { nil } }
  }

  /// How many are remembered, with those that have expired and were not ended.
  private static let remembered = Limits.handlerAssertions * 2

  private var entries: [taskhost_assertion: Entry] = [:]

  /// When the next one expires; nil if none is held.
  var nextDeadline: MonotonicTime? { entries.isEmpty ? nil : entries.values.compactMap(\.deadline).min() }

  /// Adds one that the host has granted, and returns the plugin's number of it.
  mutating func hold(_ id: AssertionID, until end: MonotonicTime, _ call: AssertionCall?) -> taskhost_assertion {
    if entries.count >= Self.remembered {
      let oldest = entries.filter { if case .expired = $0.value.state { true } else { false } }.keys.min()
      if let oldest { entries[oldest] = nil }
    }
    let number = taskhost_assertion(bitPattern: id.sequence)
    entries[number] = Entry(id: id, call: call, state: .held(until: end))
    return number
  }

  /// Ends what is due, up to the first one with an expiration handler: the caller calls that.
  mutating func expire(at now: MonotonicTime, on thread: UInt) -> (number: taskhost_assertion, call: AssertionCall)? {
    guard let next = nextDeadline, next <= now else { return nil }
    let due = entries.filter { $0.value.deadline.map { $0 <= now } ?? false }.keys.sorted()
    for number in due {
      guard let call = entries[number]?.call else {
        entries[number]?.state = .expired
        continue
      }
      entries[number]?.state = .calling(on: thread)
      return (number, call)
    }
    return nil
  }

  /// An expiration handler has returned.
  mutating func returned(_ number: taskhost_assertion) { entries[number]?.state = .expired }

  /// Whether another thread is in the expiration handler.
  func isCalling(_ number: taskhost_assertion, apartFrom thread: UInt) -> Bool {
    if case .calling(let other)? = entries[number]?.state { other != thread } else { false }
  }

  /// Forgets one that its holder ends, and returns its id. Throws `expired` if its time was over, `notFound` if there is none.
  mutating func end(_ number: taskhost_assertion) throws(CallFailure) -> AssertionID {
    guard let entry = entries[number] else { throw CallFailure(.notFound, "the run has no assertion \(number), or has ended it") }
    if case .calling = entry.state { throw Self.hasExpired }
    entries[number] = nil
    guard case .held = entry.state else { throw Self.hasExpired }
    return entry.id
  }

  /// How long one is still held; zero if it has expired, nil if there is none.
  func remaining(_ number: taskhost_assertion, at now: MonotonicTime) -> Duration? {
    entries[number].map { $0.deadline.map { max(.zero, $0 - now) } ?? .zero }
  }

  static let hasExpired = CallFailure(.expired, "the assertion has expired: the host did not wait for its end")
}

/// The call of an assertion's expiration handler.
struct AssertionCall: @unchecked Sendable {  // reason: two addresses that the plugin promises to keep valid
  let handler: taskhost_assertion_handler
  let context: UnsafeMutableRawPointer?
}
