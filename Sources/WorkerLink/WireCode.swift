import TaskModel

/// An enumeration that travels as a byte. The codes are part of the format: never change one, add new ones at the end.
protocol WireCode: WireValue {
  var wireCode: UInt8 { get }
  init?(wireCode: UInt8)
}

extension WireCode {
  func write(to writer: inout MessageWriter) { writer.byte(wireCode) }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let code = try reader.byte(what)
    guard let value = Self(wireCode: code) else { throw .malformed(what: "\(what) \(code) is not defined") }
    self = value
  }
}
