import ArgumentParser
import HostControl

/// What makes a request the same as another: options of `submit`.
struct KeyOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Only one live request of the identifier holds this key.", valueName: "key"))
  var key: String?
  @Option(help: ArgumentHelp("What to do when the key is held: keep (default), replace, update or append.", valueName: "policy"))
  var onConflict: String?
  @Option(help: ArgumentHelp("The key is held for so long, also when its request has ended.", valueName: "duration"))
  var uniqueWindow: String?
  @Option(
    help: ArgumentHelp("A submission with the key of an earlier one does nothing, and is answered as that one was.", valueName: "key"))
  var idempotencyKey: String?

  func validate() throws {
    if uniqueWindow != nil, key == nil { throw ValidationError("--unique-window is about --key: give that too, or leave it out.") }
  }

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    writer.member("unique_key", key)
    writer.member("on_conflict", onConflict)
    writer.member("unique_window_ms", try uniqueWindow.map { try TimeArgument.duration($0, "--unique-window") })
    writer.member("idempotency_key", idempotencyKey)
  }
}
