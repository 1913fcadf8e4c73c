import ArgumentParser
import Glibc

/// Paths on the command line for the host, which has another working directory.
enum PathArgument {
  /// The absolute path. Symbolic links stay, because the file need not exist yet.
  ///
  /// - Parameter option: The option that has the path, for an error.
  static func absolute(_ path: String, _ option: String) throws -> String {
    try absolute(path, option, in: workingDirectory())
  }

  /// - Parameter directory: The working directory; nil if it no longer exists.
  static func absolute(_ path: String, _ option: String, in directory: String?) throws -> String {
    guard !path.isEmpty else { throw ValidationError("\(option): the path is empty: name a file or a directory.") }
    guard !path.hasPrefix("/") else { return path }
    guard let directory else {
      throw ValidationError("\(option): '\(path)' is relative to a directory that no longer exists: write an absolute path.")
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
