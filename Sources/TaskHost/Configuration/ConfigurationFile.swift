import Glibc
import HostThreads

/// Reading the text of a configuration, and the paths in it.
enum ConfigurationFile {
  /// Bytes; a configuration for a thousand plugins needs a tenth of that.
  private static let limit = 4 << 20

  /// Reads a file; a pipe or a device is refused, because it could hold the reader up for ever.
  static func read(_ path: String) throws(TextProblem) -> String {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0 else { throw TextProblem("cannot be read: \(ErrorNumber.last)") }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else { throw TextProblem("cannot be read: \(ErrorNumber.last)") }
    switch info.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw TextProblem("cannot be read: \(ErrorNumber(EISDIR))")
    case S_IFIFO: throw TextProblem("is a pipe, not a file")
    default: throw TextProblem("is not a file")
    }
    let bytes: [UInt8]
    do throws(ErrorNumber) { bytes = try WholeTransfer.read(from: descriptor, atMost: limit + 1) } catch {
      throw TextProblem("cannot be read: \(error)")
    }
    guard bytes.count <= limit else { throw TextProblem("is larger than \(limit >> 20) MiB, which no configuration is") }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw TextProblem("is not UTF-8 text") }
    return text
  }

  /// Makes `path` absolute, relative to `directory`. Removes `.` and doubled slashes, but keeps `..`, since it may follow a link.
  static func resolve(_ path: String, in directory: String) -> String {
    let whole = path.hasPrefix("/") ? path : directory + "/" + path
    return "/" + whole.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
  }

  static func workingDirectory() -> String {
    guard let current = getcwd(nil, 0) else { return "/" }
    defer { free(current) }
    return String(cString: current)
  }
}
