import StrictText
import TaskModel

/// An object in a line of an archive. Each member is taken once; whatever is left at the end is an error.
final class ArchiveObject {
  /// The number of the line, from 1.
  let line: Int
  private let bytes: [UInt8]
  private let origin: UInt64?
  /// The place of the object in the line, such as `retry.`; empty for the line itself.
  private let place: String
  /// One value, so that each look at it is one access to the object.
  private var members: Members

  /// Reads a line.
  ///
  /// - Parameter origin: The store of all ids in the archive; nil if they may be of several.
  convenience init(_ text: [UInt8], line: Int, origin: UInt64?) throws(ArchiveFlaw) {
    let node: JSONNode
    do {
      node = try JSONReader.read(text, limits: JSONLimits(values: 20_000, opaqueMembers: StoreArchive.bytes))
    } catch { throw ArchiveFlaw(line: line, sentence: "column \(error.column): \(error.flaw)") }
    try self.init(node, text, line, origin, place: "")
  }

  private init(_ node: JSONNode, _ text: [UInt8], _ line: Int, _ origin: UInt64?, place: String) throws(ArchiveFlaw) {
    guard case .object(let members) = node.value else {
      let what = place.isEmpty ? "the line" : String(place.dropLast())
      throw ArchiveFlaw(line: line, sentence: "\(what) must be an object, not \(node.kind)")
    }
    (self.line, bytes, self.origin, self.place, self.members) = (line, text, origin, place, Members(members))
  }

  /// An error about the member `name`.
  func flaw(_ name: String, _ sentence: String) -> ArchiveFlaw { ArchiveFlaw(line: line, sentence: "\(place)\(name) \(sentence)") }

  /// Throws if a member was not taken.
  func finish() throws(ArchiveFlaw) {
    guard let name = members.firstLeft?.name else { return }
    let shown = String(name.prefix(80)).escapingControlCharacters
    throw flaw(shown, "is unknown here\(NearestName.hint(for: name, among: members.asked))")
  }

  /// Whether the member is there and was not taken.
  func has(_ name: String) -> Bool { members.place(of: name) != nil }

  private func take(_ name: String) -> JSONNode? { members.take(name) }

  private func required<Value>(_ name: String, _ value: Value?) throws(ArchiveFlaw) -> Value {
    guard let value else { throw flaw(name, "is missing") }
    return value
  }

  private func text(of node: JSONNode) -> String { String(decoding: bytes[node.range], as: UTF8.self) }

  // MARK: Members

  func text(_ name: String) throws(ArchiveFlaw) -> String? {
    guard let node = take(name) else { return nil }
    guard let text = node.string else { throw flaw(name, "must be a string, not \(node.kind)") }
    return text
  }

  func requiredText(_ name: String) throws(ArchiveFlaw) -> String { try required(name, try text(name)) }

  /// A key that a person or a plugin has given.
  func requiredKey(_ name: String) throws(ArchiveFlaw) -> String {
    let key = try requiredText(name)
    guard (1...Limits.keyBytes).contains(key.utf8.count) else { throw flaw(name, "must have 1 to \(Limits.keyBytes) bytes") }
    return key
  }

  func integer(_ name: String) throws(ArchiveFlaw) -> Int64? {
    guard let node = take(name) else { return nil }
    guard let number = node.integer else { throw flaw(name, "must be a whole number, not \(node.kind)") }
    return number
  }

  func requiredInteger(_ name: String) throws(ArchiveFlaw) -> Int64 { try required(name, try integer(name)) }

  /// A count; 0 if it is missing.
  func count(_ name: String) throws(ArchiveFlaw) -> Int {
    let number = try integer(name) ?? 0
    guard (0...Int64(Int32.max)).contains(number) else { throw flaw(name, "must be 0 to \(Int32.max), not \(number)") }
    return Int(number)
  }

