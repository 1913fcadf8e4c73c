import CTaskHost
import HostThreads
import TaskModel

/// Texts that live as long as the process, for answers that are never NULL.
enum StaticText {
  private static let emptyText: StaticString = ""
  static var empty: UnsafePointer<CChar> { UnsafeRawPointer(emptyText.utf8Start).assumingMemoryBound(to: CChar.self) }

  private static let identifiers = Guarded<[TaskIdentifier: LentBytes]>([:])

  /// An identifier that runs. Each is kept forever: plugins are few and stay.
  static func of(_ identifier: TaskIdentifier) throws(CallFailure) -> UnsafePointer<CChar> {
    try identifiers.withLock { (identifiers) throws(CallFailure) in
      if let text = identifiers[identifier] { return text }
      let text = try LentBytes(Array(identifier.rawValue.utf8))
      identifiers[identifier] = text
      return text
    }.text
  }
}
