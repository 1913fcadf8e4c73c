/// The events that the plugin raises, for tasks that wait for them. The host lets it raise names that begin with the last part of its identifier.
enum RefreshEvent: String, Sendable {
  /// A token file appeared, or something other than this plugin changed it.
  case signedIn = "token-refresh.signed-in"
  /// A token file is gone, or its server has refused its tokens permanently.
  case signedOut = "token-refresh.signed-out"
  /// This plugin stored a new access token.
  case refreshed = "token-refresh.refreshed"
}
