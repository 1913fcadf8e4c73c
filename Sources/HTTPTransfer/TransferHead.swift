/// Status and headers of an answer.
public struct TransferHead: Sendable {
  /// 200 to 999; interim answers (1xx) are skipped.
  public let status: Int
  /// In the order in which they came; trailers are left out.
  public let headers: [(name: String, value: String)]

  /// Every value of a header, whatever the case of its name.
  public func values(_ name: String) -> [String] {
    let name = name.lowercased()
    return headers.filter { $0.name.lowercased() == name }.map(\.value)
  }
}

/// A whole answer.
public struct TransferAnswer: Sendable {
  /// Status and headers.
  public let head: TransferHead
  /// As it was sent: nothing is decompressed.
  public let body: [UInt8]
}
