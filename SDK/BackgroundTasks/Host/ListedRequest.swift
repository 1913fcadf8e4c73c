import CTaskHost
import Foundation

/// A pending request, copied from the host's memory.
struct ListedRequest: Sendable {
  let hostIdentifier: String
  /// Empty if the launch in progress submitted it.
  var requestID = ""
  let record: RequestDetails?
  let conditions: UInt32
  /// Milliseconds since 1970; 0 means at once.
  let earliestBegin: Int64

  /// The identifier as it was submitted.
  var identifier: String { record?.identifier ?? hostIdentifier }

  /// - Parameter fallback: The kind if the payload does not state it.
  func request(fallback: BackgroundTasksPlugin.Kind) -> BGTaskRequest {
    let request: BGTaskRequest
    switch record?.type ?? fallback {
    case .refresh: request = BGAppRefreshTaskRequest(identifier: identifier)
    case .processing: request = withConditions(BGProcessingTaskRequest(identifier: identifier))
    case .healthResearch:
      let research = BGHealthResearchTaskRequest(identifier: identifier)
      research.protectionTypeOfRequiredData = record?.protection.map { FileProtectionType(rawValue: $0) }
      request = withConditions(research)
    case .continued:
      let continued = BGContinuedProcessingTaskRequest(
        identifier: identifier, title: record?.title ?? "", subtitle: record?.subtitle ?? "")
      continued.strategy = record?.strategy.flatMap(BGContinuedProcessingTaskRequest.SubmissionStrategy.init(rawValue:)) ?? .queue
      request = continued
    }
    if earliestBegin > 0 { request.earliestBeginDate = Date(timeIntervalSince1970: Double(earliestBegin) / 1000) }
    return request
  }

  private func withConditions(_ request: BGProcessingTaskRequest) -> BGProcessingTaskRequest {
    let conditions = conditions | (record?.ignoredConditions ?? 0)
    request.requiresNetworkConnectivity = conditions & UInt32(TASKHOST_REQUIRES_NETWORK) != 0
    request.requiresExternalPower = conditions & UInt32(TASKHOST_REQUIRES_POWER) != 0
    return request
  }

  final class Collector {
    private(set) var all: [ListedRequest] = []

    /// Calls `list` with a visitor that collects the requests.
    static func collect(_ list: (taskhost_request_visitor, UnsafeMutableRawPointer) throws -> Void) rethrows -> [ListedRequest] {
      let collector = Collector()
      try withExtendedLifetime(collector) {
        try list(
          { request, context in
            guard let request, let context else { return }
            Unmanaged<Collector>.fromOpaque(context).takeUnretainedValue().all.append(ListedRequest(request.pointee))
          }, Unmanaged.passUnretained(collector).toOpaque())
      }
      return collector.all
    }
  }
}

extension ListedRequest {
  init(_ request: taskhost_pending_request) {
    hostIdentifier = request.identifier.map { String(cString: $0) } ?? ""
    requestID = request.request_id.map { String(cString: $0) } ?? ""
    record = RequestDetails(payload: [UInt8](UnsafeRawBufferPointer(start: request.payload, count: Int(request.payload_length))))
    conditions = request.conditions
    earliestBegin = request.earliest_begin_unix_ms
  }
}
