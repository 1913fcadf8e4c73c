import CPostgres
import Glibc
import TaskModel

/// The servers that an address names, each as what is added to the address to reach it alone.
///
/// libpq can try them by itself, but then it waits for each as long as the address says, which may be for ever, and what the servers say
/// meanwhile goes to the standard error.
///
/// - Source: the rules are those of libpq, "Specifying Multiple Hosts", and of its `load_balance_hosts`.
struct PostgresServerList {
  /// In the order in which they are tried; one without additions if libpq is to find the server itself.
  private(set) var all: [[(String, String)]] = []
  /// How long each may take.
  let timeout: Duration

  /// Names are looked up, which may take as long as the system's resolver does.
  init(_ address: String) throws(PostgresError) {
    try PostgresConnection.load()
    func value(_ keyword: String) -> String? {
      var text = [CChar](repeating: 0, count: 4097)
      guard pg_read_value(address, keyword, &text, text.count) != 0 else { return nil }
      return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    let seconds = value("connect_timeout").flatMap { Int($0) } ?? Self.usualSeconds
    timeout = .seconds(seconds <= 0 ? Self.mostSeconds : min(max(2, seconds), Self.mostSeconds))
    // A service is in a file, which libpq reads.
    guard value("service") == nil, getenv("PGSERVICE") == nil else {
      all = [[]]
      return
    }
    func list(_ keyword: String) -> [String]? { value(keyword)?.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
    let count = max(hosts?.count ?? 0, addresses?.count ?? 0)
    var servers: [[(String, String)]] = count > 0 ? [] : [[]]
    for place in 0..<count {
      func item(_ list: [String]?) -> String? { list.flatMap { place < $0.count ? $0[place] : $0.count == 1 ? $0[0] : nil } }
      let named = [("host", item(hosts)), ("port", item(ports))].compactMap { key, value in value.map { (key, $0) } }
      let host = item(hosts) ?? ""
      if let known = item(addresses), !known.isEmpty {
        servers.append(named + [("hostaddr", known)])
      } else if host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") {
        servers.append(named)
      } else {
        let found = Self.addresses(of: host)
        servers += found.isEmpty ? [named] : found.map { named + [("hostaddr", $0)] }
      }
    }
    if value("load_balance_hosts") == "random" { servers.shuffle() }
    all =
      value("target_session_attrs") == "prefer-standby"
      ? ["standby", "any"].flatMap { wanted in servers.map { $0 + [("target_session_attrs", wanted)] } } : servers
  }

  /// Each server by itself, whatever state it is in.
  var each: [PostgresServerList] {
    all.map { server in
      var one = self
      one.all = [server + [("target_session_attrs", "any")]]
      return one
    }
  }

  /// What people call a server.
  static func name(of server: [(String, String)]) -> String {
    let place = server.filter { $0.0 != "target_session_attrs" }
    return place.isEmpty ? "the server" : "the server at " + place.map { "\($0)=\($1)" }.joined(separator: " ")
  }

  private static let (usualSeconds, mostSeconds) = (5, 10)

  /// The addresses of a name, in the order in which they are to be tried.
  private static func addresses(of host: String) -> [String] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, nil, &hints, &first) == 0 else { return [] }
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
    return found
  }
}
