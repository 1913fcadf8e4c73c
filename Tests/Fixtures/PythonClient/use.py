"""Uses every call of taskhost_client.py against the host whose socket is TASKHOST_SOCKET. Ends with an assertion if an answer is wrong."""

import datetime
import pathlib
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "SDK" / "Python"))
import taskhost_client  # noqa: E402
from taskhost_client import HostUnavailable, Refused, TaskCancelled, TaskFailed, WaitTimeout  # noqa: E402

host = taskhost_client.Host()


def raises(kind, call, *arguments, **keywords):
    try:
        call(*arguments, **keywords)
    except kind as error:
        return error
    raise AssertionError("%s raised no %s" % (call, kind.__name__))


def submissions():
    receipt = host.submit("echo", {"name": "Zoë", "count": [1, 2.5, None]}, tags=["python"])
    assert receipt["disposition"] == "created", receipt
    run = host.wait(receipt["id"], timeout=60)
    assert run["output"] == {"name": "Zoë", "count": [1, 2.5, None]}, run
    # Once more: it has ended, and that is told at once.
    assert host.wait(receipt["id"], timeout=60)["id"] == run["id"]
    assert host.request(receipt["id"])["state"] == "succeeded"
    assert host.submit_and_wait("echo", b"\xff\x00", timeout=60)["output_base64"] == "/wA="
    assert host.submit_and_wait("echo", {"repeats": True}, timeout=60, every_ms=datetime.timedelta(hours=1))["outcome"] == "succeeded"
    first = host.submit("echo", 1, idempotency_key="once")
    assert host.submit("echo", 1, idempotency_key="once")["id"] == first["id"]


def ends():
    error = raises(TaskFailed, host.submit_and_wait, "fail", timeout=60)
    assert error.run["outcome"] == "failed" and "exit code 3" in str(error), error
    later = host.submit("echo", delay_ms=datetime.timedelta(hours=1), deadline=datetime.datetime.now().astimezone() + datetime.timedelta(days=1))
    raises(WaitTimeout, host.wait, later["id"], timeout=0.2)
    assert host.why(later["id"])["details"][0]["gate"] == "time"
    # The cancellation comes while somebody waits, or before: the answer is the same.
    threading.Thread(target=host.cancel, args=(later["id"],)).start()
    raises(TaskCancelled, host.wait, later["id"], timeout=60)
    failed = next(host.requests("state:failed"))
    host.retry(failed["id"])
    raises(TaskFailed, host.wait, failed["id"], timeout=60)


def refusals():
    error = raises(Refused, host.submit, "nobody.registered.this")
    assert error.status == 422 and error.field == "identifier", error
    assert raises(Refused, host.submit, "echo", colour="red").field == "colour"
    assert raises(Refused, host.request, "01976c1e-0000-7000-8000-000000000000").status == 404
    raises(Refused, lambda: list(host.requests("stat:failed")))
    raises(Refused, lambda: list(host.follow(request="nonsense")))
    raises(ValueError, host.submit, "echo", float("nan"))
    raises(ValueError, host.submit, "echo", deadline=datetime.datetime(2030, 1, 1))
    raises(HostUnavailable, taskhost_client.Host(socket="/nowhere").status)


def pages():
    ids = {host.submit("echo", number, tags=["page"])["id"] for number in range(12)}
    for id in ids:
        host.wait(id, timeout=60)
    assert {request["id"] for request in host.requests("tag:page", limit=5)} == ids
    assert {run["request"] for run in host.runs("identifier:echo", limit=5)} >= ids


def events():
    waiting = host.submit("echo", event="orders/arrived")
    assert host.notify("orders/arrived", {"count": 3})["woken"] == 1
    host.wait(waiting["id"], timeout=60)
    # What happened while nobody listened is told to who names the last event.
    seen = []
    stream = host.follow(timeout=60)
    # The generator subscribes with its first step, so a submission at the same time is seen or comes before it: submit until it is.
    stop = threading.Event()

    def submit():
        while not stop.is_set():
            host.submit_and_wait("echo", "noise", timeout=60)

    noise = threading.Thread(target=submit)
    noise.start()
    seen.append(next(stream))
    stop.set()
    noise.join()
    stream.close()
    marked = host.submit_and_wait("echo", "marked", timeout=60)
    for event in host.follow(last_event_id=seen[0].id, timeout=60):
        if event.name == "run" and event.data["id"] == marked["id"] and "outcome" in event.data:
            break
    else:
        raise AssertionError("the stream has no event of the marked run")


def assertions():
    with host.hold("a test of the client", seconds=60) as assertion:
        assert 0 < assertion.remaining <= 60
        held = host.status()["assertions"]
        assert [one["reason"] for one in held] == ["a test of the client"], held
    assert host.status()["assertions"] == []
    assert assertion.give_back() is False


if __name__ == "__main__":
    for part in (submissions, ends, refusals, pages, events, assertions):
        part()
        print(part.__name__, "ok")