  /// A number of 64 bits as hexadecimal digits.
  func requiredHex(_ name: String) throws(ArchiveFlaw) -> UInt64 {
    guard let bytes = Hex.bytes(try requiredText(name).utf8, count: 8) else { throw flaw(name, "must have 16 hexadecimal digits") }
    return bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  func unsigned(_ name: String) throws(ArchiveFlaw) -> UInt64? {
    guard let node = take(name) else { return nil }
    guard case .number = node.value, let number = UInt64(text(of: node)) else { throw flaw(name, "must be a whole number from 0 on") }
    return number
  }

  /// A boolean; false if it is missing.
  func flag(_ name: String) throws(ArchiveFlaw) -> Bool {
    guard let node = take(name) else { return false }
    guard let truth = node.bool else { throw flaw(name, "must be true or false, not \(node.kind)") }
    return truth
  }

  func time(_ name: String) throws(ArchiveFlaw) -> WallTime? {
    guard let node = take(name) else { return nil }
    if node.string == StoreArchive.never { return .distantFuture }
    guard let number = node.integer else {
      throw flaw(name, "must be milliseconds since 1970 or \"\(StoreArchive.never)\", not \(node.kind)")
    }
    let range = WallTime.calendar.upperBound.unixMilliseconds
    guard (-range...range).contains(number) else { throw flaw(name, "lies after the year 9999: \(number)") }
    return WallTime(unixMilliseconds: number)
  }

  /// The distance between two clocks in milliseconds: no two moments that a time can name are farther apart.
  func requiredOffset(_ name: String) throws(ArchiveFlaw) -> Int64 {
    let number = try requiredInteger(name)
    let range = WallTime.calendar.upperBound.unixMilliseconds
    guard (-range...range).contains(number) else { throw flaw(name, "is more than lies between two times until the year 9999: \(number)") }
    return number
  }

  func requiredTime(_ name: String) throws(ArchiveFlaw) -> WallTime { try required(name, try time(name)) }

  /// A duration in milliseconds.
  func length(_ name: String) throws(ArchiveFlaw) -> Duration? {
    guard let number = try integer(name) else { return nil }
    guard (0...Limits.longestDuration.wholeMilliseconds).contains(number) else {
      throw flaw(name, "must be 0 to \(Limits.longestDuration.wholeMilliseconds), not \(number)")
    }
    return .milliseconds(number)
  }

  func word<Word: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Word.Type) throws(ArchiveFlaw) -> Word? {
    guard let text = try text(name) else { return nil }
    guard let word = Word(rawValue: text) else {
      let shown = String(text.prefix(80)).escapingControlCharacters
      throw flaw(name, "must not be \"\(shown)\"\(NearestName.hint(for: text, among: Word.allCases.map(\.rawValue)))")
    }
    return word
  }

  func requiredWord<Word: RawRepresentable<String> & CaseIterable>(_ name: String, _ type: Word.Type) throws(ArchiveFlaw) -> Word {
    try required(name, try word(name, type))
  }

  func identifier(_ name: String = "identifier") throws(ArchiveFlaw) -> TaskIdentifier? {
    guard let text = try text(name) else { return nil }
    do { return try TaskIdentifier(text) } catch { throw flaw(name, "is wrong: \(error)") }
  }

  func requiredIdentifier() throws(ArchiveFlaw) -> TaskIdentifier { try required("identifier", try identifier()) }

  func id<Kind>(_ name: String, _ type: RecordID<Kind>.Type) throws(ArchiveFlaw) -> RecordID<Kind>? {
    guard let text = try text(name) else { return nil }
    guard let id = RecordID<Kind>(text) else { throw flaw(name, "is not an id: \"\(String(text.prefix(80)).escapingControlCharacters)\"") }
    guard origin == nil || id.origin == origin else { throw flaw(name, "is an id of another store than the archive's: \(id)") }
    return id
  }

  func requiredID<Kind>(_ name: String, _ type: RecordID<Kind>.Type) throws(ArchiveFlaw) -> RecordID<Kind> {
    try required(name, try id(name, type))
  }

