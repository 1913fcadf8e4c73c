import Glibc
import HostThreads
import Synchronization
import TaskModel
import Testing

@Suite("Host threads") struct HostThreadTests {
  /// What a thread of the host says of itself.
  private func facts(_ name: String) async throws -> (name: String, stack: Int, unblocked: [Int32], blockedFaults: [Int32]) {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try HostThread.start(name) {
          var attributes = pthread_attr_t()
          var stack = 0
          pthread_getattr_np(pthread_self(), &attributes)
          pthread_attr_getstacksize(&attributes, &stack)
          pthread_attr_destroy(&attributes)
          var blocked = sigset_t()
          pthread_sigmask(SIG_BLOCK, nil, &blocked)
          var text = [CChar](repeating: 0, count: 64)
          pthread_getname_np(pthread_self(), &text, text.count)
          let asynchronous = [SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2]
          let faults = [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS]
          continuation.resume(
            returning: (
              String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self), stack,
              asynchronous.filter { sigismember(&blocked, $0) == 0 }, faults.filter { sigismember(&blocked, $0) == 1 }
            ))
        }
      } catch { continuation.resume(throwing: error) }
    }
  }

  @Test("a thread has its name, cut to 15 bytes, 8 MiB of stack, and only faults unblocked") func made() async throws {
    let facts = try await facts("a-name-of-more-than-15-bytes")
    #expect(facts.name == "a-name-of-more-")
    #expect(facts.stack >= 8 << 20)
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
    arguments: [("com.example.refresh", "refresh"), ("single", "single"), ("a.b.", "b"), ("x.with-long-label-here", "with-long-label-here")])
  func names(_ identifier: String, _ name: String) { #expect(HostThread.name(for: identifier) == name) }
}
