import Testing

@testable import TaskHost

@Suite("Pings that wait") struct PingQueueTests {
  private func entry(_ url: String, _ signal: String, _ run: String = "1") -> PingQueue.Entry {
    PingQueue.Entry(url: url, signal: signal, run: run)
  }

  @Test("those of one URL are sent in their order, one at a time; others do not wait for them")
  func order() {
    var queue = PingQueue()
    for item in [entry("a", "start"), entry("a", "success"), entry("b", "start")] { queue.add(item) }
    #expect(queue.next() == entry("a", "start"))
    #expect(queue.next() == entry("b", "start"))
    #expect(queue.next() == nil)
    queue.finish(entry("a", "start"))
    #expect(queue.next() == entry("a", "success"))
  }

  @Test("a monitor that does not answer costs begins first; memory is bounded")
  func bounded() {
    var queue = PingQueue()
    for number in 0..<(10 * PingQueue.most) { queue.add(entry("a", number.isMultiple(of: 2) ? "start" : "fail", "\(number)")) }
    #expect(queue.dropped == 9 * PingQueue.most)
    var left: [PingQueue.Entry] = []
    while let next = queue.next() {
      left.append(next)
      queue.finish(next)
    }
    #expect(left.count == PingQueue.most && left.allSatisfy { $0.signal == "fail" } && left.last?.run == "\(10 * PingQueue.most - 1)")
  }
}
