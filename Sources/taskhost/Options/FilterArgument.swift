import ArgumentParser
import TaskFilters
import TaskModel

/// The terms of a filter, as arguments of a command: the shell splits them at blanks.
struct FilterArgument: ParsableArguments {
  @Argument(help: ArgumentHelp("Terms of a filter, such as state:failed.", valueName: "filter"))
  var terms: [String] = []

  /// The filter; nil if there is none.
  var text: String? { terms.isEmpty ? nil : terms.joined(separator: " ") }

  /// The filter; nil if there is none. An empty argument is an error: a script that leaves a variable empty does not mean everything.
  func explicit(orElse everything: String) throws -> String? {
    guard let text else { return nil }
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw ValidationError("The filter is empty: leave it out to \(everything), or write one such as tag:nightly.")
    }
    return text
  }

  /// The query of a listing: the filter, or what options say.
  func query(otherwise options: [(String, String?)]) throws -> [(String, String?)] {
    guard let text else { return options }
    if let option = options.first(where: { $0.1 != nil }) {
      throw ValidationError("--\(option.0) does not go with a filter: say it in the filter, such as \(option.0):\(option.1 ?? "").")
    }
    do { try FilterError.checkLength(of: text) } catch { throw CommandFailure(.refused, nil, error.refusal().message) }
    return [("filter", text)]
  }

  /// What a filter of requests can say.
  static let help = """
    A filter selects by words; all must match, and of values between commas, one:
    state:failed,cancelled  identifier:com.example.*  tag:nightly  key:K
    outcome:crashed  since:2h  until:2026-11-21T08:00:00Z  payload.account.id:7
    since and until are about the submission. Quote values that contain blanks or
    commas, and what only a string may equal: payload.zip:"01234".
    """
}
