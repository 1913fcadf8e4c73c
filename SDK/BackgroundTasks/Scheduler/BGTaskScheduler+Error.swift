public import Foundation
import TaskHostSDK

extension BGTaskScheduler {
  /// The domain of ``Error`` as an `NSError`.
  public class var errorDomain: String { Error.errorDomain }

  /// Why a request was refused.
  public struct Error: CustomNSError, LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// What went wrong.
    ///
    /// As on iOS, a `switch` over it needs an `@unknown default`.
    @nonexhaustive(warn)
    public enum Code: Int, Hashable, Sendable {
      /// The host cannot be reached: no run of the plugin is live and its launch is over, or the code does not run under taskhost. Or the
      /// host cannot store anything now.
      case unavailable = 1
      /// The limit of pending requests of this kind is reached (one refresh, ten processing), or a quota of the host is used up.
      case tooManyPendingTaskRequests = 2
      /// The identifier has no launch handler, the host does not permit it, or the request needs a resource that the host does not have.
      case notPermitted = 3
      /// The request had to begin at once (``BGContinuedProcessingTaskRequest/SubmissionStrategy/fail``), and could not.
      case immediateRunIneligible = 4
    }

    /// What went wrong.
    public let code: Code

    /// What happened, as a sentence.
    public let reason: String

    /// Creates an error with a code.
    ///
    /// - Parameter userInfo: The string under `NSLocalizedDescriptionKey` becomes the ``reason``; the rest is ignored.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
      self.init(code, userInfo[NSLocalizedDescriptionKey] as? String ?? Self.summary(code))
    }

    init(_ code: Code, _ reason: String) {
      self.code = code
      self.reason = reason
    }

    /// `BGTaskSchedulerErrorDomain`.
    public static var errorDomain: String { "BGTaskSchedulerErrorDomain" }

    /// The number of ``code``.
    public var errorCode: Int { code.rawValue }

    /// The sentence under `NSLocalizedDescriptionKey`.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: description] }

    /// The same as ``errorUserInfo``.
    public var userInfo: [String: Any] { errorUserInfo }

    /// The code's meaning and the reason.
    public var errorDescription: String? { description }

    /// The code's meaning and the reason.
    public var description: String {
      let summary = Self.summary(code)
      return reason == summary ? summary : "\(summary): \(reason)"
    }

    /// ``Code/unavailable``, for a pattern.
    public static var unavailable: Code { .unavailable }
    /// ``Code/tooManyPendingTaskRequests``, for a pattern.
    public static var tooManyPendingTaskRequests: Code { .tooManyPendingTaskRequests }
    /// ``Code/notPermitted``, for a pattern.
    public static var notPermitted: Code { .notPermitted }
    /// ``Code/immediateRunIneligible``, for a pattern.
    public static var immediateRunIneligible: Code { .immediateRunIneligible }

    private static func summary(_ code: Code) -> String {
      switch code {
      case .unavailable: "background tasks are not available"
      case .tooManyPendingTaskRequests: "too many task requests are pending"
      case .notPermitted: "the task request is not permitted"
      case .immediateRunIneligible: "the task cannot begin at once"
      }
    }
  }
}

extension BGTaskScheduler.Error.Code {
  /// Whether `error` is a ``BGTaskScheduler/Error`` with this code, so that `catch BGTaskScheduler.Error.notPermitted` works.
  public static func ~= (code: Self, error: any Swift.Error) -> Bool {
    (error as? BGTaskScheduler.Error)?.code == code
  }
}

extension BGTaskScheduler.Error {
  /// Translates an error of a call to the host.
  init(_ error: any Swift.Error) {
    switch error {
    case let error as BGTaskScheduler.Error: self = error
    case let error as TaskHostError:
      let code: Code =
        switch error.code {
        case .notPermitted, .invalid: .notPermitted
        case .limit: .tooManyPendingTaskRequests
        default: .unavailable
        }
      self.init(code, error.message.isEmpty ? "the host answered \(error.status) and gave no reason" : error.message)
    default: self.init(.notPermitted, String(describing: error))
    }
  }
}
