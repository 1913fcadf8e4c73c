import Glibc
import HostThreads

/// systemd's journal. Each line is an entry: its fields, `NAME=value`, with a zero byte between them. A line that has none is a message.
///
/// - Source: https://systemd.io/JOURNAL_NATIVE_PROTOCOL/
struct JournalSink: LogSink {
  /// What separates the fields of an entry: no value has one, because control characters are escaped.
  static let separator: Character = "\0"
  /// Longer entries would need another way to the journal.
  private static let longest = 64 << 10

  private let descriptor: Int32
  private let address: UnixAddress

  /// The journal, if standard error leads there and it takes entries; otherwise nil.
  ///
  /// - Parameter stream: `JOURNAL_STREAM`, the device and inode of the stream that systemd gave the process.
  static func behindStandardError(stream: String?, path: String = "/run/systemd/journal/socket") -> JournalSink? {
    var info = stat()
    guard let stream, fstat(STDERR_FILENO, &info) == 0, stream == "\(info.st_dev):\(info.st_ino)" else { return nil }
    return JournalSink(path: path)
  }

  init?(path: String) {
    guard let address = UnixAddress(path) else { return nil }
    self.address = address
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    // Nothing else is the journal: then lines go where standard error leads.
    guard access(path, W_OK) == 0, send([]) == nil else {
      close(descriptor)
      return nil
    }
  }

  func write(_ lines: [UInt8]) -> (written: Int, failure: Int32?) {
    var written = 0
    for line in lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
      if let failure = send(Self.entry(line)) { return (written, failure) }
      written += line.count + 1
    }
    return (written, nil)
  }

  /// The datagram of a line.
  private static func entry(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var entry: [UInt8] = line.starts(with: "MESSAGE=".utf8) ? [] : Array("PRIORITY=3\nSYSLOG_IDENTIFIER=taskhost\nMESSAGE=".utf8)
    entry += line.map { $0 == 0 ? UInt8(ascii: "\n") : $0 }
    if entry.count > longest { entry.removeLast(entry.count - longest) }
    entry.append(UInt8(ascii: "\n"))
    return entry
  }

  /// - Returns: The error; nil if it was sent.
  private func send(_ entry: [UInt8]) -> Int32? {
    while true {
      // A name each time: the journal may be started again.
      let sent = address.withAddress { sendto(descriptor, entry, entry.count, Int32(MSG_NOSIGNAL), $0, $1) }
      guard sent < 0, errno == EINTR else { return sent < 0 ? errno : nil }
    }
  }
}
