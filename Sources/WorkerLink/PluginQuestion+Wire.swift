import TaskModel

extension PluginQuestion: WireValue {
  func write(to writer: inout MessageWriter) {
    switch self {
    case .requests(let identifier, let request):
      writer.byte(1)
      writer.write(identifier)
      writer.optional(request)
    case .request(let request):
      writer.byte(2)
      writer.write(request)
    case .explanation(let request):
      writer.byte(3)
      writer.write(request)
    case .conditions: writer.byte(4)
    case .runs(let identifier, let run):
      writer.byte(5)
      writer.write(identifier)
      writer.optional(run)
    case .lastSuccess(let identifier):
      writer.byte(6)
      writer.write(identifier)
    case .transfers(let request):
      writer.byte(7)
      writer.optional(request)
    case .transfer(let request):
      writer.byte(8)
      writer.write(request)
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    switch try reader.byte(what) {
    case 1:
      self = .requests(of: try reader.identifier("identifier"), after: try reader.optional(RequestID.self, "the last of a page"))
    case 2: self = .request(try reader.read(RequestID.self, "request"))
    case 3: self = .explanation(of: try reader.read(RequestID.self, "request"))
    case 4: self = .conditions
    case 5: self = .runs(of: try reader.identifier("identifier"), after: try reader.optional(RunID.self, "the last of a page"))
    case 6: self = .lastSuccess(of: try reader.identifier("identifier"))
    case 7: self = .transfers(after: try reader.optional(RequestID.self, "the last of a page"))
    case 8: self = .transfer(try reader.read(RequestID.self, "transfer"))
    case let code: throw .malformed(what: "question \(code) is not defined")
    }
  }
}

extension AnswerPage: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.list(texts) { $0.blob($1) }
    writer.optional(next) { $0.text($1) }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      texts: try reader.list("an answer's texts", atMost: AnswerPage.countLimit) { (reader) throws(LinkError) in
        try reader.blob("a text", atMost: AnswerPage.textLimit)
      },
      next: try reader.optional("the last of a page") { (reader) throws(LinkError) in try reader.text("an id", atMost: Limits.keyBytes) })
  }
}
