import Glibc
import HTTPTransfer
import StrictText

/// Sends a message of spans to a collector by OTLP over HTTP, in its JSON encoding.
public struct SpanUpload: Sendable {
  /// Where the collector is, whole.
  public var url: String
  /// More headers, such as a key of the collector.
  public var headers: [(name: String, value: String)] = []
  /// The time limit of the whole exchange.
  public var timeout = Duration.seconds(10)
  /// The most bytes of an answer that are read.
  private static let answerBytes = 65_536

  /// Creates an upload.
  public init(url: String) { self.url = url }

  /// What became of it: how it ended, and a JSON object for the host.
  public struct Result: Sendable {
    /// How it ended.
    public let end: DeliveryEnd
    /// When the collector wants to be asked again, in milliseconds; nil if it does not say.
    public var retryAfter: Int64?
    /// How many of the spans the collector has refused, though it has taken the message.
    public var rejected: Int64 = 0
    /// Why, in the collector's words.
    public var reason = ""

    init(_ end: DeliveryEnd) { self.end = end }

    /// A result without an exchange.
    public static func failed(_ end: DeliveryEnd) -> Result { Result(end) }

    /// `{"message": "…", "retry_after_ms": 1000, "rejected": 2}`; what there is not is left out.
    public var json: [UInt8] {
      JSONWriter.object { writer in
        writer.member("message", end.sentence ?? (reason.isEmpty ? nil : reason))
        writer.member("retry_after_ms", retryAfter)
        writer.member("rejected", rejected > 0 ? rejected : nil)
      }
    }
  }

  /// Sends it once. Blocks for ``timeout`` at most. Follows no redirect.
  ///
  /// - Source: OTLP/HTTP Response: 429, 502, 503 and 504 ask for another attempt, `Retry-After` says when; any other refusal is final.
  public func send(_ message: [UInt8]) -> Result {
    var request = TransferRequest(url: url)
    request.method = "POST"
    request.body = message
    request.timeout = timeout
    request.headers = [("Content-Type", "application/json"), ("User-Agent", "taskhost")] + headers
    let place = TransferURL(url)?.origin ?? "the collector"
    do throws(TransferFailure) {
      var body: [UInt8] = []
      let head = try Transfer(request).run { _, part in
        body += part
        return body.count < Self.answerBytes
      }
      var result = Result(Self.end(head.status, place))
      if case .later = result.end { result.retryAfter = head.retryAfter.map { $0.components.seconds * 1000 } }
      if case .delivered = result.end, let node = try? JSONReader.read(body), let partial = node["partialSuccess"] {
        // A 64-bit number comes as text, or as a number from those who do not keep to it.
        result.rejected = partial["rejectedSpans"].flatMap { $0.integer ?? $0.string.flatMap { Int64($0) } } ?? 0
        result.reason = String((partial["errorMessage"]?.string ?? "").prefix(300))
      }
      return result
    } catch {
      if case .invalidRequest = error { return Result(.refused("\(place): \(error)")) }
      return Result(.later("\(place): \(error)"))
    }
  }

  private static func end(_ status: Int, _ place: String) -> DeliveryEnd {
    switch status {
    case 200..<300: .delivered
    case 300..<400: .refused("\(place) answers \(status), a redirect, which is not followed: configure the URL it leads to")
    case 429, 502, 503, 504: .later("\(place) answers \(status)")
    default: .refused("\(place) answers \(status)")
    }
  }

  // MARK: Headers

  /// Headers that describe the message or its connection.
  private static let ownHeaders: Set<String> = [
    "connection", "content-encoding", "content-length", "content-type", "expect", "host", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  /// The most bytes of a file of headers.
  static let headerFileBytes = 16_384

  /// Reads a file of headers, `Name: value` a line. Empty lines, and those that begin with `#`, are left out.
  public static func headers(inFile path: String) throws(SecretProblem) -> [(name: String, value: String)] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard descriptor >= 0 else { throw SecretProblem(description: "headers_file \(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: headerFileBytes + 1)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw SecretProblem(description: "headers_file \(path): \(String(cString: strerror(errno)))") }
    guard count <= headerFileBytes else {
      throw SecretProblem(description: "headers_file \(path) has more than \(headerFileBytes) bytes")
    }
    return try headers(in: String(decoding: bytes.prefix(count), as: UTF8.self), of: path)
  }

  static func headers(in text: String, of path: String) throws(SecretProblem) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let whole = trimmed(line)
      if whole.isEmpty || whole.hasPrefix("#") { continue }
      // The value may be a secret: it is not repeated.
      guard let colon = whole.firstIndex(of: ":"), HeaderText.isName(String(trimmed(whole[..<colon]))),
        HeaderText.isValue(String(trimmed(whole[whole.index(after: colon)...])))
      else { throw SecretProblem(description: "headers_file \(path): line \(index + 1) is no header: write NAME: VALUE") }
      let name = String(trimmed(whole[..<colon]))
      guard !ownHeaders.contains(name.lowercased()) else {
        throw SecretProblem(description: "headers_file \(path): line \(index + 1): taskhost sets \(name) itself: leave it out")
      }
      headers.append((name, String(trimmed(whole[whole.index(after: colon)...]))))
    }
    return headers
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let isBlank = { (character: Character) in character == " " || character == "\t" || character == "\r" }
    var text = text.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }
}
