import ArgumentParser
import Glibc
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
    writer.member(RequestField.watch, try watch.map { try Self.absolute($0, in: Self.workingDirectory()) })
    if everyEvent { writer.member(RequestField.everyEvent.rawValue, true) }
    try writer.duration(.debounce, debounce)
  }

  /// The absolute path. Symbolic links stay, because the file need not exist yet.
  static func absolute(_ path: String, in directory: String?) throws -> String {
    guard !path.isEmpty else { throw ValidationError("--watch: the path is empty: name a file or a directory.") }
    guard !path.hasPrefix("/") else { return path }
    guard let directory else {
      throw ValidationError("--watch: '\(path)' is relative to a directory that no longer exists: write an absolute path.")
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
