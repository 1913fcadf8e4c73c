import Glibc
import HostThreads

/// Reads and writes the small files by which control groups are set up. Each call is one `open`, one `read` or `write`, one `close`.
enum CgroupFile {
  /// What the system answered instead.
  struct Failure: Error {
    /// The file.
    let path: String
    /// The error's number.
    let code: Int32
    /// A sentence.
    var sentence: String { "\(path): \(String(cString: strerror(code)))" }
  }

  /// The file's text.
  ///
  /// - Parameter limit: How many bytes of it at most.
  static func read(_ path: String, atMost limit: Int = 65_536) throws(Failure) -> String {
    do throws(ErrorNumber) { return String(decoding: try WholeTransfer.read(path, atMost: limit), as: UTF8.self) } catch {
      throw Failure(path: path, code: error.code)
    }
  }

  /// Writes the text at once; the file must be there.
  static func write(_ text: String, to path: String) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure(path: path, code: errno) }
    defer { close(descriptor) }
    let bytes = Array(text.utf8)
    guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count else { throw Failure(path: path, code: errno) }
  }

  /// Makes a group; one of that name that nobody is in is made anew.
  static func makeGroup(_ path: String) throws(Failure) {
    if mkdir(path, 0o755) == 0 { return }
    guard errno == EEXIST, rmdir(path) == 0, mkdir(path, 0o755) == 0 else { throw Failure(path: path, code: errno) }
  }

  /// Whether the file is there.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// The names in a folder; none where it cannot be read.
  static func names(in path: String) -> [String] { (try? DirectoryNames.list(at: path)) ?? [] }

  /// The value of an extended attribute, at most 15 bytes of it; nil: there is none.
  static func attribute(_ name: String, of path: String) -> String? {
    // Not in the module of the C library.
    typealias Function = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    guard let symbol = dlsym(nil, "getxattr") else { return nil }
    let function = unsafeBitCast(symbol, to: Function.self)
    var value = [UInt8](repeating: 0, count: 15)
    let count = function(path, name, &value, value.count)
    return count < 0 ? nil : String(decoding: value[..<count], as: UTF8.self)
  }
}
