import TestSupport
import Foundation
import Glibc

/// A connection to the control socket that sends what it is told, well formed or not. Every call blocks: use it on a thread of its own.
final class SocketClient {
  /// An answer.
  struct Answer: Sendable {
    let status: Int
    let body: String

    func json() throws -> JSON { try JSON(parsing: body) }
  }

  private let descriptor: Int32
  private var buffer: [UInt8] = []

  /// Connects; a read or write that waits longer than `limit` fails.
  init(_ path: String, limit: Duration = .seconds(30)) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw TestFailure("socket: errno \(errno)") }
    var time = timeval(tv_sec: Int(limit.components.seconds), tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] { setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size)) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw TestFailure("\(path) is too long for a socket") }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    // deinit closes the descriptor: every property is set.
    guard connected == 0 else { throw TestFailure("connect \(path): errno \(errno)") }
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw TestFailure("send: errno \(errno)") }
      sent += count
    }
  }

  /// Tells the host that nothing more comes.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Reads up to and without `end`.
  func read(until end: String) throws -> String {
    let end = Array(end.utf8)
    var looked = 0
    while true {
      if let found = Self.find(end, in: buffer, from: max(0, looked - end.count)) {
        defer { buffer.removeFirst(found + end.count) }
        return String(decoding: buffer[..<found], as: UTF8.self)
      }
      looked = buffer.count
      guard try readMore() else {
        throw TestFailure("the host closed the connection after: \(String(decoding: buffer.suffix(500), as: UTF8.self))")
      }
    }
  }

  /// Reads until the host closes the connection.
  func readToEnd() throws -> String {
    while try readMore() {}
    defer { buffer = [] }
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Sends a request and reads the answer.
  func request(_ method: String, _ path: String, body: String? = nil) throws -> Answer {
    let bytes = Array((body ?? "").utf8)
    let length = body == nil ? "" : "content-length: \(bytes.count)\r\n"
    try send(Array("\(method) \(path) HTTP/1.1\r\nhost: x\r\n\(length)\r\n".utf8) + bytes)
    return try answer()
  }

  /// Reads an answer.
  func answer() throws -> Answer {
    let head = try read(until: "\r\n\r\n").split(separator: "\r\n")
    guard let status = head.first.flatMap({ $0.split(separator: " ").dropFirst().first }).flatMap({ Int($0) }) else {
      throw TestFailure("no HTTP answer: \(head)")
    }
    var length = 0
    for line in head where line.lowercased().hasPrefix("content-length:") {
      length = Int(line.split(separator: ":")[1].trimmingCharacters(in: .whitespaces)) ?? 0
    }
    while buffer.count < length { guard try readMore() else { throw TestFailure("the answer ends early") } }
    defer { buffer.removeFirst(length) }
    return Answer(status: status, body: String(decoding: buffer[..<length], as: UTF8.self))
  }

  private func readMore() throws -> Bool {
    var part = [UInt8](repeating: 0, count: 65_536)
    let count = part.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
    guard count >= 0 else { throw TestFailure("recv: errno \(errno) after: \(String(decoding: buffer.suffix(500), as: UTF8.self))") }
    buffer += part[..<count]
    return count > 0
  }

  private static func find(_ part: [UInt8], in all: [UInt8], from start: Int) -> Int? {
    guard all.count >= part.count, !part.isEmpty else { return nil }
    var position = start
    while position <= all.count - part.count {
      if all[position] == part[0], all[position..<(position + part.count)].elementsEqual(part) { return position }
      position += 1
    }
    return nil
  }
}
