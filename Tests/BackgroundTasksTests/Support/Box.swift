import Synchronization

/// A value that closures of a test share.
final class Box<Value: Sendable>: Sendable {
  private let content: Mutex<Value>

  init(_ value: Value) { content = Mutex(value) }

  var value: Value {
    get { content.withLock { $0 } }
    set { content.withLock { $0 = newValue } }
  }

  /// Changes the value in one step.
  func change(_ body: (inout Value) -> Void) { content.withLock { body(&$0) } }
}
