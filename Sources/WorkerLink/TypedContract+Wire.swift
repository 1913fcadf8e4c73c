import TaskModel

extension TypedContract: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.text(signature)
    writer.write(success)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      signature: try reader.text("signature", atLeast: 1, atMost: Limits.signatureBytes),
      success: try reader.read(SuccessRule.self, "success rule"))
  }
}

extension LibraryAdoption: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(identifier)
    writer.write(kind)
    writer.text(symbol)
    writer.write(typed)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      identifier: try reader.identifier("an adoption's identifier"),
      kind: try reader.read(TaskKind.self, "kind"),
      symbol: try reader.text("symbol", atLeast: 1, atMost: LinkFormat.nameBytes),
      typed: try reader.read(TypedContract.self, "typed contract"))
  }
}

extension SuccessRule: WireCode {
  var wireCode: UInt8 {
    switch self {
    case .zero: 1
    case .nonzero: 2
    case .any: 3
    }
  }

  init?(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .zero
    case 2: self = .nonzero
    case 3: self = .any
    default: return nil
    }
  }
}
