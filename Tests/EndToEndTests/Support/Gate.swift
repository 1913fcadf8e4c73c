import TestSupport
import Foundation
import Glibc
import Synchronization

/// A FIFO at which one run waits: a test knows that the run has come, and lets it go on. A second run may come once the first has gone.
final class Gate: Sendable {
  let path: String
  private let held = Mutex<Int32?>(nil)

  init(path: String) { self.path = path }

  deinit { release() }

  /// Waits until a run has opened the FIFO, and holds it there.
  func arrival(within limit: Duration = .seconds(30)) async throws {
    let path = path
    // Opening for writing waits for the reader; when none comes in time, a reader of the test's own ends the wait.
    let isLate = Mutex(false)
    let late = Task {
      try await Task.sleep(for: limit)
      isLate.withLock { $0 = true }
      return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    }
    let descriptor = try await onThread { open(path, O_WRONLY | O_CLOEXEC) }
    late.cancel()
    // The one before is let go only now: a run that comes while it is still held must not slip through as that is given up.
    held.withLock { held in
      if let before = held { close(before) }
      held = descriptor
    }
    if let reader = try? await late.value { close(reader) }
    if isLate.withLock({ $0 }) || descriptor < 0 {
      release()
      throw TestFailure("no run came to the gate \(path) within \(limit)")
    }
  }

  /// Lets the run that waits go on.
  func release() {
    held.withLock { held in
      if let descriptor = held { close(descriptor) }
      held = nil
    }
  }

  /// Waits for a run, and lets it go on at once.
  func pass() async throws {
    try await arrival()
    release()
  }

  /// Reads what a thread of a plugin writes to the FIFO, to the end.
  func read() async throws -> String {
    let path = path
    return try await onThread {
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw TestFailure("\(path): errno \(errno)") }
      defer { close(descriptor) }
      var all: [UInt8] = []
      try Channel.readAll(descriptor) { all += $0 }
      return String(decoding: all, as: UTF8.self)
    }
  }
}
