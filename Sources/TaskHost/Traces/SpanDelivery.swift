import StrictText
import TaskModel

/// What became of a message of spans, as `taskhost-notify traces` says: by its exit code, and by a JSON object on its standard output.
enum SpanDelivery: Equatable {
  /// The collector has it, but for so many spans, for the reason.
  case taken(refused: Int, String)
  /// The collector may take it later.
  case later(String, pause: Duration?)
  /// The collector will never take it.
  case refused(String)

  /// Reads `{"message": "…", "retry_after_ms": 1000, "rejected": 2}`, all of which may be absent. A helper that says nothing has failed.
  ///
  /// - Parameter count: The number of spans that were sent.
  init(code: Int32, output: [UInt8], count: Int) {
    let node = try? JSONReader.read(output)
    let words = String((node?["message"]?.string ?? "").escapingControlCharacters.prefix(300))
    switch code {
    case 0: self = .taken(refused: Int(clamping: min(max(0, node?["rejected"]?.integer ?? 0), Int64(count))), words)
    case 1: self = .refused(words.isEmpty ? "the collector does not take them" : words)
    default:
      let pause = node?["retry_after_ms"]?.integer.map { Duration.milliseconds(max(0, $0)) }
      self = .later(words.isEmpty ? "taskhost-notify ended with code \(code)" : words, pause: pause)
    }
  }
}
