public import Logging
import StrictText
public import TaskModel

extension HostConfiguration {
  /// When changed files are put in force.
  public enum ReloadMode: String, Sendable, CaseIterable {
    /// When somebody reloads the host. Until then the status says that they have changed.
    case manual
    /// When they have come to rest.
    case auto
  }

  /// `[log]`: what is logged and how.
  public struct Log: Sendable, Equatable {
    /// How a message is written.
    public enum Format: String, Sendable, CaseIterable {
      /// ``text`` on a terminal, else ``json``.
      case auto
      /// A line for people.
      case text
      /// A JSON object a line.
      case json
    }

    /// `level`: the least severe message that is logged; `info` by default.
    public var level = Logger.Level.info

    /// `format`, `auto` by default.
    public var format = Format.auto
  }

  /// `[history]`: how long records of runs are kept; whichever limit is reached first prunes.
  public struct History: Sendable, Equatable {
    /// `keep`, 1 min to 10 years; 7 days by default.
    public var keep: Duration = .seconds(7 * 86_400)

    /// `runs`, 1 to 100,000,000; 100,000 by default.
    public var runs = 100_000
  }

  /// `[[trusted_keys]]`: a key that plugins may be signed with. Both keys are required.
  public struct TrustedKey: Sendable, Equatable {
    /// `file`: path of the public key.
    public var file = ""

    /// `identifiers` whose plugins the key may sign.
    public var identifiers: [IdentifierPattern] = []
  }

  /// `[control]`: how clients reach the host.
  public struct Control: Sendable, Equatable {
    /// `socket`: path of the Unix socket, at most 107 bytes. Default: `control.sock` in the state directory.
    public var socket: String

    /// `mode` of the socket: permission bits, written in octal.
    public var mode: UInt32 = 0o600

    /// `group` the socket is given to, if any.
    public var group: String?

    /// `listen`: a TCP address that is served besides the socket, to clients with a token.
    public var listen: ListenAddress?

    /// `token_file`: path of the file with the tokens for ``listen``; nil: `tokens` in the state directory.
    public var tokenFile: String?

    /// `names`: names with a dot that clients over TCP may call the host by.
    public var names: [String] = []

    /// `certificate`: path of the certificate with which ``listen`` speaks TLS, in PEM, followed by those of its authorities.
    public var certificate: String?

    /// `key`: path of the private key of ``certificate``, in PEM.
    public var key: String?

    /// `plaintext`: whether ``listen`` may be an address that other machines reach, although nothing is encrypted.
    public var plaintext = false
  }

  /// A host name or address, and a port.
  public struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without its brackets.
    public var host: String

    /// 0 lets the system choose.
    public var port: Int

    /// Whether only this machine reaches it. Names are not looked up: only `localhost` counts.
    public var isLoopback: Bool {
      if host == "localhost" || host == "::1" { return true }
      let parts = host.split(separator: ".", omittingEmptySubsequences: false)
      return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// As written in the configuration: `127.0.0.1:7411`, `[::1]:7411`.
    public var description: String { HostPortText.text(host, port) }

    /// Reads `HOST:PORT`, an IPv6 address in brackets; nil for anything else.
    public init?(_ text: String) {
      guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
      var host = String(text[..<colon])
      if host.hasPrefix("["), host.hasSuffix("]") {
        host = String(host.dropFirst().dropLast())
      } else if host.contains(":") {
        return nil
      }
      guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else { return nil }
      self.host = host
      self.port = Int(port)
    }
  }

  /// `[events.NAME]`: a socket on which whatever arrives is the event NAME.
  public struct EventSocket: Sendable, Equatable {
    /// `listen`: where the socket is.
    public var listen: Listen

    /// `mode` of a Unix socket: permission bits, written in octal. Who may write to it may send events.
    public var mode: UInt32 = 0o600

    /// `group` a Unix socket is given to, if any.
    public var group: String?

    /// Where an event socket is.
    public enum Listen: Sendable, Hashable, CustomStringConvertible {
      /// A datagram socket at that path, at most 107 bytes.
      case unix(String)
      /// Datagrams to that address and port.
      case udp(ListenAddress)

      /// As it is written in the configuration, the path absolute.
      public var description: String {
        switch self {
        case .unix(let path): "unix:\(path)"
        case .udp(let address): "udp:\(address)"
        }
      }
    }
  }
}
