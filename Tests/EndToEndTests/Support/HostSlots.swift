/// Lets so many tests at once have hosts: the machines that run them are small.
actor HostSlots {
  static let shared = HostSlots(4)

  /// Whether this test has a slot: tests with several hosts that each waited for one more would wait for each other for ever.
  @TaskLocal private static var isHeld = false

  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  /// Runs `body` while its test holds a slot.
  nonisolated func withSlot<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    guard !Self.isHeld else { return try await body() }
    await take()
    do {
      let value = try await Self.$isHeld.withValue(true) { try await body() }
      await giveBack()
      return value
    } catch {
      await giveBack()
      throw error
    }
  }

  private func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  private func giveBack() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}
