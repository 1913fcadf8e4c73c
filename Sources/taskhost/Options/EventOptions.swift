import ArgumentParser
import Glibc
import StrictText
import TaskModel

/// What wakes a request: options of `submit`.
struct EventOptions: ParsableArguments {
  @Option(name: .field(.event), help: ArgumentHelp("When that event comes: taskhost notify NAME.", valueName: "name"))
  var onEvent: String?
  @Option(name: .field(.watch), help: ArgumentHelp("When that file changes.", valueName: "path"))
  var watch: String?
  @Flag(name: .field(.everyEvent), help: "At every such event, not only at the first.")
  var everyEvent = false
  @Option(name: .field(.debounce), help: ArgumentHelp("That long after the last event of a burst.", valueName: "duration"))
  var debounce: String?

  /// What a request with these options waits for, in words; nil: no event.
  var sentence: String? { onEvent.map { "the event \($0)" } ?? watch.map { "a change of \($0)" } }

  /// Writes the members of a request.
  func write(into writer: inout JSONWriter) throws {
    writer.member(RequestField.event, onEvent)
    writer.member(RequestField.watch, try watch.map { try Self.absolute($0, in: Self.workingDirectory()) })
    if everyEvent { writer.member(RequestField.everyEvent.rawValue, true) }
    try writer.duration(.debounce, debounce)
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
