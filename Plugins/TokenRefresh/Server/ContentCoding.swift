import CZlib

/// Decodes a body as `Content-Encoding` says (RFC 9110 §8.4): gzip with any number of members, deflate with or without a zlib header.
///
/// It tolerates as many errors as it can, because an unreadable answer may cost the only valid token.
enum ContentCoding {
  /// The maximum number of nested codings that are decoded.
  private static let most = 5

  private static let step = 16_384

  private static let gzipMagic: [UInt8] = [0x1F, 0x8B]

  /// - Parameters:
  ///   - codings: The header's codings, in the order in which they were applied.
  ///   - limit: The maximum size of the body in bytes, at every step.
  /// - Returns: The decoded body; nil if it exceeds the limit. A coding that is unknown or that the body does not have is ignored.
  static func plain(_ body: [UInt8], codings: [String], limit: Int) -> [UInt8]? {
    var body = body
    // No compressed text begins with a brace, and some servers announce a coding that they did not apply.
    for coding in codings.suffix(most).reversed() where body.first != UInt8(ascii: "{") {
      switch coding.lowercased() {
      case "gzip", "x-gzip":
        guard let decoded = decode(body, [.wrapped], limit) else { return nil }
        body = decoded
      case "deflate":
        guard let decoded = decode(body, [.wrapped, .raw], limit) else { return nil }
        body = decoded
      default: break
      }
    }
    // Other servers compress without announcing it.
    return body.starts(with: gzipMagic) ? decode(body, [.wrapped], limit) : body
  }

  /// Decodes the body in the first format that fits; returns it unchanged if none fits.
  private static func decode(_ body: [UInt8], _ formats: [Format], _ limit: Int) -> [UInt8]? {
    for format in formats {
      switch expand(body, format, limit) {
      case .bytes(let bytes): return bytes
      case .tooLarge: return nil
      case .unreadable: continue
      }
    }
    return body
  }

  private static func expand(_ body: [UInt8], _ format: Format, _ limit: Int) -> Expanded {
    // zlib keeps the address of the stream.
    let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    stream.initialize(to: z_stream())
    defer { stream.deallocate() }
    guard inflateInit2_(stream, format.rawValue, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return .unreadable }
    defer { _ = inflateEnd(stream) }

    var input = body
    return input.withUnsafeMutableBufferPointer { input in
      stream.pointee.next_in = input.baseAddress
      stream.pointee.avail_in = UInt32(clamping: input.count)
      var space = [UInt8](repeating: 0, count: step)
      var decoded: [UInt8] = []
      var complete = 0
      while true {
        let code = space.withUnsafeMutableBufferPointer { space in
          stream.pointee.next_out = space.baseAddress
          stream.pointee.avail_out = UInt32(clamping: space.count)
          return inflate(stream, Z_NO_FLUSH)
        }
        decoded += space.dropLast(Int(stream.pointee.avail_out))
        if decoded.count > limit { return .tooLarge }
        switch code {
        case Z_OK: continue
        case Z_STREAM_END:
          complete = decoded.count
          // Another member may follow. Anything else is ignored.
          let rest = input.suffix(Int(stream.pointee.avail_in))
          guard rest.starts(with: gzipMagic), inflateReset(stream) == Z_OK else { return .bytes(decoded) }
        case Z_BUF_ERROR:
          // The end is missing. The text so far may still be complete.
          return decoded.isEmpty ? .unreadable : .bytes(decoded)
        default:
          return complete > 0 ? .bytes(Array(decoded.prefix(complete))) : .unreadable
        }
      }
    }
  }

  /// zlib's window bits: its largest window, and how it detects the format.
  private enum Format: Int32 {
    /// With a header of gzip or zlib.
    case wrapped = 47
    /// Deflate without a header, which some servers send as `deflate`.
    case raw = -15
  }

  private enum Expanded {
    case bytes([UInt8])
    case tooLarge
    case unreadable
  }
}
