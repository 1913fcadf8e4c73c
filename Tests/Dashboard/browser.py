"""Debian's Chromium, driven through chromedriver by the W3C WebDriver protocol alone."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class WebDriverError(Exception):
    pass


class Browser:
    def __init__(self, width=1440, height=900, dark=False, scripts=True):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.profile = tempfile.mkdtemp(prefix="taskhost-browser-")
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}", "--log-level=SEVERE"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={self.profile}",
            f"--window-size={max(500, width)},{height}", "--no-first-run", "--no-proxy-server"]
        options = {"args": arguments, "prefs": {} if scripts else {"profile.managed_default_content_settings.javascript": 2}}
        capabilities = {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        end = time.monotonic() + 30
        while True:
            try:
                self.session = self._call("POST", "/session", {"capabilities": capabilities})["sessionId"]
                break
            except (urllib.error.URLError, ConnectionError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self.resize(width, height)
        self.emulate(dark)

    def close(self):
        try:
            if self.session:
                self._call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait(30)
            shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _call(self, method, path, body=None):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", method=method)
        if method == "POST":
            request.data = json.dumps(body or {}).encode()
            request.add_header("content-type", "application/json")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            value = json.load(error)["value"]
            raise WebDriverError(f"{value['error']}: {value['message'].splitlines()[0]}") from None

    def _do(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def devtools(self, command, **parameters):
        return self._do("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width, height):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def emulate(self, dark):
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, url):
        self._do("POST", "/url", {"url": url})

    @property
    def url(self):
        return self._do("GET", "/url")

    @property
    def title(self):
        return self._do("GET", "/title")

    def run(self, script, *arguments):
        return self._do("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        return self._do("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def find(self, selector, using="css selector"):
        return self._do("POST", "/element", {"using": using, "value": selector})[ELEMENT]

    def button(self, label, within=""):
        """A button by the text that people see."""
        return self.find(f"//{within or 'main'}//button[starts-with(normalize-space(.), '{label}')]", "xpath")

    def push(self, label, within=""):
        """Clicks a button, by the text that people see."""
        self._click(lambda: self.button(label, within))

    def follow(self, xpath):
        """Clicks a link, or whatever else is found."""
        self._click(lambda: self.find(xpath, "xpath"))

    def _click(self, find):
        """Clicks what is found."""
        self._with(find, self.click)

    def _with(self, find, use):
        """Does something with what is found. A page that has just replaced the part with it is asked again."""
        end = time.monotonic() + 10
        while True:
            try:
                return use(find())
            except WebDriverError as error:
                if "stale" not in str(error) or time.monotonic() > end:
                    raise

    def text(self, selector="body"):
        return self._with(lambda: self.find(selector), lambda element: self._do("GET", f"/element/{element}/text"))

    def click(self, element):
        self._do("POST", f"/element/{element}/click")

    def type(self, selector, text, clear=True):
        def enter(element):
            if clear:
                self._do("POST", f"/element/{element}/clear")
            self._do("POST", f"/element/{element}/value", {"text": text})

        self._with(lambda: self.find(selector), enter)

    def press(self, *keys):
        actions = []
        for key in keys:
            actions += [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._do("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def wait(self, condition, what, limit=20):
        end = time.monotonic() + limit
        while True:
            try:
                value = condition()
                if value:
                    return value
            except WebDriverError as error:
                what = f"{what} ({error})"
            if time.monotonic() > end:
                raise AssertionError(f"never came: {what}; the page is {self.url}:\n{self.text()[:800]}")
            time.sleep(0.1)

    def problems(self):
        """What the browser's console says is wrong: blocked files, errors of scripts."""
        return [entry["message"] for entry in self._do("POST", "/se/log", {"type": "browser"}) if entry["level"] == "SEVERE"]

    def screenshot(self, path, whole=True):
        size = self.run("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 6000), "scale": 1}
        data = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=whole, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
