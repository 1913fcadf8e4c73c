import TaskModel

extension HostMessage {
  /// The message as it travels. Texts for people are adapted to ``TaskModel/PluginText``. The decoder at the other end, not the
  /// encoder, refuses values that exceed other limits.
  public func encode() -> EncodedMessage {
    switch self {
    case .boot(let boot): message(1, capacity: 1024) { $0.write(boot) }
    case .contracts(let contracts): message(2, capacity: 256) { $0.list(contracts) }
    case .start(let orders): message(3, capacity: orders.reduce(16) { $0 + $1.wireBytes }) { $0.list(orders) }
    case .expire(let run, let reason):
      message(4, capacity: 32) {
        $0.write(run)
        $0.write(reason)
      }
    case .answer(let number, let answer):
      message(5, capacity: 64) {
        $0.integer(number)
        $0.write(answer)
      }
    case .shutdown: message(6, capacity: 8) { _ in }
    case .suspendBudgets(let isSuspended): message(8, capacity: 8) { $0.flag(isSuspended) }
    case .lease(let end): message(9, capacity: 16) { $0.integer(end) }
    case .withdraw(let runs): message(7, capacity: 16 + 16 * runs.count) { $0.list(runs) }
    }
  }

  /// Decodes a message from the host. Throws ``LinkError/malformed(what:)`` or ``LinkError/version(found:)``.
  public init(decoding received: ReceivedMessage) throws(LinkError) {
    var reader = MessageReader(received.bytes)
    switch try reader.kind() {
    case 1: self = .boot(try reader.read(WorkerBoot.self, "boot"))
    case 2: self = .contracts(try reader.list(HandlerContract.self, "contracts", atMost: LinkFormat.registrations))
    case 3: self = .start(try reader.list(WireOrder.self, "orders", atMost: LinkFormat.batchCount))
    case 4: self = .expire(try reader.read(RunID.self, "run"), try reader.read(StopReason.self, "stop reason"))
    case 5: self = .answer(number: try reader.integer(UInt64.self, "number"), try reader.read(CallAnswer.self, "answer"))
    case 6: self = .shutdown
    case 7: self = .withdraw(try reader.list(RunID.self, "runs", atMost: LinkFormat.batchCount))
    case 8: self = .suspendBudgets(try reader.flag("whether budgets are suspended"))
    case 9:
      let end = try reader.integer(Int64.self, "the end of a lease")
      guard end > 0 else { throw .malformed(what: "a lease ends before the clock began") }
      self = .lease(until: end)
    case let kind: throw .malformed(what: "kind \(kind) is not a message of a host")
    }
    try reader.end()
  }

  /// Splits orders in sequence so that each part fits a datagram; an order larger than ``LinkFormat/batchBytes`` is alone.
  public static func batches(of orders: [WireOrder]) -> [[WireOrder]] { orders.batches(\.wireBytes) }
}

@inline(__always) func message(_ kind: UInt8, capacity: Int, _ body: (inout MessageWriter) -> Void) -> EncodedMessage {
  var writer = MessageWriter(kind: kind, capacity: capacity)
  body(&writer)
  return EncodedMessage(bytes: writer.bytes)
}
