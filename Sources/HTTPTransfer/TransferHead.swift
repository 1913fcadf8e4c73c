/// The status and headers of an answer.
public struct TransferHead: Sendable {
  /// 200 to 999; interim answers (1xx) are skipped.
  public let status: Int
  /// In order of arrival; without trailers.
  public let headers: [(name: String, value: String)]

  /// All values of a header, whatever the case of its name.
  public func values(_ name: String) -> [String] {
    let name = name.lowercased()
    return headers.filter { $0.name.lowercased() == name }.map(\.value)
  }
}

/// A complete answer.
public struct TransferAnswer: Sendable {
  /// Status and headers.
  public let head: TransferHead
  /// The body as sent, without decompression.
  public let body: [UInt8]
}
