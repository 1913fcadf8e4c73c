import CTaskHost
import HostThreads

/// A handler of the plugin, wrapped so that its thread is watched.
final class WatchedHandler: Sendable {
  private struct Key: Hashable {
    let handler: UInt
    let context: UInt
  }

  private static let known = Guarded<[Key: WatchedHandler]>([:])

  private let handler: taskhost_handler
  // reason: the plugin guarantees that it stays valid and that the handler may be called with it on any thread
  nonisolated(unsafe) private let context: UnsafeMutableRawPointer?

  private init(_ handler: @escaping taskhost_handler, _ context: UnsafeMutableRawPointer?) {
    self.handler = handler
    self.context = context
  }

  /// Forwards a registration to the host with the watching handler instead of the plugin's.
  static func register(
    _ launch: taskhost_launch, _ registration: UnsafePointer<taskhost_registration>?,
    with real: (@convention(c) (taskhost_launch, UnsafePointer<taskhost_registration>?) -> taskhost_status)?
  ) -> taskhost_status {
    guard let real else { return taskhost_status(TASKHOST_EINTERNAL) }
    // A registration that is malformed, larger than this header's, or without a handler goes to the host unchanged.
    guard let registration, registration.pointee.struct_size == UInt32(MemoryLayout<taskhost_registration>.size),
      let handler = registration.pointee.handler
    else { return real(launch, registration) }
    var copy = registration.pointee
    let watched = watch(handler, copy.context)
    copy.handler = call
    copy.context = Unmanaged.passUnretained(watched).toOpaque()
    return real(launch, &copy)
  }

  /// The watching handler for a handler and its context, kept for the life of the process.
  private static func watch(_ handler: @escaping taskhost_handler, _ context: UnsafeMutableRawPointer?) -> WatchedHandler {
    let key = Key(handler: UInt(bitPattern: unsafeBitCast(handler, to: UnsafeRawPointer.self)), context: UInt(bitPattern: context))
    let made = WatchedHandler(handler, context)
    return known.withLock { known in
      if let earlier = known[key] { return earlier }
      known[key] = made
      return made
    }
  }

  private static let call: taskhost_handler = { task, context in
    guard let context else { return taskhost_result(TASKHOST_FAILURE) }
    return Unmanaged<WatchedHandler>.fromOpaque(context).takeUnretainedValue().run(task)
  }

  private func run(_ task: taskhost_task) -> taskhost_result {
    var mark: UInt8 = 0
    let frame = withUnsafeMutablePointer(to: &mark) { UInt(bitPattern: $0) }
    CallWatch.shared.began(task, frame: frame)
    let result = handler(task, context)
    CallWatch.shared.returned(task, isExpired: WatchedTable.isExpired(task))
    return result
  }
}
