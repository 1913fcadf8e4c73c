import ArgumentParser
import Glibc
import RecordJSON
import StrictText

/// What `transfers submit` is given, judged before a host is asked.
enum TransferArguments {
  /// The absolute path of a file; not that of a directory.
  static func file(_ path: String, _ option: String) throws -> String {
    let absolute = try PathArgument.absolute(path, option)
    var info = stat()
    let isDirectory = path.hasSuffix("/") || stat(absolute, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    guard !isDirectory else { throw ValidationError("\(option): '\(path)' is a directory: name a file in it.") }
    return absolute
  }

  /// Headers, each as `NAME: VALUE`.
  static func headers(_ texts: [String]) throws -> [(name: String, value: String)] {
    var names: Set<String> = []
    return try texts.map { text in
      guard let colon = text.firstIndex(of: ":") else { throw ValidationError("--header \"\(text)\" has no colon: write NAME: VALUE.") }
      let name = String(text[..<colon])
      guard names.insert(name.lowercased()).inserted else { throw ValidationError("--header \(name) is given twice: write it once.") }
      return (name, String(text[text.index(after: colon)...].drop { $0 == " " }))
    }
  }

  /// Throws what is wrong with a payload made of options, by their names.
  static func check(_ payload: [UInt8]) throws {
    let problems = TransferCheck.problems(with: payload)
    guard !problems.isEmpty else { return }
    throw ValidationError(problems.map(option).joined(separator: "; ") + ".")
  }

  /// Throws what is wrong with the content of a file, by its lines.
  static func check(list: [UInt8], named name: String) throws {
    let problems = TransferCheck.problems(with: list)
    guard !problems.isEmpty else { return }
    // What is no JSON names its line itself.
    let root = try? JSONReader.read(list)
    let places = problems.map { problem in root.map { "line \(line(of: problem, in: $0, list)): \(problem)" } ?? problem }
    throw CommandFailure(.usage, "--list \(name)", places.joined(separator: "; "))
  }

  /// A problem with a member, as one with the option that has it.
  private static func option(_ problem: String) -> String {
    let path = problem.prefix { $0 != ":" && $0 != "." }
    let option: String
    switch path {
    case "to", "from", "method", "sha256", "notify": option = "--\(path)"
    case "bearer_token_file": option = "--bearer-token-file"
    case "headers": return "--header " + problem.dropFirst(path.count + 1)
    default: return problem
    }
    return option + problem.dropFirst(path.count)
  }

  /// The line of what a problem begins with, such as `items[3].to`, or of the last part of it that is there.
  private static func line(of problem: String, in root: JSONNode, _ text: [UInt8]) -> Int {
    var place = root
    for part in problem.prefix(while: { $0 != ":" }).split(whereSeparator: { ".[]".contains($0) }) {
      guard
        let next = Int(part).flatMap({ index in place.array.flatMap { $0.indices.contains(index) ? $0[index] : nil } })
          ?? place[String(part)]
      else { break }
      place = next
    }
    return 1 + text.prefix(place.range.lowerBound).count { $0 == 0x0A }
  }
}
