import TaskModel

// How lanes that nobody uses any more are removed, such as those of concurrency keys that came only once.

extension FleetSchema {
  /// How long a lane's number may be used by whoever has asked for it: hosts ask anew after an hour, and applications' transactions have
  /// ended by then.
  private static let daysOfUse = 2
  /// If there are more requests, lanes stay: to look at all requests takes too long then.
  private static let mostRequests = 500_000
  /// The most lanes that are retired, and that are removed, at once.
  private static let mostLanes = 100_000

  static let sweeping = [
    // Once a day, retires the lanes without requests, except those without needs: who asks for one of them from now on gets a new one. Those
    // that were retired some days ago are removed if they have no requests: nobody has their numbers any more.
    """
    CREATE OR REPLACE FUNCTION taskhost.sweep_lanes() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE today bigint := taskhost.now_ms() / 86400000;
    BEGIN
      IF NOT EXISTS (SELECT FROM taskhost.fleet WHERE lanes_swept < today) THEN RETURN; END IF;
      \(onDuty(orElse: "RETURN"))
      UPDATE taskhost.fleet SET lanes_swept = today WHERE lanes_swept < today;
      IF NOT FOUND OR (SELECT c.reltuples FROM pg_class c WHERE c.oid = 'taskhost.request'::regclass) > \(mostRequests) THEN RETURN; END IF;
      DELETE FROM taskhost.lane WHERE id IN (
        SELECT l.id FROM taskhost.lane l WHERE l.retired <= today - \(daysOfUse)
        AND NOT EXISTS (SELECT FROM taskhost.request r WHERE r.lane = l.id) LIMIT \(mostLanes));
      UPDATE taskhost.lane SET retired = today WHERE id IN (
        SELECT l.id FROM taskhost.lane l WHERE l.gates <> '' AND l.retired IS NULL
        AND NOT EXISTS (SELECT FROM taskhost.request r WHERE r.lane = l.id) LIMIT \(mostLanes));
    END $$
    """
  ]
}
