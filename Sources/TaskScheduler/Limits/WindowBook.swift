import SchedulingLimits
import TaskModel

/// Tells which maintenance windows are open. Caches each answer for as long as it is valid, because every turn asks.
final class WindowBook {
  private let windows: [String: MaintenanceWindow]
  private var known: [String: (isOpen: Bool, from: WallTime, until: WallTime)] = [:]

  init(_ windows: [String: MaintenanceWindow]) { self.windows = windows }

  func has(_ name: String) -> Bool { windows[name] != nil }

  /// All names, sorted.
  var names: [String] { windows.keys.sorted() }

  /// The window in words.
  func description(of name: String) -> String { windows[name].map { "\($0)" } ?? "the configuration has no window of that name" }

  /// When a closed window closed; nil if unknown.
  func closedSince(_ name: String, now: WallTime) -> WallTime? { windows[name]?.closed(before: now) }

  /// When the window opens; nil if it is open, `distantFuture` if the configuration does not have it.
  func opening(of name: String, now: WallTime) -> WallTime? {
    if let known = known[name], known.from <= now, now < known.until { return known.isOpen ? nil : known.until }
    guard let window = windows[name] else { return .distantFuture }
    let isOpen = window.isOpen(at: now)
    let until = (isOpen ? window.closes(after: now) : window.nextOpening(after: now)) ?? .distantFuture
    known[name] = (isOpen, now, until)
    return isOpen ? nil : until
  }
}
