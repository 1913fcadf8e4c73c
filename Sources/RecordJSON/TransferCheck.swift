import StrictText
public import TaskModel
import TransferOrders

/// Judges payloads of the plugin that carries transfers out, with the reader that it reads them with.
public enum TransferCheck {
  /// Why no transfer can come of a payload, naming each member that is wrong; nil if one can, or the request is of another identifier.
  public static func rejection(to payload: [UInt8], for identifier: TaskIdentifier) -> String? {
    guard identifier == .transfers else { return nil }
    guard !payload.isEmpty else { return #"it is missing: say {"url": "https://…", "to": "/path"}, or a list of such objects in items"# }
    let problems = problems(with: payload)
    guard !problems.isEmpty else { return nil }
    let more = problems.count - most
    // They quote the payload.
    return problems.prefix(most).map { $0.prefix(300).description.escapingControlCharacters }.joined(separator: "; ")
      + (more > 0 ? "; and \(more) more" : "")
  }

  /// Whether a request transfers nothing, and only removes what others have left.
  public static func isSweep(_ payload: [UInt8]) -> Bool {
    // Transfers have longer ones.
    payload.count < 40 && (try? TransferBatch(payload: payload))?.isSweep == true
  }

  /// All that is wrong with a payload: for each, a clause that begins with its place, such as `items[3].to: `.
  public static func problems(with payload: [UInt8]) -> [String] {
    let batch: TransferBatch
    do throws(SettingsProblems) { batch = try TransferBatch(payload: payload) } catch { return error.problems }
    guard let notify = batch.notify else { return [] }
    do {
      guard try TaskIdentifier(notify) != .transfers else {
        return ["notify: \(notify) carries the transfers out, and cannot be told of their end: name a handler of your own"]
      }
      return []
    } catch { return ["notify: \(error)"] }
  }

  /// How many problems a refusal names.
  private static let most = 8
}
