/// Two hosts, one request and a database, in steps of a quarter of a lease.
///
/// Each message may be carried out and answered at any later time, or never; a host may pause for any time, die and come back; and
/// somebody may set the database's clock. A step of the database is one transaction: PostgreSQL's row locks make them so.
struct LeaseModel: Hashable {
  /// How long a lease lasts by the database's clock.
  static let lease: Int8 = 4
  /// When a host's runs are killed: one step earlier. The real margin is a fifth of the lease; that it is one is what counts.
  static let kill: Int8 = 3
  /// How often a host may join.
  static let incarnations: Int8 = 2

  enum Phase: UInt8, Hashable { case none, sent, done, refused }
  enum Kind: UInt8, Hashable { case claim, finish }

  /// A claim or an end on its way.
  struct Exchange: Hashable {
    var phase = Phase.none
    var kind = Kind.claim
    var incarnation: Int8 = 0
    var hasClaimed = false
  }

  struct Host: Hashable {
    var incarnation: Int8 = 0
    var isUp = false
    /// How long its runs may last; 0 if it has no lease.
    var left: Int8 = 0
    var isRunning = false
    /// A run has ended, and the database does not know.
    var hasOutcome = false
    var renewal = Phase.none
    /// How long ago the renewal was sent.
    var age: Int8 = 0
    /// The rows that the renewal fences, if they have not been renewed meanwhile.
    var fences = Rows()
    /// For how long it has seen each lease unchanged; -1 if it has not seen it.
    var watched = SIMD4<Int8>(repeating: -1)
    var exchange = Exchange()
    /// A message of which the host knows nothing any more, and that may be carried out yet.
    var stray = Exchange()
  }

  /// A set of rows of `taskhost.host`.
  struct Rows: OptionSet, Hashable {
    let rawValue: UInt8
    init(rawValue: UInt8) { self.rawValue = rawValue }
    init(row: Int) { rawValue = 1 << UInt8(row) }
  }

  /// Who owns the request: 0 nobody, 1 to 4 a row, 5 it has ended.
  static let nobody: Int8 = 0
  static let ended: Int8 = 5

  var a = Host()
  var b = Host()
  /// The rows that were made, those that were fenced, and how long each lease lasts by the database's clock.
  var made = Rows()
  var fenced = Rows()
  var left = SIMD4<Int8>()
  var owner = nobody
  var clockSteps: Int8 = 1

  /// What must never be; nil if all is well.
  var flaw: String? {
    if a.isRunning, b.isRunning { return "both hosts run the request" }
    if owner == Self.ended, a.isRunning || b.isRunning { return "a request that has ended runs" }
    if (1...4).contains(owner), fenced.contains(Rows(row: Int(owner) - 1)) { return "the request is lost: a fenced host owns it" }
    return nil
  }

  init(_ rules: LeaseRules) { clockSteps = rules.setsClock ? 1 : 0 }

  subscript(host: Int) -> Host {
    get { host == 0 ? a : b }
    set { if host == 0 { a = newValue } else { b = newValue } }
  }

  /// Whether a host may join, once more.
  func mayJoin(_ host: Int, _ rules: LeaseRules) -> Bool {
    self[host].incarnation < Self.incarnations && a.incarnation + b.incarnation < rules.joins
  }

  /// The same state with the hosts' names exchanged, if that is the one to keep: what one may do, the other may.
  var canonical: LeaseModel {
    guard a.order > b.order else { return self }
    var other = self
    (other.a, other.b) = (b.swapped, a.swapped)
    (other.made, other.fenced, other.left) = (made.swapped, fenced.swapped, left.swapped)
    if (1...4).contains(owner) { other.owner = (owner + 1) % 4 + 1 }
    return other
  }

  static func row(_ host: Int, _ incarnation: Int8) -> Int { host * 2 + Int(incarnation) - 1 }
  static func owner(_ host: Int, _ incarnation: Int8) -> Int8 { Int8(row(host, incarnation)) + 1 }
}

extension LeaseModel.Host {
  /// Whatever differs between hosts in different states, mostly.
  fileprivate var order: Int {
    let phases = Int(renewal.rawValue) * 4 + Int(exchange.phase.rawValue)
    let flags = (isUp ? 8 : 0) + (isRunning ? 4 : 0) + (hasOutcome ? 2 : 0) + (exchange.hasClaimed ? 1 : 0)
    return ((Int(incarnation) * 4 + Int(left)) * 16 + phases) * 16 + flags
  }

  /// With the rows of the hosts exchanged.
  fileprivate var swapped: Self {
    var host = self
    (host.fences, host.watched) = (fences.swapped, watched.swapped)
    return host
  }
}

extension LeaseModel.Rows {
  fileprivate var swapped: Self { Self(rawValue: rawValue >> 2 | (rawValue & 3) << 2) }
}

extension SIMD4<Int8> {
  fileprivate var swapped: Self { Self(self[2], self[3], self[0], self[1]) }
}
