import StrictText
public import TaskModel
import TransferOrders

/// Tells the handler that a transfer's `notify` names how it has ended. The host does so, not the plugin that carries transfers out: only the
/// host knows who has submitted the transfer, and it tells of every end, in the same commit.
public enum TransferCompletions {
  /// - Parameter mayTell: Whether a request that this plugin has submitted, or a client (nil), may launch the handler of an identifier.
  public static func rule(mayTell: @escaping @Sendable (_ target: TaskIdentifier, _ owner: TaskIdentifier?) -> Bool) -> CompletionRule {
    @Sendable func refusal(_ target: TaskIdentifier, _ owner: TaskIdentifier?) -> RequestRefusal? {
      guard !mayTell(target, owner) else { return nil }
      let submitter = owner ?? .transfers
      return RequestRefusal(
        .invalid, "notify: \(submitter) may not submit to \(target): add it to its may_submit", field: .payload)
    }
    return CompletionRule(identifier: .transfers) { payload, owner in
      guard let batch = try? TransferBatch(payload: payload), let target = target(of: batch) else { return nil }
      return refusal(target, owner)
    } awaitedFile: { payload, output in
      // Only the file that the submitter has named is watched, whatever the report says.
      guard let file = try? JSONReader.read(output)["waits_for"]?.string, let batch = try? TransferBatch(payload: payload),
        batch.bearerTokenFile == file
      else { return nil }
      return file
    } sweep: { ended in
      guard ended.request.uniqueKey != TransferBatch.sweepKey else { return nil }
      var sweep = TaskRequest(identifier: .transfers, payload: TransferBatch.sweep)
      (sweep.uniqueKey, sweep.onConflict) = (TransferBatch.sweepKey, .keep)
      return sweep
    } request: { (ended, state, output) throws(RequestRefusal) in
      guard let batch = try? TransferBatch(payload: ended.request.payload), let target = target(of: batch) else { return nil }
      if let refusal = refusal(target, ended.request.owner) { throw refusal }
      var request = TaskRequest(identifier: target, payload: report(of: ended, state, output, batch))
      request.tags = ["\(TaskRequest.endedTag)\(ended.id)"]
      request.owner = ended.request.owner
      return request
    }
  }

  /// The identifier whose handler a transfer with this payload launches when it has ended; nil if none.
  public static func target(ofPayload payload: [UInt8]) -> TaskIdentifier? {
    (try? TransferBatch(payload: payload)).flatMap(target)
  }

  private static func target(of batch: TransferBatch) -> TaskIdentifier? { batch.notify.flatMap { try? TaskIdentifier($0) } }

  /// The report of the last run, with the transfer's id and what it ended as. If there is none, all files wait still.
  private static func report(of ended: RequestRecord, _ state: RequestState, _ output: [UInt8], _ batch: TransferBatch) -> [UInt8] {
    func report(_ told: [UInt8]) -> [UInt8]? {
      guard let root = try? JSONReader.read(told), case .object(let members) = root.value, root["items"]?.array != nil else { return nil }
      let own = JSONWriter.object { writer in
        writer.member("transfer", ended.id.description)
        writer.member("ended", state.rawValue)
        for member in members where member.name != "transfer" && member.name != "ended" {
          writer.name(member.name)
          writer.raw(told[member.node.range])
        }
      }
      return own.count <= Limits.payloadBytes ? own : nil
    }
    return report(output) ?? report(TransferReport(count: batch.items.count, occurrence: nil).json(of: batch)) ?? []
  }
}
