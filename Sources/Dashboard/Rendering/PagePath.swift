import StrictText
public import TaskModel

/// The addresses of the dashboard.
public enum PagePath {
  /// The stream that tells that something has changed.
  public static let changes = "/ui/changes"

  /// The page of a request.
  public static func request(_ id: RequestID) -> String { "/ui/requests/\(id)" }
  /// The page of a run.
  public static func run(_ id: RunID) -> String { "/ui/runs/\(id)" }

  /// The page of a schedule.
  ///
  /// - Parameters:
  ///   - key: Its unique key; nil for a schedule without one.
  ///   - request: The request that repeats, if it has no key.
  public static func task(_ identifier: TaskIdentifier, key: String? = nil, request: RequestID? = nil) -> String {
    query("/ui/tasks/\(encode(identifier.rawValue))", ["key": key, "request": request?.description])
  }

  /// The form of a request to a handler.
  public static func submit(_ identifier: TaskIdentifier) -> String { query("/ui/submit", ["identifier": identifier.rawValue]) }

  /// The list of the requests that match a filter.
  public static func requests(_ filter: String, after: String? = nil) -> String {
    query("/ui/requests", ["filter": filter.isEmpty ? nil : filter, "after": after])
  }

  /// `path` with the parameters that are not nil.
  public static func query(_ path: String, _ parameters: KeyValuePairs<String, String?>) -> String {
    let parts = parameters.compactMap { name, value in value.map { "\(name)=\(encode($0))" } }
    return parts.isEmpty ? path : "\(path)?\(parts.joined(separator: "&"))"
  }

  private static func encode(_ text: String) -> String { PercentEncoding.encode(text, keeping: "-._~") }

  static func task(_ schedule: ScheduleRecord) -> String {
    let isAlone = schedule.key == nil && schedule.request?.isRepeating == true
    return task(schedule.identifier, key: schedule.key, request: isAlone ? schedule.request?.id : nil)
  }
}
