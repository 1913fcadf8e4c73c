import Synchronization

/// What handlers have seen, in order.
final class Seen<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  func note(_ value: Value) { values.withLock { $0.append(value) } }
  var all: [Value] { values.withLock { $0 } }
}
