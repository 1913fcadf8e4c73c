import FoundationEssentials

/// A server's answer, kept as soon as it arrived: the time of the request in milliseconds since 1970, a newline, and the body.
struct KeptAnswer {
  let grant: TokenGrant
  let asked: Date

  static func encoded(_ body: [UInt8], asked: Date) -> [UInt8] {
    Array("\(Int64(asked.timeIntervalSince1970 * 1000))\n".utf8) + body
  }

  /// - Parameter bytes: A file's content, perhaps followed by zeros that were reserved and not overwritten.
  /// - Returns: nil if the answer is incomplete or was not successful.
  init?(_ bytes: [UInt8]) {
    let written = bytes.prefix((bytes.lastIndex { $0 != 0 } ?? -1) + 1)
    guard
      let end = written.firstIndex(of: UInt8(ascii: "\n")),
      let milliseconds = Int64(String(decoding: written[..<end], as: UTF8.self)),
      let members = TokenAnswer.object(Array(written[(end + 1)...])), let grant = TokenGrant(members)
    else { return nil }
    self.grant = grant
    asked = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }
}
