# Copyright (c) 2026 The asio-wheel authors
# SPDX-License-Identifier: BSL-1.0

"""A headless Chromium for tests of pages: test/inspector/browser and docs/site/check."""

import base64
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

PATIENCE = 60  # Seconds, also on a slow machine.


class Failure(Exception):
    pass


def find_chromium():
    """The path of the program, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """A Chromium, controlled by the DevTools protocol over two pipes."""

    def __init__(self, path, profile):
        commands, self.commands = os.pipe()
        self.replies, replies = os.pipe()

        def take_pipes():  # The child reads from descriptor 3 and writes to 4.
            first, second = os.dup(commands), os.dup(replies)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [path, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--hide-scrollbars", "about:blank"],
            preexec_fn=take_pipes, close_fds=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(replies)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")

    def read(self, deadline):
        """Returns the next message."""
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.replies], [], [], left)[0]:
                raise Failure("the browser does not answer")
            got = os.read(self.replies, 1 << 20)
            if not got:
                raise Failure("the browser has ended")
            self.buffer += got
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.read(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def value(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise Failure(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, script, what):
        deadline = time.monotonic() + PATIENCE
        while not self.value(script):
            if time.monotonic() > deadline:
                raise Failure(f"not within {PATIENCE} s: {what}")
            time.sleep(.05)

    def open(self, url):
        """Loads another page, and returns when it is complete."""
        self.value("window.left = true")
        failed = self.call("Page.navigate", url=url).get("errorText")
        if failed:
            raise Failure(f"{url}: {failed}")
        self.wait_for("!window.left && document.readyState === 'complete'", f"{url} is loaded")

    def complaints(self):
        """What went wrong since the last call, as text."""
        bad = []
        for event in self.events:
            method, details = event["method"], event["params"]
            if method == "Runtime.consoleAPICalled":
                bad.append("console: " + str([a.get("value") for a in details["args"]]))
            elif method == "Runtime.exceptionThrown":
                bad.append("exception: " + json.dumps(details["exceptionDetails"])[:500])
            elif method == "Log.entryAdded":
                entry = details["entry"]
                bad.append(f"log: {entry['level']}: {entry['text']} {entry.get('url', '')}")
            elif method == "Network.loadingFailed" and not details.get("canceled"):
                bad.append("request failed: " + details["errorText"])
            elif method == "Network.responseReceived" and details["response"]["status"] >= 400:
                bad.append(f"status {details['response']['status']}: {details['response']['url']}")
        self.events.clear()
        return bad

    def window(self, width, height, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))
        if shutil.which("pngquant"):
            subprocess.run(["pngquant", "--force", "--ext", ".png", "--strip", "64", path],
                           check=True)

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)  # Its own session, so only its own processes.
        self.process.wait()
