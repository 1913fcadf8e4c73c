import Dashboard
import StrictText
import TaskModel
import TypedCalls

/// A submission by a form: its fields become the body that `POST /v1/requests` takes, and go through the same reader.
extension PageResponder {
  private static let fields = ["payload", "delay", "key", "tag"]

  func submit(_ request: ControlRequest) async throws -> ControlResponse {
    let signatures = await host.plugins().compactMap(\.contract?.typed?.signature).compactMap { try? TypedSignature($0) }
    let inputs = Set(signatures.flatMap(\.parameters).map(SubmitPage.input))
    let form = try PageQuery(form: request.body, known: ["identifier"] + Self.fields + inputs)
    guard let identifier = try form.text("identifier").map({ text throws(RequestRefusal) in try identifier(text) }) else {
      throw RequestField.identifier.refusal("is missing: say whose handler is to run")
    }
    let signature = await host.plugins().first { $0.contract?.identifier == identifier }?.contract?.typed
      .flatMap { try? TypedSignature($0.signature) }
    do {
      let body = try Self.body(identifier, signature, form)
      let requests = try SubmissionReader.read(body).requests
      guard let submission = try await host.submit(requests).first else { throw RequestRefusal(.internal, "nothing was submitted") }
      return seeOther(PagePath.request(submission.id), PageResult(submission.disposition))
        .about([submission.id.description], of: "submit \(identifier)")
    } catch let refusal as RequestRefusal where refusal.code != .internal {
      // Nobody types it all again.
      var typed: SubmitPage.Typed = [:]
      for name in Self.fields + inputs { typed[name] = try form.whole(name) }
      return try page(await submitPage(identifier, typed: typed, flaw: refusal.message), status: refusal.code.status)
    }
  }

  private static func body(_ identifier: TaskIdentifier, _ signature: TypedSignature?, _ form: PageQuery) throws -> [UInt8] {
    try JSONWriter.object { writer in
      writer.member(RequestField.identifier, identifier.rawValue)
      if let signature {
        let arguments = try arguments(signature, form)
        writer.object(RequestField.payload.rawValue) { for (name, write) in arguments { write(&$0, name) } }
      } else if let payload = try form.text("payload") {
        // Checked by itself, so that a position in it is one of what was typed.
        do { _ = try JSONReader.read(Array(payload.utf8)) } catch {
          throw RequestField.payload.refusal("it is not JSON: \(error)")
        }
        writer.name(RequestField.payload.rawValue)
        writer.raw(payload.utf8)
      }
      try Self.delay(form, &writer, label: "start after")
      writer.member(RequestField.uniqueKey, try form.text("key"))
      let tags = try form.text("tag")?.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") } ?? []
      if !tags.isEmpty { writer.member(RequestField.tags.rawValue, tags) }
    }
  }

  private typealias Argument = (name: String, write: (inout JSONWriter, String) -> Void)

  /// The arguments that were filled in. Text that is not a number is sent as it is: the host then says which argument it does not fit.
  private static func arguments(_ signature: TypedSignature, _ form: PageQuery) throws -> [Argument] {
    try signature.parameters.compactMap { parameter -> Argument? in
      guard parameter.type != .task else { return nil }
      let input = SubmitPage.input(of: parameter)
      guard let text = try parameter.type == .str ? form.whole(input) : form.text(input) else { return nil }
      // An empty field is an empty text only where one is needed.
      if text.isEmpty, parameter.isOptional { return nil }
      switch parameter.type {
      case .str, .bytes: return (parameter.name, { $0.member($1, text) })
      case .bool: return (parameter.name, { $0.member($1, text == "true") })
      default:
        let bytes = Array(text.utf8)
        let isNumber = bytes.first.map { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) } == true && JSONReader.isValid(bytes)
        return (
          parameter.name,
          { writer, name in
            writer.name(name)
            if isNumber { writer.raw(bytes) } else { writer.value(text) }
          }
        )
      }
    }
  }
}
