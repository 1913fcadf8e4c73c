import Glibc

/// Sends bytes on a Unix socket, with copies of descriptors; returns the bytes sent, or -1 (`errno`).
public func send(_ bytes: [UInt8], attaching descriptors: [Int32], on socket: Int32) -> Int {
  // struct cmsghdr: length (8 bytes), level, type; then the descriptors, padded to 8 bytes.
  let length = 16 + descriptors.count * 4
  var control = [UInt8](repeating: 0, count: descriptors.isEmpty ? 0 : (length + 7) / 8 * 8)
  if !descriptors.isEmpty {
    control.withUnsafeMutableBytes {
      $0.storeBytes(of: length, as: Int.self)
      $0.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
      // SCM_RIGHTS
      $0.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
      for (index, descriptor) in descriptors.enumerated() { $0.storeBytes(of: descriptor, toByteOffset: 16 + index * 4, as: Int32.self) }
    }
  }
  var bytes = bytes
  return bytes.withUnsafeMutableBytes { bytes in
    control.withUnsafeMutableBytes { control in
      var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
      return withUnsafeMutablePointer(to: &part) {
        var message = msghdr()
        message.msg_iov = $0
        message.msg_iovlen = 1
        message.msg_control = control.baseAddress
        message.msg_controllen = control.count
        return sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
      }
    }
  }
}
