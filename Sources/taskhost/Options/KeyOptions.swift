import ArgumentParser
import StrictText
import TaskModel

/// The options of `submit` for keys that identify a request.
struct KeyOptions: ParsableArguments {
  @Option(name: .field(.uniqueKey), help: ArgumentHelp("Only one live request of the identifier holds this key.", valueName: "key"))
  var key: String?
  @Option(
    name: .field(.onConflict),
    help: ArgumentHelp("What to do if another request holds the key: keep (default), replace, update or append.", valueName: "policy"))
  var onConflict: String?
  @Option(
    name: .field(.uniqueWindow), help: ArgumentHelp("How long the key is held, even if its request has ended.", valueName: "duration"))
  var uniqueWindow: String?
  @Option(
    name: .field(.idempotencyKey),
    help: ArgumentHelp("A submission with the key of an earlier one does nothing, and gets the same answer.", valueName: "key"))
  var idempotencyKey: String?

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    writer.member(RequestField.uniqueKey, key)
    writer.member(RequestField.onConflict, onConflict)
    try writer.duration(.uniqueWindow, uniqueWindow)
    writer.member(RequestField.idempotencyKey, idempotencyKey)
  }
}
