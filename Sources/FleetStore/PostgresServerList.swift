import CPostgres
import Glibc
import TaskModel

/// The servers that an address names.
///
/// libpq could try them itself. But it would wait for each as long as the address says, perhaps forever, and print on standard error what the
/// servers say meanwhile.
///
/// - Source: the rules are those of libpq, "Specifying Multiple Hosts", and of its `load_balance_hosts`.
struct PostgresServerList {
  /// One of them.
  struct Server {
    /// What is added to the address to reach it alone; nothing if libpq is to find it itself.
    var settings: [(String, String)]
    /// The name whose addresses are looked up when its turn comes; nil if there is nothing to look up.
    let host: String?

    /// What people call it.
    var shownName: String {
      let place = settings.filter { $0.0 != "target_session_attrs" }
      return place.isEmpty ? "the server" : "the server at " + place.map { "\($0)=\($1)" }.joined(separator: " ")
    }
  }

  /// In the order in which they are tried.
  private(set) var all: [Server] = []
  /// How long each may take, besides the look-up of its name, for which the system has its own time.
  let timeout: Duration
  private let isShuffled: Bool

  /// Looks up nothing yet.
  init(_ address: String) throws(PostgresError) {
    try PostgresConnection.load()
    func value(_ keyword: String) -> String? {
      var text = [CChar](repeating: 0, count: 4097)
      guard pg_read_value(address, keyword, &text, text.count) != 0 else { return nil }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    let seconds = value("connect_timeout").flatMap { Int($0) } ?? Self.usualSeconds
    timeout = .seconds(seconds <= 0 ? Self.mostSeconds : min(max(2, seconds), Self.mostSeconds))
    isShuffled = value("load_balance_hosts") == "random"
    // A service is in a file, which libpq reads.
    guard value("service") == nil, getenv("PGSERVICE") == nil else {
      all = [Server(settings: [], host: nil)]
      return
    }
    func list(_ keyword: String) -> [String]? { value(keyword)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    let count = max(hosts?.count ?? 0, addresses?.count ?? 0)
    if count == 0 { all = [Server(settings: [], host: nil)] }
    for place in 0..<count {
      func item(_ list: [String]?) -> String? { list.flatMap { place < $0.count ? $0[place] : $0.count == 1 ? $0[0] : nil } }
      let settings = [("host", item(hosts)), ("port", item(ports)), ("hostaddr", item(addresses))]
        .compactMap { key, value in value.map { (key, $0) } }
      let host = item(hosts) ?? ""
      let isKnown = item(addresses)?.isEmpty == false || host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@")
      all.append(Server(settings: settings, host: isKnown ? nil : host))
    }
    if isShuffled { all.shuffle() }
    if value("target_session_attrs") == "prefer-standby" { all = all(as: "standby") + all(as: "any") }
  }

  private static let (usualSeconds, mostSeconds) = (5, 10)

  private func all(as wanted: String) -> [Server] {
    all.map { server in
      var server = server
      server.settings.append(("target_session_attrs", wanted))
      return server
    }
  }

  /// Each server by itself, whatever state it is in.
  var each: [PostgresServerList] {
    all(as: "any").map { server in
      var one = self
      one.all = [server]
      return one
    }
  }

  /// Each address of a server, as what is added to the fleet's address to reach it alone. Looks its name up, if it has one.
  func places(of server: Server) throws(PostgresError) -> [[(String, String)]] {
    guard let host = server.host else { return [server.settings] }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    let failure = getaddrinfo(host, nil, &hints, &first)
    guard failure == 0 else {
      throw PostgresError("the address of \(host) is not known: \(gai_strerror(failure).map { String(cString: $0) } ?? "\(failure)")")
    }
    defer { freeaddrinfo(first) }
    var found: [String] = []
    var next = first
    while let one = next?.pointee {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      if getnameinfo(one.ai_addr, one.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 {
        let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if !found.contains(name) { found.append(name) }
      }
      next = one.ai_next
    }
    if isShuffled { found.shuffle() }
    return found.map { server.settings + [("hostaddr", $0)] }
  }
}
