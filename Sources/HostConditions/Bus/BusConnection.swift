import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// A connection to a bus, authenticated by its user and greeted. Every operation ends at a deadline.
final class BusConnection {
  let descriptor: Int32
  private var received: [UInt8] = []
  /// Whether descriptors may come with messages.
  private let takesDescriptors: Bool
  /// Those that have come and were not taken, oldest first.
  private var descriptors: [Int32] = []
  private static let mostDescriptors = 4
  private var serial: UInt32 = 0

  struct Failure: Error, Hashable {
    /// A sentence without a full stop.
    var reason: String
  }

  init(_ path: String, takesDescriptors: Bool = false, until deadline: MonotonicTime) throws(Failure) {
    self.takesDescriptors = takesDescriptors
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { throw Failure(reason: "socket: \(TextFile.reason(errno))") }
    self.descriptor = descriptor
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Failure(reason: "\(path) is too long for a socket") }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
    guard connected == 0 else { throw Failure(reason: "\(path): \(TextFile.reason(errno))") }
    try introduce(until: deadline)
    // A bus talks only with those that have greeted it.
    guard try call(.ofBus("Hello"), until: deadline).kind == .answer else { throw Failure(reason: "\(path): the bus refused its greeting") }
  }

  deinit { for descriptor in descriptors + [descriptor] { close(descriptor) } }

  /// The descriptor that came first and was not taken yet, which is the caller's then; nil if there is none.
  func takeDescriptor() -> Int32? { descriptors.isEmpty ? nil : descriptors.removeFirst() }

  /// Returns the call's number, which identifies the answer.
  @discardableResult func send(_ message: BusMessage, until deadline: MonotonicTime) throws(Failure) -> UInt32 {
    serial += 1
    var message = message
    message.serial = serial
    try write(message.encoded, until: deadline)
    return serial
  }

  /// The answer to a call, which may be an error. Drops earlier signals: whoever waits for them asks again.
  func call(_ message: BusMessage, until deadline: MonotonicTime) throws(Failure) -> BusMessage {
    let serial = try send(message, until: deadline)
    while let answer = try next(until: deadline) {
      if answer.replyTo == serial, answer.kind == .answer || answer.kind == .error { return answer }
    }
    throw Failure(reason: "\(message.member ?? "a call") was not answered in time")
  }

  /// The next message; nil if none arrived by `deadline`.
  func next(until deadline: MonotonicTime) throws(Failure) -> BusMessage? {
    while true {
      switch BusParser.parse(received) {
      case .message(let message, let length):
        received.removeFirst(length)
        if let message { return message }
      case .malformed: throw Failure(reason: "the bus sent bytes that are not a message")
      case .incomplete: guard try read(until: deadline) else { return nil }
      }
    }
  }

  private func introduce(until deadline: MonotonicTime) throws(Failure) {
    // Sends no user id: the bus reads it from the socket, and in a user namespace the id would differ.
    try write([0] + Array("AUTH EXTERNAL\r\nDATA\r\n".utf8), until: deadline)
    var answer = try line(until: deadline)
    if answer.hasPrefix("DATA") { answer = try line(until: deadline) }
    guard answer.hasPrefix("OK ") else { throw Failure(reason: "the bus refused this user") }
    if takesDescriptors {
      try write(Array("NEGOTIATE_UNIX_FD\r\n".utf8), until: deadline)
      guard try line(until: deadline).hasPrefix("AGREE_UNIX_FD") else { throw Failure(reason: "the bus passes no descriptors") }
    }
    try write(Array("BEGIN\r\n".utf8), until: deadline)
  }

  private func line(until deadline: MonotonicTime) throws(Failure) -> String {
    while !received.contains(10) {
      guard received.count < 4096, try read(until: deadline) else { throw Failure(reason: "the bus did not answer in time") }
    }
    let end = received.firstIndex(of: 10) ?? 0
    defer { received.removeFirst(end + 1) }
    return String(decoding: received[..<end], as: UTF8.self)
  }

  private func write(_ bytes: [UInt8], until deadline: MonotonicTime) throws(Failure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        guard wait(POLLOUT, until: deadline) else { throw Failure(reason: "the bus took nothing in time") }
      } else if errno != EINTR {
        throw Failure(reason: "send: \(TextFile.reason(errno))")
      }
    }
  }

  /// Reads the available bytes. Returns false if none arrived by `deadline`.
  private func read(until deadline: MonotonicTime) throws(Failure) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = takesDescriptors ? receiveWithDescriptor(&buffer) : recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        received += buffer.prefix(count)
        return true
      }
      if count == 0 { throw Failure(reason: "the bus closed the connection") }
      switch errno {
      case EINTR: continue
      case EAGAIN: guard wait(POLLIN, until: deadline) else { return false }
      default: throw Failure(reason: "receive: \(TextFile.reason(errno))")
      }
    }
  }

  private func receiveWithDescriptor(_ buffer: inout [UInt8]) -> Int {
    var arrived: Int32 = -1
    let count = taskhost_system_receive(descriptor, &buffer, buffer.count, &arrived, 0)
    if arrived >= 0 { if descriptors.count < Self.mostDescriptors { descriptors.append(arrived) } else { close(arrived) } }
    return count
  }

  private func wait(_ event: Int32, until deadline: MonotonicTime) -> Bool {
    let left = deadline - SystemClock.now
    guard left > .zero else { return false }
    var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
    return poll(&entry, 1, Int32(clamping: (left.wholeNanoseconds - 1) / 1_000_000 + 1)) > 0
  }
}
