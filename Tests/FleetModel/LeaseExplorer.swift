/// Walks over every state that the model can reach, nearest first.
package struct LeaseExplorer {
  /// The number of states, and of steps between them.
  package private(set) var states = 0
  package private(set) var steps = 0
  /// The first flaw; nil if there is none.
  package private(set) var flaw: String?
  /// The steps that lead to it. The hosts' names may have been exchanged in between: what one may do, the other may.
  package private(set) var path: [String] = []

  /// - Parameter tracing: Whether ``path`` is wanted, which takes memory.
  package init(_ rules: LeaseRules, tracing: Bool = true) {
    let start = LeaseModel(rules).canonical
    var found: Set<LeaseModel> = [start]
    var before: [LeaseModel: (state: LeaseModel, step: String)] = [:]
    var level = [start]
    while !level.isEmpty {
      var next: [LeaseModel] = []
      for state in level {
        for (name, following) in state.steps(rules) {
          steps += 1
          guard found.insert(following).inserted else { continue }
          if tracing { before[following] = (state, name) }
          next.append(following)
          guard following.flaw != nil else { continue }
          (flaw, states) = (following.flaw, found.count)
          var reached = following
          while let (state, step) = before[reached] {
            path.insert(step, at: 0)
            reached = state
          }
          return
        }
      }
      level = next
    }
    states = found.count
  }
}
