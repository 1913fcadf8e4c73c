import TestSupport
import Glibc

/// What a test shares with the plugin it runs: the `runtime_probe` of runtime_fixture.h, in a file that both map.
public final class Probe: Sendable {
  // reason: its semaphores are made to be shared; values are written before a semaphore is raised and read after it was lowered
  nonisolated(unsafe) private let memory: UnsafeMutableRawPointer
  private let path: String
  private static let size = 704
  private static let release = 32
  private static let values = 64
  private static let text = 448

  /// A probe with all values 0.
  public init() throws {
    path = TestFolder.newFile()
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    guard descriptor >= 0, ftruncate(descriptor, Self.size) == 0,
      let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else { throw TestFailure("no probe at \(path): \(String(cString: strerror(errno)))") }
    self.memory = memory
    sem_init(semaphore(at: 0), 1, 0)
    sem_init(semaphore(at: Self.release), 1, 0)
  }

  /// The file stays, as long as the tests run: the plugin may be late.
  deinit { munmap(memory, Self.size) }

  /// The payload that tells a plugin of the probe: its path and a 0 byte. More may follow.
  public var payload: [UInt8] { Array(path.utf8) + [0] }

  /// The payload that tells `worker_actions` what to do.
  public func payload(_ action: String) -> [UInt8] { payload + Array(action.utf8) }

  /// Waits until the plugin has come to the point in question; throws after `seconds`.
  public func reached(within seconds: Int = 60, _ what: String = "the plugin's point") async throws {
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
  public func release(_ times: Int = 1) { for _ in 0..<times { sem_post(semaphore(at: Self.release)) } }

  /// A value that the plugin or the test wrote.
  public subscript(index: Int) -> Int64 {
    get { memory.load(fromByteOffset: Self.values + 8 * index, as: Int64.self) }
    set { memory.storeBytes(of: newValue, toByteOffset: Self.values + 8 * index, as: Int64.self) }
  }

  /// What the plugin wrote.
  public var text: String { String(cString: (memory + Self.text).assumingMemoryBound(to: CChar.self)) }

  private func semaphore(at offset: Int) -> UnsafeMutablePointer<sem_t> { (memory + offset).assumingMemoryBound(to: sem_t.self) }
}
