import Glibc
import HostThreads

/// Reading the text of a configuration, and the paths in it.
enum ConfigurationFile {
  /// Bytes; a configuration for a thousand plugins has a tenth of it.
  private static let limit = 4 << 20

  /// The text of the file.
  static func read(_ path: String) throws(TextProblem) -> String {
    let bytes: [UInt8]
    do throws(ErrorNumber) { bytes = try WholeTransfer.read(path, atMost: limit + 1) } catch {
      throw TextProblem("cannot be read: \(error)")
    }
    guard bytes.count <= limit else { throw TextProblem("is larger than \(limit >> 20) MiB, which no configuration is") }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw TextProblem("is not UTF-8 text") }
    return text
  }

  /// `path` as an absolute path, relative to `directory` if it is not one already; `.` and doubled slashes removed, `..` kept, since it may
  /// follow a link.
  static func resolve(_ path: String, in directory: String) -> String {
    let whole = path.hasPrefix("/") ? path : directory + "/" + path
    return "/" + whole.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }

  /// The working directory.
  static func workingDirectory() -> String {
    guard let current = getcwd(nil, 0) else { return "/" }
    defer { free(current) }
    return String(cString: current)
  }
}
