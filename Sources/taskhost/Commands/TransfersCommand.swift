import ArgumentParser
import StrictText
import TaskModel

struct TransfersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "transfers",
    abstract: "Download and upload files in the background.",
    discussion: """
      The plugin org.taskhost.transfers carries them out: over restarts of the host
      and the machine, with retries, and from where they stopped. A transfer is a
      request: what `tasks` and `runs` do works for it too.

      EXAMPLES
        taskhost transfers
        taskhost transfers submit https://example.org/image.iso --to /srv/images/image.iso
      """,
    subcommands: [
      TransfersListCommand.self, TransfersSubmitCommand.self, TransfersShowCommand.self, TransfersPauseCommand.self,
      TransfersResumeCommand.self, TransfersCancelCommand.self,
    ],
    defaultSubcommand: TransfersListCommand.self)

  /// The route of all transfers, or of one and what is done with it.
  static func path(_ id: String? = nil, _ action: String? = nil) -> String {
    "/v1/transfers" + (id.map { "/\(ControlClient.escape($0))" } ?? "") + (action.map { "/\($0)" } ?? "")
  }
}
