import ArgumentParser
import CalendarTime
import HostControl
import StrictText
import TaskHostClient
import TaskModel

struct TokenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token",
    abstract: "Print a valid access token of an account, refreshed if needed.",
    discussion: """
      Asks the plugin org.taskhost.token-refresh. Callers that ask for the same
      account at the same time share one request. The token comes from the account's
      token file, which this command reads itself: it needs the rights to do so, and
      the token passes through neither the host nor its log. Exits 0 with the token
      on standard output, 1 if the account has no valid token, 5 without a host, and
      6 without the plugin.

      EXAMPLES
        taskhost token mail
        taskhost token mail --min-validity 10m --json
      """)

  /// The plugin that keeps the tokens.
  private static let plugin = AccountReview.plugin
  /// How often to ask again after a request was shared with a caller who wanted less.
  private static let mostQuestions = 3

  @Argument(help: "The account's name in the plugin's settings.")
  var account: String
  @Option(help: ArgumentHelp("How long the token must still be valid, 1s to 1d.", valueName: "duration"))
  var minValidity = "1m"
  @Option(help: ArgumentHelp("How long to wait for it.", valueName: "duration"))
  var timeout = "1m"
  @OptionGroup var host: HostOptions

  func run() async throws {
    guard !account.isEmpty else { throw ValidationError("ACCOUNT is empty: name an account of the plugin's settings.") }
    guard account.escapingControlCharacters == account else {
      throw ValidationError(
        "ACCOUNT: \"\(String(account.prefix(80)).escapingControlCharacters)\" has a control character, such as a line break: name an account "
          + "of the plugin's settings.")
    }
    let validity = try TimeArgument.duration(minValidity, "--min-validity")
    guard (1000...86_400_000).contains(validity) else { throw ValidationError("--min-validity: write 1s to 1d.") }
    let patience = try TimeArgument.duration(timeout, "--timeout")
    guard (1...86_400_000).contains(patience) else { throw ValidationError("--timeout: write up to 1d.") }
    let answer = try await withThrowingTaskGroup { group in
      group.addTask { try await ask(validity) }
      group.addTask {
        try await Task.sleep(for: .milliseconds(patience))
        throw CommandFailure(
          .failed, account, "no token within \(timeout)",
          remedy: "taskhost tasks list --identifier \(Self.plugin), and taskhost tasks why ID, say what it waits for")
      }
      defer { group.cancelAll() }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
    try printToken(answer)
  }

  /// Asks until the answer fits: a shared request may have been for a shorter validity.
  private func ask(_ validity: Int64) async throws -> TokenAnswer.Account {
    let client = try host.client()
    for _ in 0..<Self.mostQuestions {
      let events = try await client.subscribe()
      let submission: SubmissionAnswer = try await client.post("/v1/requests", question(validity)).read()
      let isShared = submission.disposition != "created"
      let session = FollowSession(client: client, request: submission.id, isRepeating: false, existed: isShared, json: nil)
      let ending = try await session.ending(events, shows: false)
      let found = try checked(ending)
      if isValid(found, for: validity) { return found }
      guard isShared else {
        throw CommandFailure(
          .failed, account, "its server gives tokens that are valid for less than \(minValidity)", remedy: "ask for less: --min-validity")
      }
    }
    throw CommandFailure(.failed, account, "other callers asked for less each time", remedy: "try again")
  }

  private func question(_ validity: Int64) -> [UInt8] {
    JSONWriter.object { writer in
      writer.member(RequestField.identifier, Self.plugin)
      writer.name(RequestField.payload.rawValue)
      writer.object { writer in
        writer.member("account", account)
        writer.member("min_validity", "\(validity)ms")
      }
      writer.member(RequestField.uniqueKey, "token/" + account)
      writer.member(RequestField.onConflict, ConflictPolicy.keep.rawValue)
    }
  }

  /// The plugin's answer, if it has a token.
  private func checked(_ ending: OccurrenceWatch.Ending) throws -> TokenAnswer.Account {
    let run = try ending.run?.read(RunAnswer.self)
    guard ending.end == .succeeded, let output = run?.output else {
      let why = run?.message ?? ending.message ?? (ending.end == .cancelled ? "the request was cancelled" : "the run failed")
      throw CommandFailure(.failed, account, why.escapingControlCharacters, remedy: ending.end == .cancelled ? "ask again" : nil)
    }
    let answer: TokenAnswer = try Answer(output.bytes).read()
    guard let found = answer.accounts.first(where: { $0.name == account }) else {
      throw CommandFailure(.failed, account, "the plugin did not answer for it", remedy: "use taskhost in the plugin's version")
    }
    switch found.result {
    case "refreshed", "not_due": return found
    case "retry":
      throw CommandFailure(
        .failed, account, "it cannot be refreshed now: \(detail(found))", remedy: "the plugin tries again by itself; ask later")
    case "signed_out": throw CommandFailure(.failed, account, "signed out: \(detail(found))")
    default: throw CommandFailure(.failed, account, detail(found))
    }
  }

  private func detail(_ account: TokenAnswer.Account) -> String { (account.detail ?? account.result).escapingControlCharacters }

  /// Whether the token is valid for so long; a token of unknown expiry is.
  private func isValid(_ account: TokenAnswer.Account, for validity: Int64) -> Bool {
    guard let expiry = account.expiresAt.flatMap(RFC3339.parse) else { return true }
    return expiry - WallTime(unixMilliseconds: MomentText.now) >= .milliseconds(validity)
  }

  private func printToken(_ answer: TokenAnswer.Account) throws {
    guard let file = answer.tokenFile, let member = answer.tokenMember else {
      throw CommandFailure(.failed, account, "the plugin did not say where the token is", remedy: "use taskhost in the plugin's version")
    }
    let token = try AccessToken.read(file, member: member)
    guard host.json else { return Terminal.print(token) }
    Terminal.printObject { writer in
      writer.member("account", account)
      writer.member("access_token", token)
      writer.member("expires_at", answer.expiresAt)
      writer.member("expires_at_unix_ms", answer.expiresAt.flatMap(RFC3339.parse)?.unixMilliseconds)
    }
  }
}
