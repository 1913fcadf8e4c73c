public import TaskFilters
public import TaskModel

/// What a bulk action would do, and what it did.
public enum BulkPage {
  /// The question before an action.
  ///
  /// - Parameter delay: For how long requests would be postponed, as it was typed.
  public static func question(_ order: BulkOrder, _ result: BulkResult, delay: String, now: WallTime) -> Page {
    let verb = order.action.rawValue
    let count = words(result.changes) + (result.next == nil ? "" : " or more")
    let stay = result.reasons.map { " \(words($0.count)) would stay as before: \($0.reason)." }.joined()
    let confirm: View? = result.changes == 0 && result.next == nil ? nil : again(order, delay, "\(capital(verb)) \(count)")
    let values: View = [
      "heading": "\(capital(verb)) \(count)?", "filter": order.filter.text, "confirm": confirm,
      "sentence": result.matched == 0
        ? "No request matches for which \(verb) is meant: nothing would change."
        : "The action is for all that match when it is carried out. Nothing has changed yet.\(stay)",
      "back": PagePath.requests(order.filter.text),
    ]
    return Page("\(verb) \(count)?", in: .requests, "bulk", values, now: now, changes: nil)
  }

  /// What was done, if some requests were refused or there may be more.
  public static func result(_ order: BulkOrder, _ result: BulkResult, delay: String, now: WallTime) -> Page {
    let verb = order.action.rawValue
    let confirm: View? = result.next == nil ? nil : again(order, delay, "Go on with the rest")
    let items = result.refused.prefix(100).map { refused -> View in
      ["href": PagePath.request(refused.id), "id": refused.id.description, "message": refused.message]
    }
    let refused: View? = items.isEmpty ? nil : ["items": items]
    let values: View = [
      "heading": "\(capital(verb)): \(words(result.done.count)) done", "filter": order.filter.text,
      "confirm": confirm,
      "sentence": "\(words(result.refused.count)) stayed as before.\(result.next == nil ? "" : " There may be more that match.")",
      "back": PagePath.requests(order.filter.text), "refused": refused,
    ]
    return Page("\(verb): done", in: .requests, "bulk", values, now: now, changes: nil)
  }

  private static func words(_ count: Int) -> String { count == 1 ? "1 request" : "\(count) requests" }

  private static func capital(_ verb: String) -> String { verb.prefix(1).uppercased() + verb.dropFirst() }

  /// The button that carries the action out.
  private static func again(_ order: BulkOrder, _ delay: String, _ label: String) -> View {
    ["filter": order.filter.text, "action": order.action.rawValue, "delay": delay, "label": label]
  }
}
