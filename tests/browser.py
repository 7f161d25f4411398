"""A real browser for tests of pages: what it shows, what it asks the network for, what its console says."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip

BROKEN_WORDS = r"""
    const broken = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (["SCRIPT", "STYLE", "OPTION"].includes(node.parentElement.tagName)) continue;
      for (const word of node.data.matchAll(/[\p{L}\p{N}_]+/gu)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set(Array.from(range.getClientRects(), (one) => Math.round(one.top)));
        if (lines.size > 1) broken.push(word[0]);
      }
    }
    return broken;"""


class Browser:
    """Chromium without a window."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, page: Path, width: int = 1400, dark: bool = False) -> None:
        """Opens a file at a width in CSS pixels, and forgets what was logged before."""
        self.resize(width)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.requests()
        self.console()
        self.driver.get(page.resolve().as_uri())

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def run(self, script: str, *arguments: Any) -> Any:
        """The value that JavaScript returns."""
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        """Of all visible elements, as a reader sees them."""
        script = """return Array.from(document.querySelectorAll(arguments[0]))
            .filter(one => one.offsetParent !== null).map(one => one.innerText.trim())"""
        return [str(text) for text in self.run(script, selector)]

    def click(self, selector: str) -> None:
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).click()

    def press(self, selector: str, key: str) -> None:
        """A key on an element that has the focus."""
        from selenium.webdriver.common.by import By

        self.driver.find_element(By.CSS_SELECTOR, selector).send_keys(key)

    def choose(self, selector: str, value: str) -> None:
        """An option of a <select>, by its value."""
        from selenium.webdriver.common.by import By
        from selenium.webdriver.support.ui import Select

        Select(self.driver.find_element(By.CSS_SELECTOR, selector)).select_by_value(value)

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return int(self.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def broken_words(self) -> list[str]:
        """Visible words that are broken over two lines; a break after a hyphen is not a broken word."""
        return [str(word) for word in self.run(BROKEN_WORDS)]

    def faults(self, axe: Path) -> list[str]:
        """What axe-core calls serious or critical, with the first element of each kind."""
        self.run(axe.read_text(encoding="utf-8"))
        script = """const done = arguments[arguments.length - 1];
            axe.run({resultTypes: ["violations"]}).then((found) => done(found.violations
              .filter((one) => ["serious", "critical"].includes(one.impact))
              .map((one) => `${one.id}: ${one.help}: ${one.nodes[0].html}`)), (error) => done([String(error)]))"""
        return [str(fault) for fault in self.driver.execute_async_script(script)]

    def requests(self) -> list[str]:
        """The addresses asked for since the last call, data: left out."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(str(message["params"]["request"]["url"]))
        return [url for url in found if not url.startswith("data:")]

    def console(self) -> list[str]:
        """What the console holds since the last call: errors of scripts, refused contents, warnings."""
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One for all tests of a process; they are skipped where there is none."""
    binary, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if binary is None or driver is None:
        pytest.skip("Chromium and chromedriver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    service = webdriver.ChromeService(driver, log_output=subprocess.DEVNULL)
    chrome = webdriver.Chrome(options=options, service=service)
    try:
        yield Browser(chrome)
    finally:
        chrome.quit()


@pytest.fixture(scope="session")
def axe() -> Path:
    """axe-core's script, which finds faults of accessibility. MARGINBENCH_AXE says where it is; without it tests are
    skipped. `npm pack axe-core@4.14.0` gets the package, `package/axe.min.js` is the file."""
    place = os.environ.get("MARGINBENCH_AXE", "")
    if not place:
        pytest.skip("MARGINBENCH_AXE does not name axe-core's script")
    return Path(place)
