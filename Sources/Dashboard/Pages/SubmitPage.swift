public import TaskModel
public import TypedCalls

/// The form of a new request.
public enum SubmitPage {
  /// What was typed so far, by the names of the inputs.
  public typealias Typed = [String: String]

  /// The input of an argument.
  public static func input(of parameter: TypedParameter) -> String { "argument.\(parameter.name)" }

  /// - Parameters:
  ///   - identifiers: The handlers to choose from.
  ///   - chosen: The handler; nil to choose first.
  ///   - signature: The arguments of its function; nil for a handler that reads its payload itself.
  ///   - flaw: Why the last try was refused.
  public static func make(
    _ identifiers: [String], chosen: String?, signature: TypedSignature?, typed: Typed = [:], flaw: String? = nil, now: WallTime
  ) -> Page {
    let options = identifiers.map { name -> View in ["name": name, "isChosen": name == chosen] }
    let choose: View? = options.isEmpty ? nil : ["options": options]
    var form: View?
    if let chosen {
      let arguments = signature?.parameters.filter { $0.type != .task } ?? []
      form = [
        "identifier": chosen, "signature": signature?.description, "flaw": flaw.map(FailurePage.sentence),
        "arguments": arguments.map { argument($0, typed) },
        "isJSON": signature == nil, "payload": Lines(typed["payload"] ?? ""), "delay": typed["delay"], "key": typed["key"],
        "tag": typed["tag"],
      ]
    }
    return Page("Submit a request", in: .requests, "submit", ["choose": choose, "form": form], now: now, changes: nil)
  }

  private static func argument(_ parameter: TypedParameter, _ typed: Typed) -> View {
    let name = input(of: parameter)
    let value = typed[name] ?? ""
    let kind =
      switch parameter.type {
      case .bool: "true or false"
      case .bytes: "base64"
      case .str: "text"
      case .f32, .f64: "number"
      default: "whole number, \(parameter.type.rawValue)"
      }
    return [
      "input": name, "argument": parameter.name, "hint": kind + (parameter.isOptional ? ", optional" : ""), "value": value,
      "isChoice": parameter.type == .bool, "isOptional": parameter.isOptional, "isTrue": value == "true", "isFalse": value == "false",
      "isNumber": ![.bool, .bytes, .str].contains(parameter.type),
    ]
  }
}
