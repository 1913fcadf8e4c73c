import Glibc
import HostThreads
import PluginRuntime
import RecordJSON
import StrictText
import TaskModel
import TransferOrders

/// What the plugin has transferred, and how it is told of the end.
extension ConformanceRun {
  /// How a transfer ends. A host tells of each of these ends with the same kind of report.
  private enum TransferEnd: String, CaseIterable {
    case done, failed
    case partlyDone = "partly done"
    case cancelled
    case neverTried = "never tried"

    var state: RequestState {
      switch self {
      case .done: .succeeded
      case .failed, .partlyDone: .failed
      case .cancelled, .neverTried: .cancelled
      }
    }

    func state(of index: Int) -> TransferReport.State {
      switch self {
      case .done: .done
      case .failed: .failed
      case .partlyDone: index.isMultiple(of: 2) ? .failed : .done
      case .cancelled: index.isMultiple(of: 2) ? .waiting : .done
      case .neverTried: .waiting
      }
    }
  }

  /// The most transfers whose ends a case tells.
  private static let mostTransfers = 3

  func playTransferEnded() throws(End) -> String {
    let transfers = try submittedTransfers()
    for transfer in transfers {
      for end in TransferEnd.allCases {
        guard let plan = try tellPlan(of: transfer, end) else { continue }
        services.endTransfer(transfer.id, as: end.state)
        // A host may tell twice: runs happen at least once. By then, the plugin has moved the files.
        for time in ["", ", told again"] {
          reporter.at("a run that is told of a transfer that is \(end.rawValue)\(time)")
          let ended = perform(plan)
          if end == .done, case .returned(.failure, _) = ended?.ending {
            reporter.warn(
              "the run that is told that its transfer is done failed: \(ended?.report.message ?? "no message")",
              "A failed run is not repeated: what has arrived stays in the folder for transfers.")
          }
        }
      }
    }
    return "\(transfers.count == 1 ? "1 transfer" : "\(transfers.count) transfers"), \(TransferEnd.allCases.count) ends; \(seen)"
  }

  /// Reports that the handler must not believe: of transfers that are not the plugin's or no longer on record, and damaged ones.
  func playTransferForeign() throws(End) -> String {
    let transfers = try submittedTransfers()
    var payloads: [[UInt8]] = []
    for transfer in transfers {
      guard let plan = try tellPlan(of: transfer, .done) else { continue }
      let text = String(decoding: plan.payload, as: UTF8.self)
      payloads.append(Array(text.replacing(transfer.id.description, with: newRequest().description).utf8))
      payloads.append(Array(text.replacing("\"done\"", with: "\"unheard of\"").utf8))
      payloads.append(Array(text.replacing("\"items\":[", with: "\"unlisted\":[0,-1,99999999999],\"items\":[").utf8))
      payloads.append(Array(plan.payload.dropLast(plan.payload.count / 2)))
    }
    let id = newRequest()
    for text in [
      "{\"transfer\":\"\(id)\"}", "{\"transfer\":\"\",\"ended\":\"succeeded\",\"done\":1,\"failed\":0,\"items\":[]}",
      "{\"transfer\":\"\(id)\",\"ended\":\"succeeded\",\"done\":1,\"failed\":0,\"items\":[{\"url\":\"http://x\",\"to\":\"/etc/passwd\",\"state\":\"done\"}]}",
      "{\"transfer\":7,\"items\":{}}",
    ] { payloads.append(Array(text.utf8)) }
    performAll(payloads.map { Plan(payload: $0, budget: .milliseconds(500)) }, called: "report")
    return seen
  }

  func playWakeRefused() throws(End) -> String {
    try launch()
    services.script.withLock {
      $0.wakeFault = CallFailure(.notPermitted, "may_wake is not set in the plugin's table")
    }
    performAll(Array(repeating: plan(budget: .milliseconds(500)), count: 3), called: "run")
    guard services.script.withLock({ $0.wakes }) > 0 else { throw .skipped("no request of the handler wakes the machine") }
    return seen
  }

  /// Runs the handler until it has submitted transfers, and picks those whose end it wants to know.
  private func submittedTransfers() throws(End) -> [RequestRecord] {
    try launch()
    performAll(Array(repeating: plan(budget: .seconds(1)), count: 3), called: "a run that submits, run")
    let all = services.transfers
    guard !all.isEmpty else { throw .skipped("the handler submits no transfers") }
    let told = all.filter { record in (try? TransferBatch(payload: record.request.payload))?.notify == identifier?.rawValue }
    guard !told.isEmpty else { throw .skipped("the handler's transfers do not notify it") }
    return Array(told.prefix(Self.mostTransfers))
  }

  /// The run by which a host tells of a transfer's end; puts what has arrived into the folder. nil if nobody is told.
  private func tellPlan(of transfer: RequestRecord, _ end: TransferEnd) throws(End) -> Plan? {
    guard let batch = try? TransferBatch(payload: transfer.request.payload) else { return nil }
    var report = TransferReport(of: batch, occurrence: nil, after: nil)
    for (index, item) in batch.items.enumerated() {
      report.items[index].state = end.state(of: index)
      switch report.items[index].state {
      case .done:
        report.items[index].bytes = 1000
        if item.isDownload { put(random.bytes(1000), at: item.path) }
      case .failed:
        unlink(item.path)
        (report.items[index].status, report.items[index].problem) = (404, "the server answered 404")
      case .waiting: unlink(item.path)
      }
    }
    let rule = TransferCompletions.rule { _, _ in true }
    let output = end == .neverTried ? [] : report.json(of: batch)
    let request: TaskRequest?
    do throws(RequestRefusal) { request = try rule.request(transfer, end.state, output) } catch {
      throw .skipped("a host could not tell the handler: \(error.message)")
    }
    return request.map { Plan(payload: $0.payload, budget: .seconds(1)) }
  }

  /// Writes a file that has arrived. One that cannot be written has not.
  private func put(_ bytes: [UInt8], at path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o644)
    guard file >= 0 else { return }
    _ = write(file, bytes, bytes.count)
    close(file)
  }
}
