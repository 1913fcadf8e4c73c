internal import CTaskHost
internal import StrictText
internal import TaskHostSDK

/// A line that a persistent child writes to its standard output: one JSON object.
enum ChildMessage: Equatable {
  /// Unit and message: nil keeps the last one.
  case progress(completed: UInt64, total: UInt64, unit: String?, message: String?)
  case work(WorkCounts)
  case log(level: Int, String)
  case result(TaskResult, output: [UInt8]?, message: String?)
  /// Any other text, such as what a program prints while its author looks for a mistake.
  case text

  /// The maximum length of a line in bytes.
  static let limit = 1 << 20
  /// How deep arrays and objects may be nested in a message, its own object included.
  static let depth = 128

  private static let levels = [
    "trace": TASKHOST_TRACE, "debug": TASKHOST_DEBUG, "info": TASKHOST_INFO, "notice": TASKHOST_NOTICE, "warning": TASKHOST_WARNING,
    "error": TASKHOST_ERROR,
  ]

  /// A message that is not as the protocol says.
  struct Flaw: Error, Equatable {
    let sentence: String
    /// Whether it was to be the result, without which the run cannot end.
    var isResult = false
  }

  /// Reads a line.
  ///
  /// - Parameter run: The number of the run that it must belong to.
  init(_ line: [UInt8], run: Int64) throws(Flaw) {
    let node: JSONNode
    do throws(JSONSyntaxError) { node = try Self.read(line) } catch {
      // Nobody prints such an object by chance, and if it is the result, the run would wait for it in vain.
      guard error.isTooDeep, line.first(where: { $0 != 0x20 && $0 != 0x09 }) == UInt8(ascii: "{") else {
        self = .text
        return
      }
      throw Flaw(sentence: "arrays and objects in a line are nested more than \(Self.depth) deep: nest them less", isResult: true)
    }
    guard case .object = node.value else {
      self = .text
      return
    }
    guard let type = node["type"]?.string else { throw Flaw(sentence: "a line without \"type\"") }
    let isResult = type == "result"
    guard let number = node["run"]?.integer else { throw Flaw(sentence: "\(type) without \"run\"", isResult: isResult) }
    guard number == run else { throw Flaw(sentence: "\(type) for run \(number), while run \(run) is live") }
    switch type {
    case "progress":
      guard let completed = node["completed"]?.integer, completed >= 0 else {
        throw Flaw(sentence: "progress without \"completed\", a whole number from 0")
      }
      let total = node["total"]?.integer ?? 0
      guard total >= 0 else { throw Flaw(sentence: "progress with a negative \"total\"") }
      for name in ["unit", "message"] {
        if let text = node[name], text.string == nil { throw Flaw(sentence: "progress with a \"\(name)\" that is not a string") }
      }
      self = .progress(
        completed: UInt64(completed), total: UInt64(total), unit: node["unit"]?.string, message: node["message"]?.string)
    case "work":
      func count(_ name: String) throws(Flaw) -> UInt64 {
        guard let value = node[name] else { return 0 }
        guard let number = value.integer, number >= 0 else {
          throw Flaw(sentence: "work with a \"\(name)\" that is not a whole number from 0")
        }
        return UInt64(number)
      }
      self = .work(
        WorkCounts(
          attempted: try count("items_attempted"), completed: try count("items_completed"), failed: try count("items_failed"),
          bytesIn: try count("bytes_in"), bytesOut: try count("bytes_out")))
    case "log":
      guard let message = node["message"]?.string else { throw Flaw(sentence: "log without \"message\"") }
      let level = node["level"]?.string ?? "info"
      guard let number = Self.levels[level] else { throw Flaw(sentence: "log with the unknown level \"\(level)\"") }
      self = .log(level: number, message)
    case "result":
      guard let name = node["result"]?.string, var result = ExitCodes.result(named: name) else {
        let found = node["result"].map { $0.string.map { "\"\($0)\"" } ?? $0.kind } ?? "none"
        throw Flaw(sentence: "result must be one of \(ExitCodes.names.joined(separator: ", ")), found \(found)", isResult: true)
      }
      if let delay = node["retry_after_ms"] {
        guard let milliseconds = delay.integer, milliseconds >= 0 else {
          throw Flaw(sentence: "retry_after_ms must be a whole number from 0", isResult: true)
        }
        if case .retry = result { result = .retry(after: .milliseconds(milliseconds)) }
        if case .snooze = result { result = .snooze(after: .milliseconds(milliseconds)) }
      }
      if let message = node["message"], message.string == nil { throw Flaw(sentence: "message must be a string", isResult: true) }
      self = .result(result, output: node["output"].map { Array(line[$0.range]) }, message: node["message"]?.string)
    default: throw Flaw(sentence: "a line of the unknown type \"\(type)\"")
    }
  }

  /// The sentence about a result that came when its run was over or had not begun; nil for any other line.
  static func stray(_ line: [UInt8]) -> String? {
    guard let node = try? read(line), node["type"]?.string == "result" else { return nil }
    return "a result\(node["run"]?.integer.map { " for run \($0)" } ?? ""), which was not live"
  }

  private static func read(_ line: [UInt8]) throws(JSONSyntaxError) -> JSONNode {
    try JSONReader.read(line, limits: JSONLimits(depth: depth, opaqueMembers: ["output"]))
  }

  // MARK: To the child

  /// The line that begins a run.
  static func begin(_ number: Int64, _ settings: CommandSettings, _ run: RunHandle) -> [UInt8] {
    let payload = (try? run.payload()) ?? []
    return JSONWriter.object { writer in
      writer.member("type", "run")
      writer.member("run", number)
      writer.member("identifier", settings.identifier)
      writer.member("request_id", run.functions.pointee.request_id(run.task).map { String(cString: $0) })
      writer.member("attempt", run.functions.pointee.attempt(run.task))
      writer.member("traceparent", run.trace?.traceparent)
      writer.member("remaining_ms", max(0, run.functions.pointee.remaining_ms(run.task)))
      if payload.isEmpty { return }
      if JSONReader.isValid(payload) {
        writer.name("payload")
        // Line feeds in JSON stand between values, and would end the line here.
        writer.raw(payload.map { $0 == 0x0A || $0 == 0x0D ? 0x20 : $0 })
      } else {
        writer.member("payload_base64", Base64.encode(payload))
      }
    } + [UInt8(ascii: "\n")]
  }

  /// The line that asks for the end of a run.
  static func expire(_ number: Int64, _ reason: StopReason, graceMilliseconds: Int64) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member("type", "expire")
      writer.member("run", number)
      writer.member("reason", reason.word)
      writer.member("grace_ms", max(0, graceMilliseconds))
    } + [UInt8(ascii: "\n")]
  }
}

extension StopReason {
  /// Its name in the protocol, as in `taskhost.h`.
  fileprivate var word: String {
    switch self {
    case .none: "none"
    case .budget: "budget"
    case .cancelled: "cancelled"
    case .conditions: "conditions"
    case .draining: "draining"
    case .replaced: "replaced"
    case .stalled: "stalled"
    case .other(let number): "reason \(number)"
    }
  }
}
