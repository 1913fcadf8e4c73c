import Glibc
import HostThreads
import Testing

@Suite("Host threads") struct HostThreadTests {
  /// What a thread of the host says of itself.
  private func facts(_ name: String) async throws -> (name: String, unblocked: [Int32], blockedFaults: [Int32]) {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try HostThread.start(name) {
          var blocked = sigset_t()
          pthread_sigmask(SIG_BLOCK, nil, &blocked)
          var text = [UInt8](repeating: 0, count: 64)
          let file = open("/proc/thread-self/comm", O_RDONLY)
          let length = max(1, read(file, &text, text.count))
          close(file)
          let asynchronous = [SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2]
          let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS]
          continuation.resume(
            returning: (
              String(decoding: text.prefix(length - 1), as: UTF8.self),
              asynchronous.filter { sigismember(&blocked, $0) == 0 }, faults.filter { sigismember(&blocked, $0) == 1 }
            ))
        }
      } catch { continuation.resume(throwing: error) }
    }
  }

  @Test("a thread has its name, cut to 15 bytes, and only faults unblocked") func made() async throws {
    let facts = try await facts("a-name-of-more-than-15-bytes")
    #expect(facts.name == "a-name-of-more-")
    #expect(facts.unblocked.isEmpty)
    #expect(facts.blockedFaults.isEmpty)
  }

  @Test("the maker's own signal mask stays as it was") func makersMask() throws {
    var before = sigset_t()
    var after = sigset_t()
    pthread_sigmask(SIG_BLOCK, nil, &before)
    try HostThread.start("mask") {}
    pthread_sigmask(SIG_BLOCK, nil, &after)
    for signal in 1...Int32(31) { #expect(sigismember(&before, signal) == sigismember(&after, signal)) }
  }

  @Test(
    "a run's thread is named after the last label",
    arguments: [
      ("com.example.refresh", "refresh"), ("single", "single"), ("a.b.", "b"), ("x.with-long-label-here", "with-long-label-here"),
    ])
  func names(_ identifier: String, _ name: String) { #expect(HostThread.name(for: identifier) == name) }
}
