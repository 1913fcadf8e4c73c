import StrictText
import TaskHostClient

/// A transfer of a listing: a request, and what its payload and its last run say.
struct TransferAnswer: Decodable, Identifiable {
  private struct Members: Decodable {
    let transfers: Int64
    let url: String?
    let to: String?
    let from: String?
    let bytes: Int64
    let progress: ProgressAnswer?
  }

  let request: RequestAnswer
  private let members: Members

  var id: String { request.id }
  /// How many transfers the batch has.
  var transfers: Int64 { members.transfers }
  /// Of the first one, as the two files are.
  var url: String? { members.url }
  var to: String? { members.to }
  var from: String? { members.from }

  /// What has been transferred: `1.5 MiB of 3 MiB`, `3 of 50 transfers`.
  var amount: String {
    if let progress = members.progress, request.state != "succeeded" { return WorkText.amount(progress) }
    return members.bytes > 0 || request.state == "succeeded" ? ByteCountFormat.words(members.bytes) : "-"
  }

  init(from decoder: any Decoder) throws {
    request = try RequestAnswer(from: decoder)
    members = try Members(from: decoder)
  }
}

struct TransferPage: ListingPage {
  let transfers: [TransferAnswer]
  let next: String?
  let incomplete: String?

  var rows: [TransferAnswer] { transfers }
}
