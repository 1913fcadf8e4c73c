import ArgumentParser
import StrictText
import TaskModel

/// The options of `submit` for what wakes a request.
struct EventOptions: ParsableArguments {
  @Option(name: .field(.event), help: ArgumentHelp("Run when this event comes, from taskhost notify NAME.", valueName: "name"))
  var onEvent: String?
  @Option(name: .field(.watch), help: ArgumentHelp("Run when this file or directory changes.", valueName: "path"))
  var watch: String?
  @Flag(name: .field(.everyEvent), help: "Run at every such event, not only at the first.")
  var everyEvent = false
  @Option(name: .field(.debounce), help: ArgumentHelp("Run this long after the last event of a burst.", valueName: "duration"))
  var debounce: String?

  /// What a request with these options waits for, in words; nil if it waits for no event.
  var sentence: String? { onEvent.map { "the event \($0)" } ?? watch.map { "a change of \($0)" } }

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    writer.member(RequestField.event, onEvent)
    writer.member(RequestField.watch, try watch.map { try PathArgument.absolute($0, "--watch") })
    if everyEvent { writer.member(RequestField.everyEvent.rawValue, true) }
    try writer.duration(.debounce, debounce)
  }
}
