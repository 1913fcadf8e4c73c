import StrictText
import TaskModel
import WorkerProcesses

/// Which runs took the host before along.
enum CrashBlame {
  /// The run that the crash memory names; where it names none, those of the plugin whose code the stack shows first: a thread of the
  /// plugin's own serves no run.
  ///
  /// - Parameter begun: The runs that had begun of those that were handed out ahead.
  /// - Returns: What happened, for each of them.
  static func runs(_ report: CrashReport, begun: Set<RunID> = [], in store: some RequestStore & PluginMemory) -> [RunID: String] {
    if let run = report.run { return [run: report.text] }
    guard let digest = digest(in: report.stack), let verdicts = try? store.verdicts(),
      let running = try? store.commit({ transaction in
        try transaction.running() + transaction.claimed().filter { $0.run.map(begun.contains) ?? false }
      })
    else { return [:] }
    let identifiers = Set(
      verdicts.filter { $0.digest == digest }.flatMap { LaunchRecord.decode($0.registrations) ?? [] }.map(\.identifier))
    let blamed = running.filter { identifiers.contains($0.request.identifier) }.compactMap(\.run)
    return Dictionary(blamed.map { ($0, report.text) }) { first, _ in first }
  }

  /// The digest that names the first copy of a plugin in a stack; nil: there is none.
  static func digest(in stack: String) -> [UInt8]? {
    for line in stack.split(separator: "\n") {
      for word in line.split(separator: " ") where word.hasSuffix(".so") {
        if let digest = Hex.bytes(word.utf8.dropLast(3), count: 32) { return digest }
      }
    }
    return nil
  }
}
