public import TaskModel

extension RequestFilter {
  /// The filter that selects what a query of a list selects, apart from its limit and cursor.
  public init(_ query: RequestQuery, now: WallTime) throws(RequestRefusal) {
    var terms: [String] = []
    if let identifier = query.identifier { terms.append("identifier:\(identifier)") }
    // Claimed requests are shown as pending, and selected with them.
    let states = query.states.filter { $0 != .claimed }.map(\.rawValue)
    if !states.isEmpty { terms.append("state:" + states.joined(separator: ",")) }
    if let tag = query.tag { terms.append("tag:" + Self.quoted(tag)) }
    do throws(FilterError) { try self.init(terms.joined(separator: " "), now: now) } catch { throw error.refusal(field: "tag") }
  }
}
