/// A run as the host reports it.
package struct RunAnswer: Decodable, Identifiable {
  package let id: String
  package let request: String
  package let identifier: String
  /// Its host's name in its fleet; nil for a run that is not the fleet's.
  package let host: String?
  package let attempt: Int64
  /// nil while it is running.
  package let outcome: String?
  package let startedUnixMs: Int64
  package let durationMs: Int64?
  package let message: String?
  package let progress: ProgressAnswer?
  package let work: WorkAnswer?
  /// The handler's output if it is JSON.
  package let output: Answer?
  package let outputBase64: String?
}

/// A line that a run has logged.
package struct LogLineAnswer: Decodable, Hashable {
  package let timeUnixMs: Int64
  package let level: String
  package let message: String
  package let stream: String?
}
