/// Lets so many tests at once have hosts: the machines that run them are small.
actor HostSlots {
  static let shared = HostSlots(4)

  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ count: Int) { free = count }

  /// Runs `body` while it holds a slot.
  nonisolated func withSlot<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
    await take()
    do {
      let value = try await body()
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
