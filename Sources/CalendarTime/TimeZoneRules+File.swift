extension TimeZoneRules {
  /// Why a file is not a valid time zone file.
  public struct Malformed: Error, Sendable, Hashable {
    /// What is wrong with it.
    public let observed: String
  }

  /// Parses a compiled file of the time zone database, version 2 or later.
  ///
  /// - Source: RFC 8536, "The Time Zone Information Format (TZif)".
  public init(file bytes: [UInt8]) throws(Malformed) {
    var reader = FileReader(bytes: bytes)
    let old = try reader.header()
    guard old.version >= UInt8(ascii: "2") else { throw Malformed(observed: "is version 1, which ends in 2037") }
    try reader.skip(old.size(ofTime: 4))
    let header = try reader.header()
    guard header.types > 0 else { throw Malformed(observed: "has no offset") }
    let moments = try (0..<header.times).map { _ throws(Malformed) in try reader.integer(8) }
    let indexes = try (0..<header.times).map { _ throws(Malformed) in try reader.byte() }
    var offsets: [Int] = []
    for _ in 0..<header.types {
      let offset = try reader.integer(4)
      guard (-93_600...93_600).contains(offset) else { throw Malformed(observed: "has an offset of \(offset) s") }
      offsets.append(offset)
      try reader.skip(2)
    }
    try reader.skip(header.characters + header.leaps * 12 + header.standards + header.universals)
    let footer = try reader.line()
    guard zip(moments, moments.dropFirst()).allSatisfy({ $0 < $1 }) else { throw Malformed(observed: "has changes out of order") }
    guard indexes.allSatisfy({ Int($0) < offsets.count }) else { throw Malformed(observed: "has a change to a missing offset") }
    let changes = zip(moments, indexes).map { (moment: $0, offset: offsets[Int($1)]) }
    let last = changes.last?.offset ?? offsets[0]
    guard let rule = footer.isEmpty ? PosixTimeZone(standard: last, daylight: nil) : PosixTimeZone(footer) else {
      throw Malformed(observed: "ends with \"\(footer)\", which is not a rule")
    }
    self.init(changes: changes, first: offsets[0], rule: rule)
  }

  private struct Header {
    let version: UInt8
    let universals: Int
    let standards: Int
    let leaps: Int
    let times: Int
    let types: Int
    let characters: Int

    func size(ofTime bytes: Int) -> Int { times * (bytes + 1) + types * 6 + characters + leaps * (bytes + 4) + standards + universals }
  }

  private struct FileReader {
    let bytes: [UInt8]
    var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func skip(_ count: Int) throws(Malformed) {
      guard count <= bytes.count - position else { throw Malformed(observed: "is cut off") }
      position += count
    }

    mutating func byte() throws(Malformed) -> UInt8 {
      try skip(1)
      return bytes[position - 1]
    }

    /// Reads a signed integer of 4 or 8 bytes, most significant byte first.
    mutating func integer(_ size: Int) throws(Malformed) -> Int {
      try skip(size)
      let value = bytes[(position - size)..<position].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      return size == 4 ? Int(Int32(truncatingIfNeeded: value)) : Int(Int64(bitPattern: value))
    }

    mutating func header() throws(Malformed) -> Header {
      guard try integer(4) == 0x545A_6966 else { throw Malformed(observed: "is not a file of the time zone database") }
      let version = try byte()
      try skip(15)
      var counts: [Int] = []
      for _ in 0..<6 {
        let count = try integer(4)
        guard (0...10_000).contains(count) else { throw Malformed(observed: "claims to have \(count) entries of one kind") }
        counts.append(count)
      }
      return Header(
        version: version, universals: counts[0], standards: counts[1], leaps: counts[2], times: counts[3], types: counts[4],
        characters: counts[5])
    }

    /// Reads the last line: the text between the two newlines at the end of the file.
    mutating func line() throws(Malformed) -> String {
      let rest = bytes[position...]
      guard rest.first == 10, rest.count >= 2, let end = rest.dropFirst().firstIndex(of: 10) else {
        throw Malformed(observed: "has no rule at its end")
      }
      return String(decoding: bytes[(position + 1)..<end], as: UTF8.self)
    }
  }
}
