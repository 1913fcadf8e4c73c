/// The status and headers of an answer.
public struct TransferHead: Sendable {
  /// 100 to 999. The head of a complete answer has 200 or more.
  public let status: Int
  /// In order of arrival; without trailers.
  public let headers: [(name: String, value: String)]
  /// The URL that was asked: after redirects, the last one.
  public let url: String

  /// All values of a header, whatever the case of its name.
  public func values(_ name: String) -> [String] {
    let name = name.lowercased()
    return headers.filter { $0.name.lowercased() == name }.map(\.value)
  }
}

extension TransferHead {
  /// The size of the body, as far as the head tells it.
  public enum BodySize: Sendable, Equatable {
    /// In bytes.
    case known(Int64)
    /// Chunks or the end of the connection show the body's end.
    case unknown
    /// The server gives several sizes, or one that is not a number.
    case contradictory
  }

  /// What `Content-Length` says (RFC 9112 §6.3). With `Transfer-Encoding`, it does not count.
  public var bodySize: BodySize {
    guard values("transfer-encoding").isEmpty else { return .unknown }
    // Equal values in a list are one value.
    let texts = values("content-length").flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }
    guard let first = texts.first else { return .unknown }
    let sizes = Set(texts.map { HeaderNumber.read($0.drop { $0 == " " }) })
    guard sizes.count == 1, HeaderNumber.read(first) != nil, let size = sizes.first ?? nil else { return .contradictory }
    return .known(size)
  }

  /// The `Content-Range` of the answer; nil without exactly one that makes sense.
  public var contentRange: ContentRange? {
    let texts = values("content-range")
    return texts.count == 1 ? ContentRange(texts[0]) : nil
  }
}

/// A complete answer.
public struct TransferAnswer: Sendable {
  /// Status and headers.
  public let head: TransferHead
  /// The body as sent, without decompression.
  public let body: [UInt8]
}
