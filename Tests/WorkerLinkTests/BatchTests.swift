import TaskModel
import Testing
import WorkerLink

@Suite("Batches") struct BatchTests {
  @Test("nothing makes no batch")
  func nothing() {
    #expect(WorkerMessage.batches(of: []).isEmpty)
    #expect(HostMessage.batches(of: []).isEmpty)
  }

  @Test("a batch fits a datagram, and all of them together are the orders in their order", arguments: [1, 2, 100, 1000, 10_000])
  func orders(_ count: Int) {
    let orders = (0..<count).map { order($0, payload: $0 % 7 * 100) }
    let batches = HostMessage.batches(of: orders)
    #expect(batches.flatMap { $0 } == orders)
    #expect(batches.allSatisfy { !$0.isEmpty && HostMessage.start($0).encode().bytes.count <= LinkFormat.batchBytes })
    #expect(count < 1000 || batches.contains { HostMessage.start($0).encode().bytes.count > LinkFormat.batchBytes / 2 })
  }

  @Test("an order that is larger than a batch is alone")
  func alone() {
    let orders = [order(0, payload: 0), order(1, payload: LinkFormat.batchBytes), order(2, payload: 0), order(3, payload: 0)]
    #expect(HostMessage.batches(of: orders).map(\.count) == [1, 1, 2])
  }

  @Test("a batch of endings fits a datagram", arguments: [1, 13, 5000])
  func endings(_ count: Int) {
    let endings = (0..<count).map { Samples.endings[$0 % Samples.endings.count] }
    let batches = WorkerMessage.batches(of: endings)
    #expect(batches.flatMap { $0 } == endings)
    #expect(batches.allSatisfy { !$0.isEmpty && WorkerMessage.ended($0).encode().bytes.count <= LinkFormat.batchBytes })
  }

  private func order(_ number: Int, payload: Int) -> WireOrder {
    WireOrder(
      run: RunID(sequence: Int64(number), origin: 1), request: Samples.request, identifier: Samples.identifier, attempt: 1,
      payload: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: payload))
  }
}