  /// Bytes; nil if there are none.
  func blob(_ name: String, atMost limit: Int) throws(ArchiveFlaw) -> [UInt8]? {
    let plain = take(name).map { Array(bytes[$0.range]) }
    let encoded = try text(name + "_base64")
    guard plain == nil || encoded == nil else { throw flaw(name, "and \(name)_base64 exclude each other") }
    let found: [UInt8]?
    if let encoded {
      guard let decoded = Base64.decode(encoded) else { throw flaw(name + "_base64", "is not base64") }
      found = decoded
    } else {
      found = plain
    }
    if let found, found.count > limit { throw flaw(name, "has \(found.count) bytes, more than \(limit)") }
    return found
  }

  func texts(_ name: String) throws(ArchiveFlaw) -> [String] {
    guard let node = take(name) else { return [] }
    guard let elements = node.array else { throw flaw(name, "must be an array, not \(node.kind)") }
    var texts: [String] = []
    for element in elements {
      guard let text = element.string else { throw flaw(name, "must have only strings, not \(element.kind)") }
      texts.append(text)
    }
    return texts
  }

  /// An object; nil if it is missing. `read` takes its members.
  func object<Value>(_ name: String, _ read: (ArchiveObject) throws(ArchiveFlaw) -> Value) throws(ArchiveFlaw) -> Value? {
    guard let node = take(name) else { return nil }
    let object = try ArchiveObject(node, bytes, line, origin, place: "\(place)\(name).")
    let value = try read(object)
    try object.finish()
    return value
  }

  /// The values of an array of objects; empty if it is missing.
  func objects<Value>(_ name: String, _ read: (ArchiveObject) throws(ArchiveFlaw) -> Value) throws(ArchiveFlaw) -> [Value] {
    guard let node = take(name) else { return [] }
    guard let elements = node.array else { throw flaw(name, "must be an array, not \(node.kind)") }
    var values: [Value] = []
    for (index, element) in elements.enumerated() {
      let object = try ArchiveObject(element, bytes, line, origin, place: "\(place)\(name)[\(index)].")
      values.append(try read(object))
      try object.finish()
    }
    return values
  }

  /// An object whose values are whole numbers; empty if it is missing.
  func numbers(_ name: String) throws(ArchiveFlaw) -> [String: Int] {
    guard let node = take(name) else { return [:] }
    guard case .object(let members) = node.value else { throw flaw(name, "must be an object, not \(node.kind)") }
    var numbers: [String: Int] = [:]
    for member in members {
      // A name may be one whose value is not read, see ``StoreArchive/bytes``.
      guard let number = Int(text(of: member.node)) else { throw flaw("\(name).\(member.name)", "must be a whole number") }
      numbers[member.name] = number
    }
    return numbers
  }
}

extension ArchiveObject {
  /// The members of an object. There are few, and they come in the order in which they are taken: a table of hashes would cost more.
  private struct Members {
    private let all: [JSONMember]
    /// All before it are taken.
    private var next = 0
    /// Those taken after it.
    private var early: Set<Int> = []
    /// A bit for each member, by its name: most of the names that are asked for have none.
    private var bits: UInt64 = 0
    private(set) var asked: [String] = []

    init(_ members: [JSONMember]) {
      all = members
      for place in all.indices { bits |= Self.bit(of: all[place].name) }
      asked.reserveCapacity(48)
    }

    var firstLeft: JSONMember? { all.indices[next...].first { !early.contains($0) }.map { all[$0] } }

    /// Where a member is that was not taken.
    func place(of name: String) -> Int? {
      guard next < all.count else { return nil }
      if all[next].name == name { return next }
      guard bits & Self.bit(of: name) != 0 else { return nil }
      return all.indices[next...].first { all[$0].name == name && !early.contains($0) }
    }

    mutating func take(_ name: String) -> JSONNode? {
      asked.append(name)
      guard let place = place(of: name) else { return nil }
      if place > next {
        early.insert(place)
      } else {
        repeat { next += 1 } while early.remove(next) != nil
      }
      return all[place].node
    }

    private static func bit(of name: String) -> UInt64 {
      let bytes = name.utf8
      return 1 << UInt64((bytes.count &* 7 &+ Int(bytes.first ?? 0)) & 63)
    }
  }
}
