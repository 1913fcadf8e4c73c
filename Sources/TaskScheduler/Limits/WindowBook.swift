import SchedulingLimits
import TaskModel

/// Which maintenance windows are open. Remembers until when what it found is so: a window is asked for at every turn.
final class WindowBook {
  private let windows: [String: MaintenanceWindow]
  private var known: [String: (isOpen: Bool, from: WallTime, until: WallTime)] = [:]

  init(_ windows: [String: MaintenanceWindow]) { self.windows = windows }

  /// Whether there is a window of that name.
  func has(_ name: String) -> Bool { windows[name] != nil }

  /// The names there are, sorted.
  var names: [String] { windows.keys.sorted() }

  /// What a window is, for people.
  func description(of name: String) -> String { windows[name].map { "\($0)" } ?? "there is no window of that name in the configuration" }

  /// Since when a window that is closed is; nil: that is not known.
  func closedSince(_ name: String, now: WallTime) -> WallTime? { windows[name]?.closed(before: now) }

  /// Nil: it is open; else when it opens, never for one that the configuration does not have.
  func opening(of name: String, now: WallTime) -> WallTime? {
    if let known = known[name], known.from <= now, now < known.until { return known.isOpen ? nil : known.until }
    guard let window = windows[name] else { return .distantFuture }
    let isOpen = window.isOpen(at: now)
    let until = (isOpen ? window.closes(after: now) : window.nextOpening(after: now)) ?? .distantFuture
    known[name] = (isOpen, now, until)
    return isOpen ? nil : until
  }
}
