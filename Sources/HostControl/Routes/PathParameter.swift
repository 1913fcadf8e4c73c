import StrictText
import TaskModel

/// The argument in a route's path.
struct PathParameter<Value: Sendable>: Sendable {
  let name: String
  let schema: JSONSchema
  let read: @Sendable (_ text: String) throws(RequestRefusal) -> Value
}

extension PathParameter {
  private static func id<Kind>(ofA kind: String) -> PathParameter<RecordID<Kind>> {
    PathParameter<RecordID<Kind>>(name: "id", schema: .id) { text throws(RequestRefusal) in
      if let id = RecordID<Kind>(text) { return id }
      throw RequestRefusal(
        .notFound,
        "\"\(text.prefix(80).description.escapingControlCharacters)\" is the id of no \(kind): "
          + "ids look like 01976c1e-0000-7000-8000-000000000000",
        field: "id")
    }
  }
}

extension PathParameter<RequestID> {
  static var request: Self { id(ofA: "request") }
  static var transfer: Self { id(ofA: "transfer") }
}

extension PathParameter<RunID> {
  static var run: Self { id(ofA: "run") }
}

extension PathParameter<AssertionID> {
  static var assertion: Self { id(ofA: "assertion") }
}

extension PathParameter<PauseID> {
  static var pause: Self {
    Self(name: "id", schema: .integer(1...Int64.max)) { text throws(RequestRefusal) in
      if let pause = PauseID(text) { return pause }
      throw RequestRefusal(
        .notFound, "\"\(text.prefix(80).description.escapingControlCharacters)\" is the number of no pause: see taskhost pause --list",
        field: "id")
    }
  }
}

extension PathParameter<TaskIdentifier> {
  static var identifier: Self {
    Self(name: "identifier", schema: .identifier) { text throws(RequestRefusal) in
      do throws(InvalidIdentifier) { return try TaskIdentifier(text) } catch {
        throw RequestRefusal(.notFound, error.description, field: "identifier")
      }
    }
  }
}

extension PathParameter<String> {
  /// The name of an event that a client may raise.
  static var event: Self {
    Self(name: "name", schema: .text(1...Limits.keyBytes)) { text throws(RequestRefusal) in
      if let flaw = EventTrigger.flaw(of: text) { throw RequestField.event.refusal(flaw) }
      return text
    }
  }
}
