/// The report that a run of the plugin gets when all files of a transfer have ended.
package struct EndedTransfer: Sendable {
  package struct Item: Sendable {
    package let info: TransferInfo.Item
    /// Why it failed; `nil` if it did not.
    package let problem: String?
    package let status: Int?
    package let answer: String?
  }

  package let id: String
  /// In the order of their submission.
  package let items: [Item]

  private struct Report: Decodable {
    struct Item: Decodable { let url: String, to: String?, from: String?, state: String, status: Int?, problem: String?, answer: String? }
    let transfer: String, done: Int, failed: Int, items: [Item]
    /// The places of those that are not done and have no room in `items`.
    let unlisted: [Int]?
  }

  /// - Returns: `nil` if the run's payload is not the report of a transfer of this plugin.
  /// - Throws: ``TaskHostError`` if the host cannot be asked now.
  package init?(of run: RunHandle) throws {
    // Few payloads have these members; then the host says whether the transfer is this plugin's.
    let payload = try run.payload()
    guard JSON.member("transfer", of: payload) != nil, let report = try? JSON.decode(Report.self, from: payload) else { return nil }
    let info: TransferInfo
    do { info = try TransferInfo(json: TransfersTable(run).show(report.transfer)) } catch let error as TaskHostError {
      guard [.notFound, .unsupported, .invalid].contains(error.code) else { throw error }
      return nil
    }
    id = info.id
    var named: [String: Report.Item] = [:]
    for item in report.items { named[item.to ?? item.from ?? ""] = item }
    let unlisted = Set(report.unlisted ?? [])
    items = info.items.enumerated().map { index, item in
      let told = named[item.stagedPath]
      var problem = told.flatMap { $0.state == "done" ? nil : $0.problem ?? "it failed" }
      if unlisted.contains(index) { problem = "it failed; the report of so many failures leaves out why" }
      return Item(info: item, problem: problem, status: told?.status, answer: told?.answer)
    }
  }
}
