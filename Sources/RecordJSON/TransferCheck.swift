import StrictText
public import TaskModel
import TransferOrders

/// Judges payloads of the plugin that carries transfers out, with the reader that it reads them with.
public enum TransferCheck {
  /// Why no transfer can come of a payload, naming each member that is wrong; nil if one can, or the request is of another identifier.
  public static func rejection(to payload: [UInt8], for identifier: TaskIdentifier) -> String? {
    guard identifier == .transfers else { return nil }
    guard !payload.isEmpty else { return #"it is missing: say {"url": "https://…", "to": "/path"}, or a list of such objects in items"# }
    do {
      let batch = try TransferBatch(payload: payload)
      if let notify = batch.notify { _ = try TaskIdentifier(notify) }
      return nil
    } catch let error as SettingsProblems {
      let more = error.problems.count - most
      // They quote the payload.
      return error.problems.prefix(most).map { $0.prefix(300).description.escapingControlCharacters }.joined(separator: "; ")
        + (more > 0 ? "; and \(more) more" : "")
    } catch { return "notify: \(error)" }
  }

  /// How many problems a refusal names.
  private static let most = 8
}
