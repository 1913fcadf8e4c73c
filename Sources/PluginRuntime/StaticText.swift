import CTaskHost
import HostThreads
import TaskModel

/// Texts that live as long as the process, for answers that are never NULL.
enum StaticText {
  // reason: written once before any other code can see it, never freed, never written again
  nonisolated(unsafe) static let empty: UnsafePointer<CChar> = make("")

  private static let monitor = Monitor()
  // reason: touched with `monitor` held
  nonisolated(unsafe) private static var identifiers: [TaskIdentifier: UnsafePointer<CChar>] = [:]

  /// An identifier that runs. Each is kept forever: plugins are few and stay.
  static func of(_ identifier: TaskIdentifier) -> UnsafePointer<CChar> {
    monitor.locked {
      if let text = identifiers[identifier] { return text }
      let text = make(identifier.rawValue)
      identifiers[identifier] = text
      return text
    }
  }

  /// A copy of `text` that is never freed.
  private static func make(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    copy.initialize(from: bytes, count: bytes.count)
    return UnsafePointer(copy)
  }
}
