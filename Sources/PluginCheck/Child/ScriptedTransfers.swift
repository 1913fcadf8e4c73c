import Glibc
import RecordJSON
import StrictText
import TaskModel

/// The transfers that the plugin has submitted in a case, judged as a host judges them. Nothing is transferred: the case says what becomes of
/// each.
struct ScriptedTransfers {
  /// In the order of their submission, with the payload that the transfers' own plugin would get.
  private(set) var records: [RequestRecord] = []
  /// Where the plugin has its files for transfers.
  let folder: String

  init(folder: String) {
    self.folder = folder
    mkdir(folder, 0o700)
  }

  /// The request that carries out what the plugin asks for.
  ///
  /// - Throws: What a host refuses: `invalid`, `notPermitted`, `tooBig`.
  func order(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) -> TaskRequest {
    let permission = TransferPermission(identifier: identifier, completions: [identifier], folder: folder, network: .connect) { _ in true }
    let order = try permission.order(request)
    if let flaw = TransferCheck.rejection(to: order.payload, for: order.identifier) { throw CallFailure(.invalid, "payload: \(flaw)") }
    return order
  }

  mutating func add(_ id: RequestID, _ order: TaskRequest, now: WallTime) {
    records.append(RequestRecord(id: id, request: order, state: .pending, due: now, submitted: now))
  }

  /// Lets a transfer end.
  mutating func end(_ id: RequestID, as state: RequestState) {
    records = records.map { record in
      guard record.id == id else { return record }
      return RequestRecord(id: id, request: record.request, state: state, due: record.due, submitted: record.submitted)
    }
  }

  /// What a host says of a transfer; nil if it is not on record.
  func answer(_ id: RequestID) -> [UInt8]? {
    records.first { $0.id == id }.map { record in
      JSONWriter.object { $0.transfer(TransferState(record: record, run: nil), isWhole: true) }
    }
  }

  /// The live ones, newest first.
  var live: [RequestRecord] { records.filter { !$0.state.isFinal }.reversed() }
}
