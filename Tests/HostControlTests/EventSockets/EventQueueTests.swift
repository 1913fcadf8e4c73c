import Testing

@testable import HostControl

@Suite("Queue of an event socket") struct EventQueueTests {
  @Test("datagrams come out in their order")
  func order() {
    var queue = EventQueue()
    #expect(queue.isEmpty && queue.next() == nil)
    for byte in UInt8(0)..<5 { #expect(queue.add([byte]) == 0) }
    #expect((0..<5).map { _ in queue.next() } == [[0], [1], [2], [3], [4]])
    #expect(queue.isEmpty)
  }

  @Test("when too many wait, the oldest goes")
  func count() {
    var queue = EventQueue()
    for number in 0..<EventQueue.maximumCount { #expect(queue.add([UInt8(truncatingIfNeeded: number)]) == 0) }
    #expect(queue.add([99]) == 1)
    #expect(queue.next() == [1])
    var last: [UInt8]?
    while let next = queue.next() { last = next }
    #expect(last == [99])
  }

  @Test("when too much waits, as many of the oldest go as is needed, and room that was left is there again")
  func bytes() {
    var queue = EventQueue()
    let large = [UInt8](repeating: 1, count: EventSocket.maximumBytes)
    let fitting = EventQueue.maximumBytes / large.count
    for _ in 0..<fitting { #expect(queue.add(large) == 0) }
    #expect(queue.add([2]) == 1)
    #expect(queue.add(large) == 1)
    for _ in 0..<fitting { _ = queue.next() }
    #expect(queue.isEmpty)
    for _ in 0..<fitting { #expect(queue.add(large) == 0) }
  }

  @Test("empty datagrams are bounded by their number")
  func empty() {
    var queue = EventQueue()
    let dropped = (0..<5000).reduce(0) { sum, _ in sum + queue.add([]) }
    #expect(dropped == 5000 - EventQueue.maximumCount)
  }
}
