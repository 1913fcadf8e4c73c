import Glibc
import HostThreads

/// What a test shares with the plugin it runs: the `runtime_probe` of runtime_fixture.h. Never freed, since a plugin may be late.
final class Probe: Sendable {
  // reason: its semaphores are made to be shared; values are written before a semaphore is raised and read after it was lowered
  nonisolated(unsafe) private let memory: UnsafeMutableRawPointer
  private static let size = 704
  private static let release = 32
  private static let values = 64
  private static let text = 448

  init() throws {
    guard let memory = calloc(1, Self.size) else { throw TestFailure("no memory") }
    self.memory = memory
    sem_init(semaphore(at: 0), 0, 0)
    sem_init(semaphore(at: Self.release), 0, 0)
  }

  /// The payload that tells a plugin of the probe.
  var payload: [UInt8] { withUnsafeBytes(of: UInt(bitPattern: memory)) { Array($0) } }

  /// Waits until the plugin has come to the point in question; throws after `seconds`.
  func reached(within seconds: Int = 60, _ what: String = "the plugin's point") async throws {
    try await onThread { [self] in
      var deadline = timespec()
      clock_gettime(CLOCK_REALTIME, &deadline)
      deadline.tv_sec += seconds
      while sem_timedwait(semaphore(at: 0), &deadline) != 0 {
        guard errno == EINTR else { throw TestFailure("\(what) was not reached in \(seconds) s") }
      }
    }
  }

  /// Lets the plugin go on.
  func release(_ times: Int = 1) { for _ in 0..<times { sem_post(semaphore(at: Self.release)) } }

  subscript(index: Int) -> Int64 {
    get { memory.load(fromByteOffset: Self.values + 8 * index, as: Int64.self) }
    set { memory.storeBytes(of: newValue, toByteOffset: Self.values + 8 * index, as: Int64.self) }
  }

  /// What the plugin wrote.
  var text: String { String(cString: (memory + Self.text).assumingMemoryBound(to: CChar.self)) }

  private func semaphore(at offset: Int) -> UnsafeMutablePointer<sem_t> { (memory + offset).assumingMemoryBound(to: sem_t.self) }
}
