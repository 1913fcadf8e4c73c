import AsyncHTTPClient
import Glibc
import HostControl
import HostThreads
import NIOCore
import NIOHTTP1

/// Talks to a host over its control socket.
struct ControlClient: Sendable {
  /// Longest wait for an answer.
  static let timeout = TimeAmount.seconds(60)
  /// Largest answer: a listing of 10,000.
  static let answerBytes = 256 * 1_048_576

  /// The socket's path.
  let socket: String
  /// The same for connecting: short enough for NIO.
  private let address: String

  /// A client for the host at `socket`. Nothing is connected yet.
  init(socket: String) {
    self.socket = socket
    address = socket.utf8.count <= Self.maximumAddressBytes ? socket : Self.shortened(socket)
  }

  /// NIO takes paths up to this; an address on Linux holds ``ControlSocket/maximumPathBytes``.
  private static let maximumAddressBytes = 103

  /// The path by way of a descriptor of its directory, which stays open as long as the process; as it is when that is no help.
  private static func shortened(_ path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), path.utf8.count <= ControlSocket.maximumPathBytes else { return path }
    let directory = open(String(path[...slash]), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    return directory < 0 ? path : "/proc/self/fd/\(directory)/\(path[path.index(after: slash)...])"
  }

  /// Lives as long as the process. A host that is not there is reported at once, not tried again.
  private static let http: HTTPClient = {
    var configuration = HTTPClient.Configuration(timeout: .init(connect: .seconds(5), read: nil))
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }()

  /// `GET`.
  func get(_ path: String) async throws -> Answer { try await send("GET", path) }

  /// `POST`, with a JSON body or none.
  func post(_ path: String, _ body: [UInt8]? = nil) async throws -> Answer { try await send("POST", path, body) }

  /// Sends a request and reads the answer; an error the host answers is thrown.
  func send(_ method: String, _ path: String, _ body: [UInt8]? = nil) async throws -> Answer {
    var request = self.request(method, path)
    if let body {
      request.headers.add(name: "content-type", value: "application/json")
      request.body = .bytes(body)
    }
    let bytes: [UInt8]
    let status: Int
    do {
      let response = try await execute(request, deadline: .now() + Self.timeout)
      status = Int(response.status.code)
      bytes = Array(try await response.body.collect(upTo: Self.answerBytes).readableBytesView)
    } catch {
      throw unreachable(error)
    }
    guard (200..<300).contains(status) else { throw refusal(bytes, status: status) }
    return try answer(bytes)
  }

  /// Subscribes to the host's events. When this returns, everything that happens from now on will be in the stream.
  ///
  /// - Parameter request: Only events of the request with this id.
  /// - Returns: The events; the stream ends when the host does.
  func subscribe(request: String? = nil) async throws -> AsyncThrowingStream<ServerSentEvent, any Error> {
    let response: HTTPClientResponse
    do {
      response = try await execute(
        self.request("GET", "/v1/stream" + (request.map { "?request=\(Self.escape($0))" } ?? "")), deadline: .distantFuture)
    } catch {
      throw unreachable(error)
    }
    guard response.status == .ok else {
      let bytes = try? await response.body.collect(upTo: 65_536)
      throw refusal(bytes.map { Array($0.readableBytesView) } ?? [], status: Int(response.status.code))
    }
    let (stream, continuation) = AsyncThrowingStream<ServerSentEvent, any Error>.makeStream()
    let reading = Task {
      var parser = ServerSentEventParser()
      do {
        for try await part in response.body {
          for event in parser.feed(part.readableBytesView) { continuation.yield(event) }
        }
        continuation.finish()
      } catch {
        continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in reading.cancel() }
    for try await event in stream {
      if case .comment = event { return stream }
    }
    throw CommandFailure(.noHost, socket, "the host went away", remedy: "start it again: taskhost run")
  }

  /// A host that has more connections waiting than its queue holds is busy, not gone: there will be room.
  private func execute(_ request: HTTPClientRequest, deadline: NIODeadline) async throws -> HTTPClientResponse {
    for _ in 0..<Self.attempts {
      do { return try await Self.http.execute(request, deadline: deadline) } catch let error as IOError where error.errnoCode == EAGAIN {
        let address = address
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
          do {
            try HostThread.start("room") {
              SocketFile.waitForRoom(at: address, seconds: 5)
              continuation.resume()
            }
          } catch { continuation.resume() }
        }
      }
    }
    return try await Self.http.execute(request, deadline: deadline)
  }

  private static let attempts = 10

  /// Reads the data of an event.
  func answer(_ bytes: [UInt8]) throws -> Answer {
    do { return try Answer(bytes) } catch {
      throw CommandFailure(
        .refused, socket, "the answer is not JSON: \(error)", remedy: "is this the socket of a taskhost of this version?")
    }
  }

  /// Text as part of a path or a query.
  static func escape(_ text: String) -> String {
    var escaped = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        escaped.unicodeScalars.append(UnicodeScalar(byte))
      default: escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return escaped
  }

  private func request(_ method: String, _ path: String) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: "http+unix://\(Self.escape(address))\(path)")
    request.method = HTTPMethod(rawValue: method)
    return request
  }

  private func refusal(_ bytes: [UInt8], status: Int) -> CommandFailure {
    guard let answer = try? Answer(bytes).read(ErrorAnswer.self) else {
      return CommandFailure(
        .refused, socket, "the host answered with HTTP status \(status)", remedy: "is this the socket of a taskhost of this version?")
    }
    return CommandFailure(.refused, nil, answer.error.message)
  }

  /// Says what is the matter with the socket; `error` only where the socket looks well.
  private func unreachable(_ error: any Error) -> CommandFailure {
    if let failure = error as? CommandFailure { return failure }
    let start = "start one: taskhost run, or name its socket: --socket PATH"
    switch SocketFile.state(of: socket) {
    case .absent: return CommandFailure(.noHost, socket, "no host is running there", remedy: start)
    case .stale: return CommandFailure(.noHost, socket, "its host is gone", remedy: start)
    case .other: return CommandFailure(.noHost, socket, "is no socket", remedy: start)
    case .unknown(let reason): return CommandFailure(.noHost, socket, reason, remedy: "may you use this socket?")
    case .live: return CommandFailure(.noHost, socket, "the host did not answer: \(error)", remedy: "try again; see its log")
    }
  }
}
