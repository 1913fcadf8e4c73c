import Glibc
import StrictText
import TaskModel

/// `[events.NAME]` while it is read and may be incomplete.
struct EventSocketTable {
  private var listen: HostConfiguration.EventSocket.Listen?
  private var mode: UInt32?
  private var group: String?

  private static var fields: [TOMLField<Self>] {
    [
      TOMLField("listen", optional: \.listen, .eventListen, about: "Where it is: \"unix:PATH\" or \"udp:ADDRESS:PORT\". Required."),
      TOMLField("mode", optional: \.mode, .mode, about: "Who may send to a Unix socket, as permission bits in octal."),
      TOMLField("group", \.group, .emptyIsNil(.string), about: "The group that a Unix socket is given to."),
    ]
  }

  init() {}

  init(_ socket: HostConfiguration.EventSocket) { (listen, mode, group) = (socket.listen, socket.mode, socket.group) }

  /// The field of `[events]`.
  static var field: TOMLField<HostConfiguration> {
    TOMLField("events", named: fields, about: about, tables: { $0.events.mapValues(Self.init(_:)) }, make: { standard }) {
      root, value, path, reader in root.events = readAll(value, at: path, reader)
    }
  }

  private static let about = "A socket on which whatever arrives is an event, by the event's name."

  /// A table without keys.
  private static var standard: Self {
    var table = Self()
    table.mode = 0o600
    return table
  }

  static func readAll(
    _ value: ConfigurationValue, at path: ConfigurationPath, _ reader: TOMLReader
  ) -> [String: HostConfiguration.EventSocket] {
    var sockets: [String: HostConfiguration.EventSocket] = [:]
    for (name, value) in (reader.table(value, at: path) ?? [:]).sorted(by: { $0.key < $1.key }) {
      let path = path.appending(name)
      if let flaw = EventTrigger.flaw(of: name) { reader.report(path, "\(path): \(flaw)") }
      guard let table = reader.table(value, at: path) else { continue }
      if table["listen"] == nil { reader.report(path, "\(path) has no \"listen\"") }
      var read = EventSocketTable()
      reader.read(table, fields, into: &read, at: path)
      guard let listen = read.listen else { continue }
      var socket = HostConfiguration.EventSocket(listen: listen)
      socket.mode = read.mode ?? socket.mode
      socket.group = read.group
      if case .udp = listen {
        for key in ["mode", "group"] where table[key] != nil {
          let place = path.appending(key)
          reader.report(place, "\(place): only a unix: socket has a \(key); whoever reaches a UDP port may send to it")
        }
      }
      sockets[name] = socket
    }
    return sockets
  }
}

extension TOMLConverter<HostConfiguration.EventSocket.Listen> {
  /// `"unix:PATH"` or `"udp:ADDRESS:PORT"`.
  static var eventListen: Self {
    .text("an address such as \"unix:/run/taskhost/push.sock\"") { text, reader throws(TextProblem) in
      let (kind, rest) = text.firstIndex(of: ":").map { (text[..<$0], String(text[text.index(after: $0)...])) } ?? (text[...], "")
      switch kind {
      case "unix":
        guard !rest.isEmpty else { throw TextProblem("a path is missing after unix:") }
        guard !rest.hasPrefix("~") else { throw TextProblem("\"~\" is not expanded here: write the directory in full") }
        return .unix(ConfigurationFile.resolve(rest, in: reader.directory))
      case "udp":
        guard let address = HostConfiguration.ListenAddress(rest), address.isNumeric else {
          throw TextProblem(
            "expected an address in numbers and a port such as \"udp:127.0.0.1:5140\" or \"udp:[::1]:5140\", found \"\(text)\"")
        }
        return .udp(address)
      default:
        let hint = NearestName.nearest(to: String(kind), among: ["unix", "udp"]).map { " (did you mean \"\($0):\"?)" } ?? ""
        throw TextProblem("expected \"unix:PATH\" or \"udp:ADDRESS:PORT\", found \"\(text)\"\(hint)")
      }
    }
  }
}

extension HostConfiguration.ListenAddress {
  /// Whether the host is an IPv4 or IPv6 address, not a name.
  fileprivate var isNumeric: Bool {
    var (four, six) = (in_addr(), in6_addr())
    return inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1
  }
}
