public import TaskModel
public import WorkerProcesses

extension HostConfiguration {
  /// Whether a plugin has `limits.cpu`.
  var limitsProcessors: Bool { plugins.values.contains { $0.limits.processor != ProcessorLimit() } }
}

extension PluginConfiguration {
  /// `[plugin."ID".retry]`: how its requests are retried, with the keys and ranges of the host's `[retry]`. A nil leaves it to that.
  public struct Retry: Sendable, Equatable {
    /// `attempts`.
    public var attempts: Int?

    /// `backoff`.
    public var backoff: RetryPolicy.Backoff?

    /// `initial` delay.
    public var initial: Duration?

    /// `maximum` delay, not less than the initial one.
    public var maximum: Duration?
  }

  /// The limits of a worker. They do not apply to `isolation = "thread"`.
  public struct Limits: Sendable, Equatable {
    /// `memory` in bytes, 16 MiB to 16 TiB; 256 MiB by default.
    public var memory = 256 << 20

    /// `processes` and threads, 1 to 65,536; 32 by default.
    public var processes = 32

    /// `descriptors`, 16 to 1,048,576; 256 by default.
    public var descriptors = 256

    /// `cpu`: how much of the processors it may use; everything by default.
    public var processor = ProcessorLimit()
  }

  /// The permissions in a worker's sandbox. They do not apply to `isolation = "thread"`.
  public struct Entitlements: Sendable, Equatable {
    /// Which connections a worker may make.
    public enum Network: Sendable, Equatable {
      /// None.
      case none
      /// To any port.
      case connect
      /// To these TCP ports.
      case ports([Int])
    }

    /// `read`: paths it may read, besides the system's libraries and its own data.
    public var read: [String] = []

    /// `write`: paths it may write.
    public var write: [String] = []

    /// `network`, `none` by default.
    public var network = Network.none

    /// `exec`: whether it may start programs.
    public var exec = false
  }
}
