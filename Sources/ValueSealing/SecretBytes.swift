internal import COpenSSL

/// Bytes of a secret in memory of their own, which is wiped when the last reference goes. Copies of the reference share them.
final class SecretBytes: @unchecked Sendable {  // reason: the bytes are written in the initializer only
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  /// - Parameter fill: Writes all bytes.
  init(count: Int, _ fill: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
    bytes = .allocate(capacity: count)
    bytes.initialize(repeating: 0)
    fill(bytes)
  }

  deinit {
    OPENSSL_cleanse(bytes.baseAddress, bytes.count)
    bytes.deallocate()
  }

  func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result { body(UnsafeBufferPointer(bytes)) }
}

extension [UInt8] {
  /// Overwrites the elements with zeros.
  mutating func wipe() { withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
}
