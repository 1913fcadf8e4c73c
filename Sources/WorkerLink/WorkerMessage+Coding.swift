import TaskModel

extension WorkerMessage {
  /// The message as it travels. Texts for people are adapted to ``TaskModel/PluginText``. The decoder at the other end, not the
  /// encoder, refuses values that exceed other limits.
  public func encode() -> EncodedMessage {
    switch self {
    case .confined(let missing): message(65, capacity: 64) { $0.sentences(missing) }
    case .launched(let report): message(66, capacity: 256) { $0.write(report) }
    case .refused(let failure): message(67, capacity: 128) { $0.write(failure) }
    case .launchLog(let line): message(68, capacity: 32 + line.message.utf8.count) { $0.write(line) }
    case .ended(let endings): message(69, capacity: endings.reduce(16) { $0 + $1.wireBytes }) { $0.list(endings) }
    case .expired(let run, let reason):
      message(70, capacity: 32) {
        $0.write(run)
        $0.write(reason)
      }
    case .progress(let run, let progress):
      message(71, capacity: 64) {
        $0.write(run)
        $0.write(progress)
      }
    case .work(let run, let work):
      message(80, capacity: 64) {
        $0.write(run)
        $0.write(work)
      }
    case .log(let run, let line):
      message(72, capacity: 48 + line.message.utf8.count) {
        $0.optional(run)
        $0.write(line)
      }
    case .dropped(let lines): message(73, capacity: 16) { $0.integer(lines) }
    case .stuck(let run, let thread, let stack):
      message(74, capacity: 128 + stack.utf8.count) {
        $0.write(run)
        $0.text(PluginText.line(thread, limit: LinkFormat.nameBytes))
        $0.stack(stack)
      }
    case .call(let number, let call):
      message(75, capacity: 128) {
        $0.integer(number)
        $0.write(call)
      }
    case .stopped(let threadsLeft): message(76, capacity: 16) { $0.number(threadsLeft) }
    case .withdrawn(let run): message(77, capacity: 32) { $0.write(run) }
    case .began(let run): message(78, capacity: 32) { $0.write(run) }
    case .shortage(let identifier, let sentence):
      message(79, capacity: 64 + sentence.utf8.count) {
        $0.write(identifier)
        $0.sentence(sentence)
      }
    }
  }

  /// Decodes a message from a worker. Throws ``LinkError/malformed(what:)`` or ``LinkError/version(found:)``.
  public init(decoding received: ReceivedMessage) throws(LinkError) {
    var reader = MessageReader(received.bytes)
    switch try reader.kind() {
    case 65: self = .confined(missing: try reader.sentences("what the kernel lacks"))
    case 66: self = .launched(try reader.read(LaunchReport.self, "launch report"))
    case 67: self = .refused(try reader.read(LaunchFailure.self, "launch failure"))
    case 68: self = .launchLog(try reader.read(LogLine.self, "line"))
    case 69: self = .ended(try reader.list(WireEnding.self, "endings", atMost: LinkFormat.batchCount))
    case 70: self = .expired(try reader.read(RunID.self, "run"), try reader.read(StopReason.self, "stop reason"))
    case 71: self = .progress(try reader.read(RunID.self, "run"), try reader.read(RunProgress.self, "progress"))
    case 72: self = .log(try reader.optional(RunID.self, "run"), try reader.read(LogLine.self, "line"))
    case 73: self = .dropped(lines: try reader.integer(UInt64.self, "lines"))
    case 74:
      self = .stuck(
        try reader.read(RunID.self, "run"), thread: try reader.line("thread", limit: LinkFormat.nameBytes),
        stack: try reader.stack("stack"))
    case 75: self = .call(number: try reader.integer(UInt64.self, "number"), try reader.read(WorkerCall.self, "call"))
    case 76: self = .stopped(threadsLeft: try reader.number("threads left"))
    case 77: self = .withdrawn(try reader.read(RunID.self, "run"))
    case 78: self = .began(try reader.read(RunID.self, "run"))
    case 79: self = .shortage(try reader.identifier("identifier"), try reader.sentence("shortage"))
    case 80: self = .work(try reader.read(RunID.self, "run"), try reader.read(RunWork.self, "work"))
    case let kind: throw .malformed(what: "kind \(kind) is not a message of a worker")
    }
    try reader.end()
  }

  /// Splits endings in sequence so that each part fits a datagram; one larger than ``LinkFormat/batchBytes`` is alone.
  public static func batches(of endings: [WireEnding]) -> [[WireEnding]] { endings.batches(\.wireBytes) }
}
