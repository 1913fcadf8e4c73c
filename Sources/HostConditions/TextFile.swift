import Glibc

/// Small files of the kernel.
enum TextFile {
  /// Bytes; no file that is read here has a tenth of it.
  private static let limit = 65_536

  /// The whole text of the file, without white space at its ends; nil and `errno` if it cannot be read.
  static func read(_ path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count == 0 { break }
      if count < 0 {
        if errno == EINTR { continue }
        return nil
      }
      bytes += buffer.prefix(count)
    }
    return trimmed(String(decoding: bytes, as: UTF8.self))
  }

  /// The names in the directory, sorted; nil and `errno` if it cannot be read.
  static func names(in directory: String) -> [String]? {
    guard let stream = opendir(directory) else { return nil }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      // Not through `pointee`: it would copy all 256 bytes of a name that may have two.
      guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { return nil }
      let name = String(cString: UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self))
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// What the kernel says of `errno`.
  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

  private static func trimmed(_ text: String) -> String {
    var rest = Substring(text)
    while rest.last?.isWhitespace == true { rest.removeLast() }
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    return String(rest)
  }
}
