import StrictText
import TaskHostSDK

/// The work of a request so far, over all its runs; its JSON is the output.
struct CleanupReport: Codable, Sendable, Equatable {
  var removed: UInt64
  var bytesRemoved: UInt64
  var keptOpen: UInt64
  var errors: UInt64
  var rules: [RuleReport]

  /// An output can have 64 KiB; this leaves some room for other data.
  static let maximumBytes = 60 * 1024

  init(rules: [RuleReport]) {
    self.rules = rules
    removed = rules.reduce(0) { $0 + $1.removed }
    bytesRemoved = rules.reduce(0) { $0 + $1.bytesRemoved }
    keptOpen = rules.reduce(0) { $0 + $1.keptOpen }
    errors = rules.reduce(0) { $0 + $1.errors }
  }

  /// The JSON with sorted keys. If it does not fit into an output, the messages are omitted.
  func encoded() throws -> [UInt8] {
    let whole = try JSON.encode(self)
    guard whole.count > Self.maximumBytes else { return whole }
    var shorter = self
    for index in shorter.rules.indices {
      shorter.rules[index].messages = []
      shorter.rules[index].problem = shorter.rules[index].problem.map { String($0.prefix(160)) }
    }
    return try JSON.encode(shorter)
  }

  /// One sentence for the log and the operator.
  var summary: String {
    let isDryRun = !rules.isEmpty && rules.allSatisfy(\.dryRun)
    var text = "\(isDryRun ? "would remove" : "removed") \(removed) files (\(ByteCountFormat.words(Int64(clamping: bytesRemoved))))"
    if keptOpen > 0 { text += ", kept \(keptOpen) in use" }
    if errors > 0 { text += ", \(errors) errors" }
    let missing = rules.filter { $0.status == .missing }.map(\.name)
    if !missing.isEmpty { text += ", no such directory: \(missing.joined(separator: ", "))" }
    return text
  }

  enum CodingKeys: String, CodingKey {
    case removed, errors, rules
    case bytesRemoved = "bytes_removed"
    case keptOpen = "kept_open"
  }
}
