import ArgumentParser
import Glibc
import HostControl

/// What wakes a request: options of `submit`.
struct EventOptions: ParsableArguments {
  @Option(help: ArgumentHelp("When that event comes: taskhost notify NAME.", valueName: "name"))
  var onEvent: String?
  @Option(help: ArgumentHelp("When that file changes.", valueName: "path"))
  var watch: String?
  @Flag(help: "At every such event, not only at the first.")
  var everyEvent = false
  @Option(help: ArgumentHelp("That long after the last event of a burst.", valueName: "duration"))
  var debounce: String?

  func validate() throws {
    guard onEvent == nil || watch == nil else { throw ValidationError("--on-event and --watch exclude each other.") }
    guard onEvent == nil, watch == nil else { return }
    if everyEvent { throw ValidationError("--every-event is about an event: give --on-event or --watch.") }
    if debounce != nil { throw ValidationError("--debounce is about events: give --on-event or --watch.") }
  }

  /// What a request with these options waits for, in words; nil: no event.
  var sentence: String? { onEvent.map { "the event \($0)" } ?? watch.map { "a change of \($0)" } }

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    writer.member("event", onEvent)
    writer.member("watch", try watch.map { try Self.absolute($0, in: Self.workingDirectory()) })
    if everyEvent { writer.member("every_event", true) }
    writer.member("debounce_ms", try debounce.map { try TimeArgument.duration($0, "--debounce") })
  }

  /// The path from the root on; symbolic links stay, since the file need not be there yet.
  static func absolute(_ path: String, in directory: String?) throws -> String {
    guard !path.isEmpty else { throw ValidationError("--watch: the path is empty: name a file or a directory.") }
    guard !path.hasPrefix("/") else { return path }
    guard let directory else {
      throw ValidationError("--watch: '\(path)' is relative to a directory that is gone: write it from / on.")
    }
    let parts = (directory + "/" + path).split(separator: "/").reduce(into: [Substring]()) { parts, part in
      switch part {
      case ".": break
      case "..": _ = parts.popLast()
      default: parts.append(part)
      }
    }
    return "/" + parts.joined(separator: "/")
  }

  private static func workingDirectory() -> String? {
    guard let path = getcwd(nil, 0) else { return nil }
    defer { free(path) }
    return String(cString: path)
  }
}
