/// Asks about one file or directory.
struct OpenFileQuestion: Sendable, Equatable {
  var identity: FileIdentity
  /// Relative to the rule's directory.
  var path: [UInt8]
}
