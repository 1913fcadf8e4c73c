import TaskModel

extension WorkerCall {
  /// Bytes of its values, which are kept until it is answered.
  public var valueBytes: Int {
    switch self {
    case .setState(_, _, let value): value?.count ?? 0
    case .setCheckpoint(_, let value): value?.count ?? 0
    case .notify(_, _, let payload): payload?.count ?? 0
    case .submit(_, let request), .admitRequest(let request, _), .update(_, _, let request), .submitTransfer(_, let request):
      request.valueBytes
    case .openFiles(_, let directory, let files): files.reduce(directory.utf8.count) { $0 + $1.path.count }
    case .admit, .settings, .dataDirectory, .launchPending, .state, .checkpoint, .cancel, .pending, .cancelPending, .ask,
      .snooze:
      0
    // Bounded like keys.
    case .beginAssertion, .endAssertion, .resourceTokens, .transferFolder, .changeTransfer: 0
    }
  }
}
