public import TaskModel

extension RunQuery {
  /// Reads a filter of runs: `identifier:com.example.* outcome:failed,crashed since:2h`. An empty one selects all, up to 100.
  ///
  /// - Parameter now: The time from which `since` and `until` count back.
  public init(filter text: String, now: WallTime) throws(FilterError) {
    let terms = try FilterTerms(text, of: "runs", known: FilterWord.ofRuns)
    self.init()
    id = try terms.id()
    identifiers = try terms.identifiers()
    outcomes = try terms.outcomes()
    let requests = try terms.requests()
    if requests.count > 1 {
      let position = terms.all(.request).first?.values.dropFirst().first?.position ?? 1
      throw FilterError(position: position, message: "runs are listed of one request or of all: write one id")
    }
    request = requests.first
    since = try terms.moment(.since, now: now)
    until = try terms.moment(.until, now: now)
  }
}
