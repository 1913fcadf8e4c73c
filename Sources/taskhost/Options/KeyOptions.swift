import ArgumentParser
import Glibc
import StrictText
import TaskHostClient
import TaskModel

/// The options of `submit` for what identifies a request to others: its keys, and the trace that it belongs to.
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

  @Option(
    name: .field(.traceparent),
    help: ArgumentHelp(
      "The trace that its runs belong to (W3C Trace Context). Without it, the variable TRACEPARENT.", valueName: "traceparent"))
  var traceparent: String?

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    writer.member(RequestField.uniqueKey, key)
    writer.member(RequestField.onConflict, onConflict)
    try writer.duration(.uniqueWindow, uniqueWindow)
    writer.member(RequestField.idempotencyKey, idempotencyKey)
    // The variable is inherited, and may be another program's: it is passed on only if it is valid.
    let inherited = getenv("TRACEPARENT").flatMap { TraceParent(String(cString: $0)) }
    writer.member(RequestField.traceparent, traceparent ?? inherited?.description)
  }
}
