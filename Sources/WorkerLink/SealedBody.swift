import CTaskHostSystem
import Glibc

/// A message too large for a datagram: the content of a sealed memfd, and the datagram that announces it.
enum SealedBody {
  /// Creates a sealed memfd, which the caller owns.
  static func make(_ bytes: [UInt8]) throws(LinkError) -> Int32 {
    guard bytes.count <= LinkFormat.messageBytes else { throw .tooBig(bytes: bytes.count) }
    let descriptor = taskhost_system_memfd("taskhost-message")
    guard descriptor >= 0 else { throw .system(call: "memfd_create", code: errno) }
    do throws(LinkError) {
      try fill(descriptor, with: bytes)
      guard taskhost_system_seal(descriptor) == 0 else { throw .system(call: "sealing a memfd", code: errno) }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  static func announcement(of length: Int) -> [UInt8] {
    var writer = MessageWriter(kind: LinkFormat.bodyElsewhere, capacity: LinkFormat.announcementBytes)
    writer.integer(UInt32(clamping: length))
    return writer.bytes
  }

  static func isAnnouncement(_ datagram: [UInt8]) -> Bool { datagram.count > 2 && datagram[2] == LinkFormat.bodyElsewhere }

  /// Reads a body; does not close the descriptor.
  static func content(of descriptor: Int32, announcedBy datagram: [UInt8]) throws(LinkError) -> [UInt8] {
    var reader = MessageReader(datagram)
    guard try reader.kind() == LinkFormat.bodyElsewhere else { throw .malformed(what: "a descriptor that nothing announces") }
    let length = Int(try reader.integer(UInt32.self, "length of a body"))
    try reader.end()
    guard length > LinkFormat.inlineBytes, length <= LinkFormat.messageBytes else {
      throw .malformed(what: "a body of \(length) bytes, not \(LinkFormat.inlineBytes + 1) to \(LinkFormat.messageBytes)")
    }
    // Check the seals first: after that, neither size nor content can change.
    let seals = taskhost_system_seals(descriptor)
    guard seals >= 0, seals & TASKHOST_SYSTEM_ALL_SEALS == TASKHOST_SYSTEM_ALL_SEALS else {
      throw .malformed(what: "a body that is not sealed")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(call: "fstat", code: errno) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size == length else {
      throw .malformed(what: "a body of \(status.st_size) bytes where \(length) were announced")
    }
    return try read(descriptor, length)
  }

  private static func fill(_ descriptor: Int32, with bytes: [UInt8]) throws(LinkError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress.map { $0 + done }, $0.count - done, off_t(done)) }
      if written > 0 {
        done += written
      } else if written == 0 || errno != EINTR {
        throw .system(call: "writing a memfd", code: written == 0 ? ENOSPC : errno)
      }
    }
  }

  private static func read(_ descriptor: Int32, _ length: Int) throws(LinkError) -> [UInt8] {
    var code: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      while count < length {
        let got = pread(descriptor, buffer.baseAddress.map { $0 + count }, length - count, off_t(count))
        if got > 0 {
          count += got
        } else if got == 0 || errno != EINTR {
          code = got == 0 ? EIO : errno
          return
        }
      }
    }
    guard code == 0 else { throw .system(call: "reading a memfd", code: code) }
    return bytes
  }
}
