import StrictText
import TaskModel

/// The cursors of one listing: where a page ends, as its `next` says, and where the page after it begins, as `after` takes.
///
/// A cursor names its listing and what its pages select, because it means nothing elsewhere: with another listing or another filter, the
/// answer would leave rows out, or repeat them, and nobody would notice.
struct PageCursor {
  /// What has pages. The raw values are part of cursors.
  enum Listing: String, CaseIterable {
    case requests, runs, transfers, retry, discard, cancel, bulk

    fileprivate var words: String {
      switch self {
      case .requests: "the list of requests"
      case .runs: "the list of runs"
      case .transfers: "the list of transfers"
      case .retry: "the retry of dead letters"
      case .discard: "the discarding of dead letters"
      case .cancel: "the cancelling of requests"
      case .bulk: "a bulk action"
      }
    }
  }

  private let listing: Listing
  private let selection: String

  /// The cursors of the pages that select the same.
  ///
  /// - Parameter selection: All that decides which rows there are, in a fixed order.
  init(_ listing: Listing, selecting selection: [(name: String, value: String)]) {
    self.listing = listing
    // FNV-1a of 64 bits. It finds mistakes: a client gains nothing from a collision.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for part in selection.flatMap({ [$0.name, $0.value] }) {
      // No text contains the byte that ends it.
      for byte in Array(part.utf8) + [0xFF] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    self.selection = String(hash, radix: 16)
  }

  /// What `next` says of a page that ends with `id`; nil on the last page.
  func text<Kind>(after id: RecordID<Kind>?) -> String? { id.map { "\($0).\(listing.rawValue).\(selection)" } }

  /// Reads `after`; nil is the first page.
  ///
  /// - Throws: If it is not a cursor, or one of another listing or another selection.
  func read<Kind>(_ text: String?) throws(RequestRefusal) -> RecordID<Kind>? {
    guard let text else { return nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let id = RecordID<Kind>(String(parts[0])), let made = Listing(rawValue: String(parts[1])) else {
      let shown = String(text.prefix(80)).escapingControlCharacters
      let kind = RecordID<Kind>(text) == nil ? "" : " but an id"
      throw refusal("\"\(shown)\" is not a cursor\(kind): send what next said, unchanged, or leave after out for the first page")
    }
    guard made == listing else {
      throw refusal(
        "this cursor comes from \(made.words), and this is \(listing.words): send what next of the same list said, or leave after out for"
          + " the first page")
    }
    guard parts[2].utf8.elementsEqual(selection.utf8) else {
      throw refusal(
        "this cursor comes from \(made.words) with another selection: send it with the same filter and parameters as for the first page, or"
          + " leave after out")
    }
    return id
  }

  private func refusal(_ flaw: String) -> RequestRefusal { RequestRefusal(.invalid, "after: \(flaw)", field: "after") }
}
