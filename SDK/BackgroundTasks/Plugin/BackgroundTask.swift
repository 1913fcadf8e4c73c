/// What a plugin's scene is woken for, as in SwiftUI. Of SwiftUI's kinds there is the app refresh; background URL sessions there are not.
public struct BackgroundTask<Request, Response>: Sendable {
  let identifier: String
}

extension BackgroundTask where Request == Void, Response == Void {
  /// A short run that brings the app's data up to date: 30 s.
  public static func appRefresh(_ identifier: String) -> BackgroundTask<Void, Void> { BackgroundTask(identifier: identifier) }
}
