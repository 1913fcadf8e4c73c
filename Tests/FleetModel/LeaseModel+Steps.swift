extension LeaseModel {
  /// Everything that may happen next.
  func steps(_ rules: LeaseRules) -> [(name: String, next: LeaseModel)] {
    var steps: [(String, LeaseModel)] = []
    func step(_ name: String, _ change: (inout LeaseModel) -> Void) {
      var next = self
      change(&next)
      if next != self { steps.append((name, next.canonical)) }
    }
    step("time passes") { $0.pass(rules, isFrozen: false) }
    if !rules.killsFrozen { step("time passes, and a host whose lease ends is frozen") { $0.pass(rules, isFrozen: true) } }
    // With watching, the clock decides nothing.
    if rules.setsClock, clockSteps > 0, !rules.fencesByWatching {
      step("the database's clock is set forward by a lease") { $0.setClock(by: Self.lease) }
      step("the database's clock is set back by half of one") { $0.setClock(by: -2) }
    }
    for host in 0...1 {
      let name = host == 0 ? "a" : "b"
      stepsOutside(host, rules) { step("\(name) \($0)", $1) }
      if self[host].isUp { stepsOfHost(host, rules) { step("\(name) \($0)", $1) } }
      stepsOfDatabase(host, rules) { step("the database \($0) of \(name)", $1) }
    }
    return steps
  }

  // MARK: Time

  private mutating func pass(_ rules: LeaseRules, isFrozen: Bool) {
    for host in 0...1 {
      self[host].left = max(0, self[host].left - 1)
      if self[host].renewal != .none { self[host].age = min(Self.lease, self[host].age + 1) }
      for row in 0..<4 where self[host].watched[row] >= 0 { self[host].watched[row] = min(Self.kill, self[host].watched[row] + 1) }
      guard self[host].left == 0, self[host].isUp else { continue }
      if rules.killsBeforeTheEnd, !isFrozen { (self[host].isRunning, self[host].hasOutcome) = (false, false) }
    }
    for row in 0..<4 where made.subtracting(fenced).contains(Rows(row: row)) && !rules.fencesByWatching {
      left[row] = max(-1, left[row] - 1)
    }
  }

  private mutating func setClock(by step: Int8) {
    clockSteps -= 1
    for row in 0..<4 where made.subtracting(fenced).contains(Rows(row: row)) { left[row] = min(Self.lease + 2, max(-1, left[row] - step)) }
  }

  // MARK: What happens to a host

  private func stepsOutside(_ host: Int, _ rules: LeaseRules, _ step: (String, (inout LeaseModel) -> Void) -> Void) {
    let it = self[host]
    guard it.isUp else {
      if mayJoin(host, rules) { step("begins and joins") { $0.join(host, rules) } }
      return
    }
    step("dies") { next in
      let stray = next[host].exchange.phase == .sent ? next[host].exchange : next[host].stray
      next[host] = Host(incarnation: it.incarnation, stray: stray)
    }
  }

  private mutating func join(_ host: Int, _ rules: LeaseRules) {
    let stray = self[host].stray
    self[host] = Host(incarnation: self[host].incarnation + 1, isUp: true, left: Self.kill, stray: stray)
    let row = Self.row(host, self[host].incarnation)
    made.insert(Rows(row: row))
    if !rules.fencesByWatching { left[row] = Self.lease }
  }

  // MARK: What a host does

  private func stepsOfHost(_ host: Int, _ rules: LeaseRules, _ step: (String, (inout LeaseModel) -> Void) -> Void) {
    let it = self[host]
    if it.left == 0 {
      if !it.isRunning, mayJoin(host, rules) {
        step("joins again") { next in
          if next[host].exchange.phase == .sent { next[host].stray = next[host].exchange }
          next.join(host, rules)
        }
      }
    }
    switch it.renewal {
    // Counted from its sending, a renewal at once after another one changes nothing, unless it fences.
    case .none where it.left > 0 && (it.left < Self.kill || it.watched.max() >= Self.kill || !rules.countsFromSending):
      step("sends a renewal") { next in
        (next[host].renewal, next[host].age) = (.sent, 0)
        for row in 0..<4 where rules.fencesByWatching && it.watched[row] >= Self.kill { next[host].fences.insert(Rows(row: row)) }
      }
    case .done:
      step("gets the answer to its renewal") { next in
        let counted = Self.kill - (rules.countsFromSending ? it.age : 0)
        // A lease that has ended meanwhile is over: the host joins anew.
        if it.left > 0 || !rules.killsBeforeTheEnd, counted > 0 { next[host].left = max(it.left, counted) }
        next[host].forgetRenewal()
        guard rules.fencesByWatching else { return }
        for row in 0..<4 where row != Self.row(host, it.incarnation) && it.watched[row] < 0 {
          if next.made.subtracting(next.fenced).contains(Rows(row: row)) { next[host].watched[row] = 0 }
        }
      }
    case .refused:
      step("hears that it was fenced") { next in
        next[host].forgetRenewal()
        (next[host].left, next[host].isRunning, next[host].hasOutcome) = (0, false, false)
      }
    case .none, .sent: break
    }
    if it.renewal != .none { step("loses the answer to its renewal") { $0[host].forgetRenewal() } }
    stepsOfExchange(host, rules, step)
    if it.isRunning { step("ends its run") { ($0[host].isRunning, $0[host].hasOutcome) = (false, true) } }
  }

  private func stepsOfExchange(_ host: Int, _ rules: LeaseRules, _ step: (String, (inout LeaseModel) -> Void) -> Void) {
    let it = self[host]
    switch it.exchange.phase {
    case .none:
      let mayAsk = it.left > 0
      if mayAsk, !it.isRunning, !it.hasOutcome {
        step("sends a claim") { $0[host].exchange = Exchange(phase: .sent, kind: .claim, incarnation: it.incarnation) }
        // give_back_unknown: what it owns and does not know of.
        if owner == Self.owner(host, it.incarnation) {
          step("gives back what it does not know") { next in
            if next.holds(Self.row(host, it.incarnation), rules) { next.owner = Self.nobody }
          }
        }
      }
      if mayAsk, it.hasOutcome {
        step("sends its outcome") { $0[host].exchange = Exchange(phase: .sent, kind: .finish, incarnation: it.incarnation) }
      }
    case .sent, .done, .refused:
      step("gives up its exchange") { next in
        if it.exchange.phase == .sent { next[host].stray = it.exchange }
        next[host].exchange = Exchange()
      }
      guard it.exchange.phase != .sent else { return }
      step("gets the answer to its exchange") { next in
        next[host].exchange = Exchange()
        let isOwner = !rules.beginsWithinLease || (it.left > 0 && it.exchange.incarnation == it.incarnation)
        if it.exchange.kind == .claim, it.exchange.hasClaimed, isOwner { next[host].isRunning = true }
        if it.exchange.kind == .finish { next[host].hasOutcome = false }
      }
    }
  }

  // MARK: What the database does

  private func stepsOfDatabase(_ host: Int, _ rules: LeaseRules, _ step: (String, (inout LeaseModel) -> Void) -> Void) {
    if self[host].renewal == .sent { step("carries out the renewal") { $0.renew(host, rules) } }
    if self[host].exchange.phase == .sent {
      step("carries out the \(self[host].exchange.kind)") { next in
        next[host].exchange = next.carriedOut(next[host].exchange, of: host, rules)
      }
    }
    if self[host].stray.phase == .sent {
      step("carries out the stray \(self[host].stray.kind)") { next in
        _ = next.carriedOut(next[host].stray, of: host, rules)
        next[host].stray = Exchange()
      }
    }
  }

  /// `taskhost.hold_lease`
  private func holds(_ row: Int, _ rules: LeaseRules) -> Bool {
    !fenced.contains(Rows(row: row)) && (rules.fencesByWatching || left[row] > 0)
  }

  private mutating func renew(_ host: Int, _ rules: LeaseRules) {
    let mine = Self.row(host, self[host].incarnation)
    guard holds(mine, rules) else {
      self[host].renewal = .refused
      return
    }
    self[host].renewal = .done
    if !rules.fencesByWatching { left[mine] = Self.lease }
    for other in 0...1 {
      self[other].watched[mine] = -1
      self[other].fences.remove(Rows(row: mine))
    }
    for row in 0..<4 where row != mine && made.subtracting(fenced).contains(Rows(row: row)) {
      guard rules.fencesByWatching ? self[host].fences.contains(Rows(row: row)) : left[row] <= 0 else { continue }
      fenced.insert(Rows(row: row))
      left[row] = -1
      for other in 0...1 {
        self[other].watched[row] = -1
        self[other].fences.remove(Rows(row: row))
      }
    }
    guard rules.requeuesFenced, (1...4).contains(owner), fenced.contains(Rows(row: Int(owner) - 1)) else { return }
    owner = Self.nobody
  }

  /// The exchange with its answer.
  private mutating func carriedOut(_ sent: Exchange, of host: Int, _ rules: LeaseRules) -> Exchange {
    var exchange = sent
    let mine = Self.owner(host, exchange.incarnation)
    let mustHold = exchange.kind == .claim ? rules.claimHoldsLease : rules.finishHoldsLease
    guard !mustHold || holds(Self.row(host, exchange.incarnation), rules) else {
      exchange.phase = .refused
      return exchange
    }
    exchange.phase = .done
    switch exchange.kind {
    case .claim:
      guard owner == Self.nobody else { break }
      (owner, exchange.hasClaimed) = (mine, true)
    case .finish:
      let isOwner = rules.ownsByIncarnation ? owner == mine : (1...4).contains(owner) && (owner - 1) / 2 == Int8(host)
      if isOwner || !rules.finishAsksOwner { owner = Self.ended }
    }
    return exchange
  }
}

extension LeaseModel.Host {
  fileprivate mutating func forgetRenewal() { (renewal, age, fences) = (.none, 0, []) }
}
