import Glibc

/// Small files of /proc.
enum ProcFile {
  /// The first 64 KiB of a file; empty if it cannot be read.
  static func text(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    // One read returns at most a page.
    return String(unsafeUninitializedCapacity: 65_536) { buffer in
      var count = 0
      while count < buffer.count {
        let part = read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
        guard part > 0 else { break }
        count += part
      }
      return count
    }
  }

  /// The value after `name:` in a file of lines.
  static func value(_ name: String, in text: String) -> String {
    for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
      return line.dropFirst(name.utf8.count + 1).split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }
    return ""
  }

  /// The names in a directory that are numbers.
  static func numbers(in path: String) -> [Int32] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var numbers: [Int32] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let number = Int32(name) { numbers.append(number) }
    }
    return numbers
  }
}
