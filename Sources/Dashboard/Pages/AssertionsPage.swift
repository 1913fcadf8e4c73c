public import TaskModel

/// Who asks the host not to end now.
public enum AssertionsPage {
  /// The page, with the oldest first.
  public static func make(_ held: [Assertion], now: WallTime) -> Page {
    let rows = held.map { assertion -> View in
      let request = assertion.request
      let user = request.user.map { "user \($0)" }
      let holder = request.run.map { "\($0.identifier), run \($0.run)" } ?? request.process.map { "process \($0)" }
      let since: View = ["time": View(time: assertion.since, now: now)]
      let expires: View = ["time": View(time: assertion.expires, now: now)]
      return [
        "name": request.name, "reason": request.reason ?? "none given", "since": since, "expires": expires,
        "holder": [holder, user].compactMap(\.self).joined(separator: ", "),
      ]
    }
    let list: View? = rows.isEmpty ? nil : ["rows": rows]
    return Page("Assertions", in: .assertions, "assertions", ["list": list], now: now)
  }
}
