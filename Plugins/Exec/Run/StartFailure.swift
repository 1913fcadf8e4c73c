/// Why a command could not be started.
struct StartFailure: Error, Sendable, CustomStringConvertible {
  /// A sentence for the operator.
  let description: String
  /// Whether a later attempt may succeed: the system lacked something.
  var isTemporary = false
}
