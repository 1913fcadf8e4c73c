import StrictText
import TaskModel
import WorkerProcesses

/// Finds the runs that crashed the previous host process.
enum CrashBlame {
  /// Returns the run that the crash memory names. If it names none, because the plugin's own thread crashed, returns the runs of the plugin
  /// whose code comes first in the stack.
  ///
  /// - Parameter begun: The runs handed out ahead that had begun.
  /// - Returns: A description of the crash for each run.
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

  /// The digest in the file name of the first plugin copy in a stack.
  static func digest(in stack: String) -> [UInt8]? {
    for line in stack.split(separator: "\n") {
      for word in line.split(separator: " ") where word.hasSuffix(".so") {
        if let digest = Hex.bytes(word.utf8.dropLast(3), count: 32) { return digest }
      }
    }
    return nil
  }
}
