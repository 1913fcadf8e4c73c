public import FoundationEssentials

/// How and when transfers are carried out.
public struct TransferOptions: Sendable {
  /// Headers of all requests. Default: none.
  public var headers: [String: String] = [:]
  /// A file with an access token, an absolute path that the plugin may read and not write: a token file of the token-refresh plugin, or the
  /// token alone. Default `nil`: none.
  public var bearerTokenFile: String?
  /// What must hold while bytes move; what is lost stops them in mid-file. Default: a network.
  public var conditions: Conditions = .network
  /// Whether it waits for a good time: an unmetered network and external power.
  public var isDiscretionary = false
  /// Not before; `nil`: at once.
  public var earliestBegin: Date?
  /// From then on, only network and power count; `nil`: no deadline.
  public var deadline: Date?
  /// -10 to 10; a higher one goes first.
  public var priority = 0
  /// How often it is tried again; `nil`: what the operator has set.
  public var retry: TaskRequest.Retry?
  /// Tags for listing and cancelling.
  public var tags: [String] = []
  /// How many files of a batch proceed at once; `nil`: what the operator has set.
  public var atOnce: Int?
  /// Whether ``BackgroundTask/transfersEnded(_:_:)`` is called, in one run, when all have ended. Without it, downloads stay in the plugin's
  /// folder for transfers.
  public var launchesHandler = true

  /// Creates the default options.
  public init() {}

  var required: Conditions { isDiscretionary ? conditions.union([.network, .unmetered, .power]) : conditions }
}
