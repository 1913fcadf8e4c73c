public import RecordJSON
import StrictText
public import TaskModel

/// The background transfers.
public enum TransfersPage {
  /// - Parameter next: Where the next page begins, as its parameter `after` takes it; nil on the last page.
  public static func make(_ transfers: [TransferState], next: String?, isFirst: Bool, now: WallTime) -> Page {
    let list: View? = transfers.isEmpty ? nil : ["rows": transfers.map(row)]
    let path = Page.Section.transfers.path
    let pager = ListPages.pager(first: isFirst ? nil : path, next: next.map { PagePath.query(path, ["after": $0]) })
    return Page("Transfers", in: .transfers, "transfers", ["list": list, "pager": pager], now: now)
  }

  /// What a transfer is said to be comes from the JSON that clients get: so it is read in one place.
  private static func row(_ transfer: TransferState) -> View {
    let record = transfer.record
    let members = try? JSONReader.read(JSONWriter.object { $0.transfer(transfer, isWhole: false) })
    let count = members?["transfers"]?.integer ?? 1
    let progress = transfer.run?.report.progress
    let name = members?["url"]?.string ?? record.id.description
    let target = members?["to"]?.string.map { " to \($0)" } ?? members?["from"]?.string.map { " from \($0)" } ?? ""
    var buttons: [View] = []
    let path = PagePath.request(record.id)
    if !record.state.isFinal {
      buttons.append(
        record.paused == nil ? View(button: "Pause", "\(path)/pause", of: name) : View(button: "Resume", "\(path)/resume", of: name))
      if record.stopRequested == nil { buttons.append(View(button: "Cancel", "\(path)/cancel", of: name, kind: "danger")) }
    }
    if record.state == .failed { buttons.append(View(button: "Retry", "\(path)/retry", of: name)) }
    let isShown = !record.state.isFinal
    return [
      "href": path, "name": "\(name)\(target)\(count > 1 ? " and \(count - 1) more" : "")", "id": record.id.description,
      "badge": View(badge: record.word), "message": ForeignText.short(record.lastMessage),
      "progress": isShown ? progress.map { View(progress: $0, of: name) } : nil,
      "amount": progress.map(WorkFormat.amount) ?? ByteCountFormat.words(members?["bytes"]?.integer ?? 0), "buttons": buttons,
    ]
  }
}
