import Foundation
import Glibc

/// A connection to a socket that sends what it is told and nothing else.
final class RawClient: Sendable {
  /// The connection could not be made.
  struct NotConnected: Error {}

  private let descriptor: Int32

  init(_ path: String) throws {
    descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    guard connected == 0 else {
      close(descriptor)
      throw NotConnected()
    }
  }

  /// Connects to a port of loopback.
  init(port: Int) throws {
    descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    (address.sin_family, address.sin_port) = (sa_family_t(AF_INET), in_port_t(truncatingIfNeeded: port).bigEndian)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    guard connected == 0 else {
      close(descriptor)
      throw NotConnected()
    }
  }

  deinit { close(descriptor) }

  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Sends nothing more, but still reads.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// What arrives next; "" if the other side has closed. Read on a thread of its own.
  func read() async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var part = [UInt8](repeating: 0, count: 65_536)
        let count = part.withUnsafeMutableBytes { recv(self.descriptor, $0.baseAddress, $0.count, 0) }
        continuation.resume(returning: String(decoding: part[..<max(0, count)], as: UTF8.self))
      }
    }
  }

  /// Everything until the other side closes, read on a thread of its own.
  func readToEnd() async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var all: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
          let count = part.withUnsafeMutableBytes { recv(self.descriptor, $0.baseAddress, $0.count, 0) }
          guard count > 0 else { break }
          all.append(contentsOf: part[..<count])
        }
        continuation.resume(returning: String(decoding: all, as: UTF8.self))
      }
    }
  }
}
