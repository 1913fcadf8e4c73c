import ArgumentParser
import CalendarTime
import Glibc
import HostControl
import RecordJSON
import StrictText
import TaskHost
import TaskModel

struct TokensCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tokens",
    abstract: "Make and revoke the tokens with which clients use a host over TCP. Needs no host.",
    discussion: """
      Clients of the control socket need no token. Over TCP (control.listen), each
      request shows one. A token has a role: read looks at everything, submit also
      submits, cancels and raises events, operate does everything. With --identifier
      it is only for some identifiers. A running host sees changes at once.

      EXAMPLES
        taskhost tokens create --role submit --identifier 'com.example.*'
        taskhost tokens list
        taskhost tokens revoke "$(taskhost tokens create --role read)"
      """,
    subcommands: [TokensCreateCommand.self, TokensListCommand.self, TokensRevokeCommand.self])
}

/// The option that says where the tokens are.
struct TokenFileOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The configuration that names the token file. (default: ./taskhost.toml)", valueName: "file"))
  var config: String?
  @Option(help: ArgumentHelp("The token file itself. (default: the configuration's, or state/tokens)", valueName: "path"))
  var file: String?
  @Flag(help: "Print JSON.")
  var json = false

  func open() throws -> TokenFile {
    if let file { return TokenFile(path: file) }
    let path = config ?? (access("taskhost.toml", F_OK) == 0 ? "taskhost.toml" : nil)
    guard let path else { return TokenFile(path: "state/tokens") }
    // A host would not start with a wrong configuration either.
    do { return TokenFile(path: try HostConfiguration.load(file: path).tokenFile) } catch { throw CommandFailure(.failed, nil, "\(error)") }
  }
}

struct TokensCreateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "create",
    abstract: "Make a token, and print it. It is shown only now: the host keeps a hash.",
    discussion: """
      EXAMPLES
        taskhost tokens create --role read
        taskhost tokens create --role submit --identifier 'com.example.*' --identifier org.example.sync
      """)

  @Option(help: ArgumentHelp("What its owner may do: read, submit or operate.", valueName: "role"))
  var role: String
  @Option(
    help: ArgumentHelp("Only for this identifier, or for those that begin so: 'com.example.*'; may be repeated.", valueName: "pattern"))
  var identifier: [String] = []
  @OptionGroup var tokens: TokenFileOptions

  func run() throws {
    guard let role = AccessRole(rawValue: role) else {
      let names = AccessRole.allCases.map(\.rawValue)
      throw ValidationError(
        "--role: \"\(String(self.role.prefix(40)).escapingControlCharacters)\" is none of \(names.joined(separator: ", "))"
          + "\(NearestName.hint(for: self.role, among: names)).")
    }
    let patterns = try identifier.map { text in
      do { return try IdentifierPattern(text) } catch {
        throw ValidationError("--identifier: \(error); at its end, * stands for any rest.")
      }
    }
    let token = try ControlToken.make()
    let record = TokenRecord(
      of: token, role: role, scope: AccessScope(patterns), created: WallTime(unixMilliseconds: MomentText.now))
    try CommandFailure.ofTokens { try tokens.open().change { $0.append(record) } }
    guard tokens.json else {
      Terminal.print(token.text)
      return Terminal.note("token \(token.id): \(role.rawValue), \(record.scope). It is shown only now: keep it secret.")
    }
    Terminal.printObject { writer in
      writer.token(record)
      writer.member("token", token.text)
    }
  }
}

struct TokensListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the tokens, without their secrets.",
    discussion: """
      EXAMPLES
        taskhost tokens list
        taskhost tokens list --json
      """)

  @OptionGroup var tokens: TokenFileOptions

  func run() throws {
    let records = try CommandFailure.ofTokens { try tokens.open().read() }
    guard !tokens.json else {
      return Terminal.printObject { $0.array("tokens", records) { $0.token($1) } }
    }
    var table = TextTable("TOKEN", "ROLE", "IDENTIFIERS", "CREATED")
    for record in records {
      table.add(record.id, record.role.rawValue, record.scope.description, MomentFormat.local(record.created.unixMilliseconds))
    }
    table.print(empty: "there are no tokens: taskhost tokens create --role read")
  }
}

struct TokensRevokeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke",
    abstract: "Revoke tokens. A running host closes their connections.",
    discussion: """
      EXAMPLES
        taskhost tokens revoke "$(taskhost tokens create --role read)"
      """)

  @Argument(help: ArgumentHelp("The ids of the tokens, or the tokens themselves.", valueName: "token"))
  var ids: [String]
  @OptionGroup var tokens: TokenFileOptions

  func run() throws {
    // Whoever has only the token itself should be able to revoke it.
    let wanted = ids.map { $0.hasPrefix("th_") ? String($0.dropFirst(3).prefix(8)) : $0 }
    let revoked = try CommandFailure.ofTokens {
      try tokens.open().change { records in
        for id in wanted where !records.contains(where: { $0.id == id }) {
          throw CommandFailure(
            .failed, String(id.prefix(40)).escapingControlCharacters, "there is no such token, so none was revoked",
            remedy: "taskhost tokens list")
        }
        defer { records.removeAll { wanted.contains($0.id) } }
        return records.filter { wanted.contains($0.id) }
      }
    }
    guard !tokens.json else { return Terminal.printObject { $0.array("revoked", revoked) { $0.token($1) } } }
    for record in revoked { Terminal.print("token \(record.id) is revoked") }
  }
}

extension JSONWriter {
  fileprivate mutating func token(_ record: TokenRecord) {
    member("id", record.id)
    member("role", record.role.rawValue)
    if !record.scope.isAll { member("identifiers", record.scope.patterns.map(\.text)) }
    moment("created", record.created)
  }
}

extension CommandFailure {
  /// Runs `body`, and turns errors of the token file into a command's.
  fileprivate static func ofTokens<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as TokenFileError {
      throw CommandFailure(.failed, error.path, error.observed, remedy: error.remedy)
    }
  }
}
