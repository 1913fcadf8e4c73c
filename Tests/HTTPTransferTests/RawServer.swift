import Glibc
import Synchronization

/// Sends given bytes to whoever connects, after it has read a whole request.
final class RawServer: Sendable {
  private let listener: Int32
  private let reply: [UInt8]
  private let recorded = Mutex<[String]>([])
  /// 0 for a Unix socket.
  let port: Int

  /// What was asked, whole.
  var requests: [String] { recorded.withLock { $0 } }
  var address: String { "http://127.0.0.1:\(port)" }

  /// Listens on a loopback port of its own, or at a path, until the process ends.
  ///
  /// - Parameter reply: The whole answer; the connection ends with it. nil never answers.
  init(_ reply: String?, path: String? = nil) throws {
    let listener = socket(path == nil ? AF_INET : AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    try Self.check(listener)
    self.listener = listener
    self.reply = Array((reply ?? "").utf8)
    if let path {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      try Self.check(Self.bind(listener, address))
      port = 0
    } else {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
      try Self.check(Self.bind(listener, address))
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      try Self.check(
        withUnsafeMutablePointer(to: &address) { pointer in
          pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        })
      port = Int(UInt16(bigEndian: address.sin_port))
    }
    try Self.check(listen(listener, 16))
    let answers = reply != nil
    let start = Unmanaged.passRetained(Start { self.serve(answers) })
    var thread = pthread_t()
    try Self.check(-pthread_create(&thread, nil, { Start.run($0) }, start.toOpaque()))
    pthread_detach(thread)
  }

  private func serve(_ answers: Bool) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { continue }
      let request = Self.request(connection)
      recorded.withLock { $0.append(request) }
      // Left open: whoever asked has to give up.
      guard answers else { continue }
      var rest = reply[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count <= 0 { break }
        rest = rest.dropFirst(count)
      }
      close(connection)
    }
  }

  private static func request(_ connection: Int32) -> String {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let text = String(decoding: bytes, as: UTF8.self)
      if let end = text.firstRange(of: "\r\n\r\n") {
        let length = text.firstMatch(of: /Content-Length: ([0-9]+)/).flatMap { Int($0.1) } ?? 0
        if text[end.upperBound...].utf8.count >= length { return text }
      }
      let count = recv(connection, &part, part.count, 0)
      if count <= 0 { return text }
      bytes += part[..<count]
    }
  }

  private static func bind<Address>(_ descriptor: Int32, _ address: Address) -> Int32 {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
  }

  private static func check(_ result: Int32) throws {
    if result < 0 { throw Failure(code: errno) }
  }

  private struct Failure: Error {
    let code: Int32
  }

  private final class Start: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }

    static func run(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
      if let opaque { Unmanaged<Start>.fromOpaque(opaque).takeRetainedValue().body() }
      return nil
    }
  }
}
