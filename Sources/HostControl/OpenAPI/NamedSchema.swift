import TaskModel

/// The schemas that `/openapi.json` gives a name. The raw value is the name; never changed once published.
enum NamedSchema: String, CaseIterable, Sendable {
  case failure = "Error"
  case requestState = "RequestState"
  case request = "Request"
  case newRequest = "NewRequest"
  case submission = "Submission"
  case dependency = "Dependency"
  case retryPolicy = "RetryPolicy"
  case explanation = "Explanation"
  case gate = "Gate"
  case bulkResult = "BulkResult"
  case refusedRequest = "RefusedRequest"
  case run = "Run"
  case runProgress = "RunProgress"
  case runWork = "RunWork"
  case runLog = "RunLog"
  case newTransfer = "NewTransfer"
  case transferSummary = "TransferSummary"
  case transfer = "Transfer"
  case conditions = "Conditions"
  case eventReceipt = "EventReceipt"
  case forecast = "Forecast"
  case assertion = "Assertion"
  case pause = "Pause"
  case begunPause = "BegunPause"
  case objective = "Objective"
  case plugin = "Plugin"
  case pluginRelease = "PluginRelease"
  case problem = "Problem"
  case problems = "Problems"
  case taskActivity = "TaskActivity"
  case status = "Status"
  case health = "Health"
  case auditEntry = "AuditEntry"
  case configuration = "Configuration"
  case reloadReport = "ReloadReport"
  case pendingApproval = "PendingApproval"
  case approvalReport = "ApprovalReport"
  case revocationReport = "RevocationReport"

  var schema: JSONSchema {
    switch self {
    case .failure: Self.failureSchema
    case .requestState: Self.requestStateSchema
    case .request: .members(Self.requestMembers)
    case .newRequest: SubmissionReader.schema()
    case .submission: Self.submissionSchema
    case .dependency: Self.dependencySchema
    case .retryPolicy: Self.retryPolicySchema
    case .explanation: Self.explanationSchema
    case .gate: Self.gateSchema
    case .bulkResult: Self.bulkResultSchema
    case .refusedRequest: .object(.must("id", .id), .must("message", .string))
    case .run: Self.runSchema
    case .runProgress: Self.runProgressSchema
    case .runWork: Self.runWorkSchema
    case .runLog: Self.runLogSchema
    case .newTransfer: SubmissionReader.schema(of: .transfers)
    case .transferSummary: Self.transferSummarySchema
    case .transfer: Self.transferSchema
    case .conditions: Self.conditionsSchema
    case .eventReceipt: Self.eventReceiptSchema
    case .forecast: Self.forecastSchema
    case .assertion: Self.assertionSchema
    case .pause: .members(Self.pauseMembers)
    case .begunPause: Self.begunPauseSchema
    case .objective: Self.objectiveSchema
    case .plugin: Self.pluginSchema
    case .pluginRelease: Self.pluginReleaseSchema
    case .problem: Self.problemSchema
    case .problems: .members(Self.problemMembers)
    case .taskActivity: Self.taskActivitySchema
    case .status: Self.statusSchema
    case .health: Self.healthSchema
    case .auditEntry: Self.auditEntrySchema
    case .configuration: Self.configurationSchema
    case .reloadReport: Self.reloadReportSchema
    case .pendingApproval: .members(Self.pendingApprovalMembers)
    case .approvalReport: Self.approvalReportSchema
    case .revocationReport: Self.revocationReportSchema
    }
  }
}
