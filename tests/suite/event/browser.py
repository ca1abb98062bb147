"""Watches a whole event in a real Chromium, and looks at pages that stand still.

    browser.py GATE4K EVENT FAST CHROMIUM REPORT PAGE...

EVENT is a folder with an event that has not begun; its engines are slow until the file FAST is there. REPORT is that of
a check of two entries, and each PAGE is another HTML file. Waits are for conditions, and long; nothing is measured by the clock. With GATE4K_PICTURES=DIR each view is
drawn into that folder.
"""

import functools
import http.server
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

PATIENCE = 300_000  # milliseconds
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 375, "height": 800}
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]

# The pieces of the board that is drawn, as the first field of a FEN has them.
DRAWN = """() => {
    const squares = Array.from({ length: 64 }, () => "");
    for (const use of document.querySelectorAll("#board use")) {
        const kind = use.getAttribute("href").slice("#piece-".length);
        const at = Number(use.getAttribute("y")) / 40 * 8 + Number(use.getAttribute("x")) / 40;
        squares[at] = use.classList.contains("white") ? kind.toUpperCase() : kind;
    }
    const rank = (row) => row.map((piece) => piece || "1").join("").replace(/1+/g, (free) => String(free.length));
    return Array.from({ length: 8 }, (_, row) => rank(squares.slice(8 * row, 8 * row + 8))).join("/");
}"""
# All words of the page that a script does not write anew.
WORDS = """() => {
    const copy = document.body.cloneNode(true);
    for (const moving of copy.querySelectorAll("time, footer, .steps, #line, #said, .clock, svg")) moving.remove();
    return copy.textContent.split(/\\s+/).filter((word) => word);
}"""


class Browser:
    """One Chromium; a context is a visitor. What a page asks for and complains of is kept."""

    def __init__(self, playwright, chromium):
        self.chromium = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        self.asked = []
        self.complaints = []
        self.audited = 0

    def visitor(self, size=DESKTOP, scheme="light", **more):
        context = self.chromium.new_context(viewport=size, color_scheme=scheme, **more)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(f"{page.url}: {error}"))
        page.on("console", self.hear)
        return page

    def hear(self, message):
        # A server that is killed on purpose is told by the browser itself, and so is an answer that of a game which ended a while
        # ago there is only the whole page.
        place = message.location["url"]
        is_meant = "net::ERR_" in message.text or place.endswith(".live.html")
        if message.type in ("error", "warning") and not is_meant:
            self.complaints.append(f"{place}: {message.text}")

    def look(self, page, name):
        """The view has no fault that axe knows of, and is as wide as the window."""
        found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
        told = [f"{one['id']} ({one['impact']}): {node['html']}" for one in found for node in one["nodes"]]
        self.complaints += [f"{name}: {one}" for one in told]
        self.audited += 1
        wide, room = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
        if wide > room:
            self.complaints.append(f"{name}: {wide} pixels wide in a window of {room}")
        tall = page.evaluate("Math.max(0, ...[...document.querySelectorAll('.round tr')].map((row) => row.getBoundingClientRect().height))")
        if tall > 150:
            self.complaints.append(f"{name}: a row of the schedule is {tall} pixels high")
        # WCAG 2.5.8: links without words between them.
        small = page.evaluate("""[...document.querySelectorAll(".games a")].map((link) => [link, link.getBoundingClientRect()])
            .filter(([link, box]) => box.width && (box.width < 24 || box.height < 24 || !link.getAttribute("aria-label").includes(" against ")))
            .map(([link]) => link.outerHTML).slice(0, 3)""")
        self.complaints += [f"{name}: hard to hit or to hear: {one}" for one in small]
        if "GATE4K_PICTURES" in os.environ:
            folder = Path(os.environ["GATE4K_PICTURES"])
            page.screenshot(path=folder / f"{name}.png", full_page="-whole" in name)


class Server:
    """`event serve`, which keeps its address when it is started again."""

    def __init__(self, gate4k, event):
        self.words = [gate4k, "event", "serve", "--listen"]
        self.event = event
        self.address = "127.0.0.1:0"
        self.start()

    def start(self):
        self.child = subprocess.Popen(self.words + [self.address], cwd=self.event, stdout=subprocess.PIPE, text=True)
        self.address = re.search(r"http://([^/]+)/", self.child.stdout.readline()).group(1)

    def kill(self):
        self.child.send_signal(signal.SIGKILL)
        self.child.wait()


def wait(page, condition, argument=None):
    """Until the condition, an expression or a function of the argument, is something; only the latter passes the policy."""
    if "=>" not in condition.split("\n")[0][:12]:
        condition = f"() => {condition}"
    return page.wait_for_function(condition, arg=argument, timeout=PATIENCE).json_value()


def placement(page, row):
    """The first field of a move's FEN."""
    return page.locator(row).get_attribute("data-fen").split(" ")[0]


def text(page, selector):
    return " ".join(page.locator(selector).first.inner_text().split())


def before_the_first_game(browser, page, address):
    sizes = []
    page.on("requestfinished", lambda request: sizes.append(request.sizes()))
    page.goto(f"http://{address}/")
    assert "Not begun." in text(page, "[data-part=state]")
    tabs = [text(page, f"nav a.stage >> nth={number}") for number in range(2)]
    assert tabs == ["League not begun", "Final not begun"], tabs
    wait(page, "document.querySelector('#connection').textContent === 'This page follows the event.'")
    weight = sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)
    assert len(sizes) >= 2 and weight <= 100_000, f"{weight} bytes in {len(sizes)} answers"
    print(f"before the first game: {weight} bytes in {len(sizes)} answers")
    browser.look(page, "before")


def moves_come_by_themselves(browser, page):
    """On the page that was opened before the first game, which is never loaded again."""
    page.evaluate("window.opened = true")
    page.wait_for_selector("#board use", state="attached")
    boards = set()
    while len(boards) < 4:
        boards.add(wait(page, "(known) => { const now = (" + DRAWN + ")(); return !known.includes(now) && now; }", list(boards)))
    # A clock goes on while its engine thinks about the same move.
    wait(page, """() => {
        const clock = document.querySelector(".player.runs .clock");
        if (!clock) return false;
        const now = [clock.dataset.since, clock.dataset.left].join(), old = window.clock || {};
        if (old.now !== now) window.clock = { now, text: clock.textContent };
        return old.now === now && old.text !== clock.textContent;
    }""")
    # The graph has a point for each move of an engine that has told an evaluation.
    points = "[...document.querySelectorAll('#graph polyline')].reduce((sum, line) => sum + line.points.length, 0)"
    wait(page, f"document.querySelectorAll('#graph polyline').length >= 2 && {points} > 4")
    # The last move is marked, on the squares that it left and reached.
    wait(page, """() => {
        const row = [...document.querySelectorAll("#moves > tr")].pop();
        const marked = [...document.querySelectorAll("#board .last")].map((mark) => mark.getAttribute("d"));
        if (!row || marked.length !== 2) return false;
        const corner = (square) => `M${(square.charCodeAt(0) - 97) * 40} ${(8 - square[1]) * 40}h`;
        return [row.dataset.uci.slice(0, 2), row.dataset.uci.slice(2, 4)].every((square, at) => marked[at].startsWith(corner(square)));
    }""")
    assert text(page, "nav a.stage >> nth=0") == "League under way"
    browser.look(page, "watched")


def delays(browser, page, address):
    """Told, not asserted: the time from a move to the page that follows, and from a question to the first board."""
    page.evaluate("""() => {
        window.delays = [];
        let last = "";
        new MutationObserver(() => {
            const clock = document.querySelector(".player.runs .clock");
            if (!clock || clock.dataset.since === last) return;
            last = clock.dataset.since;
            window.delays.push(Date.now() - Number(last));
        }).observe(document.body, { childList: true, subtree: true });
    }""")
    found = wait(page, "window.delays.length >= 12 && window.delays")
    told = ", ".join(str(one) for one in sorted(found[1:]))
    first = []
    for _ in range(5):
        visitor = browser.visitor()
        visitor.goto(f"http://{address}/")
        visitor.wait_for_selector("#board use", state="attached")
        first.append(visitor.evaluate("Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)"))
        visitor.context.close()
    print(f"from a move to the page: {told} ms; from a question to the first board: {sorted(first)} ms")


def the_focus_stays_in_a_line_while_moves_come(page):
    page.wait_for_selector("#line button:nth-of-type(1)", state="attached")
    page.locator("#line-1").click()
    more = "(count) => document.querySelectorAll('#moves > tr').length > count || !document.querySelector('#game[data-open]')"
    count = page.locator("#moves > tr").count()
    wait(page, more, count)
    held = page.evaluate("document.activeElement.id || document.activeElement.tagName")
    assert held == "line-1", held
    page.locator("[data-step=last]").focus()
    count = page.locator("#moves > tr").count()
    wait(page, more, count)
    assert page.evaluate("document.activeElement.dataset.step") == "last"
    page.keyboard.press("End")


def a_game_is_followed_to_its_end(page, fast):
    """Its page is not loaded again, and then has its PGN, and a way on."""
    page.evaluate("window.opened = true")
    fast()
    wait(page, "document.querySelector('[data-part=take] a[href$=\".pgn\"]')")
    wait(page, "document.querySelector('[data-part=on] a')")
    assert page.evaluate("window.opened"), "the page was loaded anew"


def a_reader_looks_back_while_the_game_goes_on(browser, page):
    row = None
    while not row:
        # A game that has only just taken the place of another has no move yet.
        page.wait_for_selector("#moves > tr:nth-child(3)", state="attached")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        key, row, count = page.evaluate("""() => [
            document.querySelector("#game").dataset.key,
            document.querySelector("#moves [aria-current]")?.id,
            document.querySelectorAll("#moves > tr").length,
        ]""")
    # More moves come, and the board still shows what was chosen, unless the game has ended and another one is shown.
    wait(page, """([key, count]) => document.querySelector("#game").dataset.key !== key
        || document.querySelectorAll("#moves > tr").length > count""", [key, count])
    shown, fen, drawn = page.evaluate("""(row) => {
        const place = document.getElementById(row);
        return [document.querySelector("#game").dataset.key, place && place.dataset.fen, (""" + DRAWN + """)()];
    }""", row)
    assert shown != key or fen.split(" ")[0] == drawn, (row, fen, drawn)
    page.keyboard.press("End")


def a_server_that_is_killed_and_started_again(page, server):
    server.kill()
    wait(page, "document.querySelector('#connection').textContent.startsWith('The connection is lost')")
    # Told where it is seen, however far down the reader is.
    assert page.evaluate("document.querySelector('#connection').getBoundingClientRect().bottom <= innerHeight")
    before = page.evaluate(DRAWN)
    server.start()
    wait(page, "document.querySelector('#connection').textContent === 'This page follows the event.'")
    wait(page, f"(before) => ({DRAWN})() !== before", before)


def the_end(browser, page):
    wait(page, "document.querySelector('[data-part=state]').textContent.startsWith('Over: ')")
    assert page.evaluate("window.opened"), "the page was loaded anew"
    wait(page, "[...document.querySelectorAll('nav a.stage')].slice(0, 2).every((tab) => tab.classList.contains('over'))")
    page.locator("nav a.stage >> nth=1").click()
    assert page.url.endswith("#stage-2")
    wait(page, "document.querySelector('#stage-2').getBoundingClientRect().top < innerHeight")
    page.evaluate("scrollTo(0, 0)")
    browser.look(page, "over-whole")


def steps_through_a_game(browser, page):
    """From a result in the crosstable to its game, and through it by the keyboard."""
    link = page.locator("#stage-1 table a[href^='games/']").first
    target = link.get_attribute("href")
    link.click()
    page.wait_for_url(f"**/{target}")
    assert " – " in text(page, "h1")
    rows = page.locator("#moves > tr").count()
    assert rows >= 6, rows
    last = placement(page, f"#p{rows}")
    for key, at in [("Home", 0), ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", rows), ("ArrowLeft", rows - 1)]:
        page.keyboard.press(key)
        wanted = placement(page, f"#p{at}") if at else page.locator("#game").get_attribute("data-start").split(" ")[0]
        assert page.evaluate(DRAWN) == wanted, (key, at)
        current = page.locator("#moves [aria-current]")
        assert current.count() == min(at, 1) and (not at or current.get_attribute("id") == f"p{at}"), (key, at)
        the_players_are_those_of_that_moment(page, at, at == rows)
    page.keyboard.press("f")
    turned = page.evaluate(DRAWN)
    page.keyboard.press("f")
    flat = lambda board: board.replace("/", "")
    spread = lambda board: re.sub(r"\d", lambda digit: "1" * int(digit.group()), flat(board))
    assert spread(turned) == spread(page.evaluate(DRAWN))[::-1]
    # A line that an engine expected is played on the board.
    page.locator("#line button").first.click()
    assert page.evaluate(DRAWN) == placement(page, f"#p{rows - 1}")
    assert page.locator("#line button[aria-pressed=true]").count() == 1
    page.locator("#p2 th a").click()
    assert page.evaluate(DRAWN) == placement(page, "#p2")
    page.keyboard.press("End")
    assert page.evaluate(DRAWN) == last
    an_address_names_a_move(browser, page, rows)
    browser.look(page, "game")
    return target


def an_address_names_a_move(browser, page, rows):
    """And the list of moves stands where the board does."""
    visitor = browser.visitor(PHONE)
    seen = """() => {
        const row = document.querySelector("#moves [aria-current]"), list = document.querySelector(".moves");
        const [inner, outer] = [row, list].map((element) => element.getBoundingClientRect());
        return [row.id, inner.bottom > outer.top && inner.top < outer.bottom];
    }"""
    for address, row in [(page.url + "#p3", "p3"), (page.url, f"p{rows}"), (page.url + "#nothing", f"p{rows}")]:
        visitor.goto("about:blank")
        visitor.goto(address)
        assert visitor.evaluate(seen) == [row, True], address
        assert visitor.evaluate(DRAWN) == placement(visitor, f"#{row}")
    visitor.context.close()


def the_players_are_those_of_that_moment(page, at, is_last):
    """Clocks, evaluations and figures of both are those of the last moves before the position, by the list of moves."""
    told = page.evaluate("""(at) => {
        const words = (element) => element ? element.textContent.trim() : "";
        const cells = (color) => [...document.querySelectorAll("#moves > tr")].slice(0, at).reverse()
            .map((row) => [...row.children].map(words))
            .find(([move, ...rest]) => rest.length > 1 && move.includes("…") === (color === "black")) || [];
        return ["white", "black"].map((color, side) => {
            const player = document.querySelector(".player." + color), row = cells(color);
            const figures = [...player.querySelectorAll(".figures > *")].map(words);
            return {
                clock: words(player.querySelector(".clock")),
                wanted: row[4] || document.querySelector("#game").dataset.clocks.split(" ")[side],
                evaluation: words(player.querySelector(".figures b")), eval: row[1] || "",
                figures, row: row.length ? ["took " + row[3]] : [],
                running: player.querySelector(".clock").hasAttribute("data-since"),
            };
        });
    }""", at)
    for side in told:
        assert side["evaluation"] == side["eval"], (at, side)
        assert all(one in side["figures"] for one in side["row"]) and bool(side["figures"]) == bool(side["row"]), (at, side)
        assert side["clock"] == side["wanted"] or is_last, (at, side)
        assert is_last or not side["running"], (at, side)


def nothing_is_lost_without_a_script(browser, addresses):
    for address in addresses:
        with_script, without = browser.visitor(), browser.visitor(java_script_enabled=False)
        with_script.goto(address)
        without.goto(address)
        lost = set(with_script.evaluate(WORDS)) - set(without.evaluate(WORDS))
        assert not lost, f"{address}: {sorted(lost)}"
        assert without.locator("table").first.is_visible()
        cut = without.evaluate("Math.max(0, ...[...document.querySelectorAll('.moves')].map((list) => list.scrollHeight - list.clientHeight))")
        assert cut <= 1, f"{address}: {cut} pixels of the moves are cut"
        assert with_script.locator("[hidden]").count() == 0
        with_script.context.close()
        without.context.close()


def every_size_and_scheme(browser, addresses):
    seen = [(PHONE, "light"), (DESKTOP, "dark"), (PHONE, "dark")]
    if "GATE4K_PICTURES" in os.environ:
        seen.append((DESKTOP, "light"))
    for size, scheme in seen:
        page = browser.visitor(size, scheme)
        for name, address in addresses.items():
            page.goto(address)
            paper = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
            assert (sum(paper) < 300) == (scheme == "dark"), (address, paper)
            form = "phone" if size == PHONE else "desktop"
            hidden = page.evaluate("""[...document.querySelectorAll(".wide")].filter((wide) => {
                const at = [...wide.querySelectorAll("thead th")].findIndex((head) => head.textContent === "Points");
                const cell = at < 0 ? null : wide.querySelectorAll("tbody tr:first-child > *")[at];
                return cell && cell.getBoundingClientRect().right > innerWidth;
            }).length""")
            assert hidden == 0, f"{address}: points beyond a {form}'s edge"
            browser.look(page, f"{name}-{form}-{scheme}-whole")
        page.context.close()


def on_paper(browser, addresses):
    """Printed, a page is dark on light whatever the screen is like, has no buttons, and is not cut."""
    page = browser.visitor(scheme="dark")
    for address in addresses:
        page.goto(address)
        page.emulate_media(media="print")
        seen = page.evaluate("""() => {
            const style = (element) => getComputedStyle(element), list = document.querySelector(".moves");
            const gone = [...document.querySelectorAll("nav, .steps, #connection")];
            return {
                ink: style(document.body).color.match(/\\d+/g).slice(0, 3).map(Number),
                left: gone.filter((element) => style(element).display !== "none").length,
                cut: list.scrollHeight - list.clientHeight,
                board: document.querySelector("#board svg").getBoundingClientRect().width,
                more: style(list.querySelector("td.more, th.more")).display,
            };
        }""")
        assert sum(seen["ink"]) < 300 and seen["left"] == 0 and seen["cut"] <= 1 and seen["board"] > 100, (address, seen)
        assert seen["more"] == "table-cell", (address, seen)
        assert len(page.pdf()) > 10_000
        # Folded parts are open on paper.
        assert page.evaluate("[...document.querySelectorAll('details')].every((one) => one.open)"), address
    page.context.close()


def files_that_are_replaced_are_followed(browser, mirror):
    """A directory of `--publish dir=` on a server that knows nothing of it: its page goes on without being loaded anew."""
    handler = functools.partial(Silent, directory=mirror)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as static:
        threading.Thread(target=static.serve_forever, daemon=True).start()
        page = browser.visitor()
        place = f"http://127.0.0.1:{static.server_port}/"
        page.goto(f"{place}index.html")
        page.wait_for_selector("#moves > tr:nth-child(3)", state="attached")
        page.evaluate("window.opened = true")
        how = "Clocks are those of the last move; this page looks for news every 10 seconds."
        assert text(page, "#connection") == how
        assert page.locator("a[href='live.pgn']").count() == 1
        before = page.evaluate(DRAWN)
        wait(page, f"(before) => ({DRAWN})() !== before", before)
        assert page.evaluate("window.opened"), "the page was loaded anew"
        page.context.close()
        static.shutdown()
    return place


def files_need_no_server(browser, site, target):
    """The exported site, from its files and from a server that knows nothing of it."""
    handler = functools.partial(Silent, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as static:
        threading.Thread(target=static.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{static.server_port}"
        for root in [site.as_uri(), place]:
            page = browser.visitor()
            begin = len(browser.asked)
            page.goto(f"{root}/index.html")
            page.locator(f"a[href='{target}']").first.click()
            page.wait_for_selector("#board use", state="attached")
            page.keyboard.press("Home")
            page.keyboard.press("ArrowRight")
            assert page.evaluate(DRAWN) == placement(page, "#p1")
            assert page.evaluate("getComputedStyle(document.querySelector('.player')).display") == "grid"
            assert not page.locator("#connection").count()
            assert all(url.startswith(root + "/") for url in browser.asked[begin:]), browser.asked[begin:]
            page.context.close()
        static.shutdown()


def the_report_of_a_check(browser, address):
    page = browser.visitor()
    page.goto(address)
    assert page.locator("h1").count() == page.locator("main").count() == 1
    rejected = page.locator("article", has=page.locator("h2 .rejected"))
    assert rejected.locator("section.finding").first.locator("b").first.inner_text() == "fail"
    # The squares that the king left and reached, of which he may do neither.
    boards = rejected.locator(".illegal svg.board")
    assert boards.count() >= 1 and boards.first.locator(".last").count() == 1
    page.locator("details summary").last.click()
    browser.look(page, "check-whole")
    page.context.close()


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def main(gate4k, event, fast, chromium, report, *pages):
    event = Path(event)
    with sync_playwright() as playwright:
        browser = Browser(playwright, chromium)
        server = Server(gate4k, event)
        run = None
        try:
            page = browser.visitor()
            before_the_first_game(browser, page, server.address)
            run = subprocess.Popen([gate4k, "event", "run", "--quiet", "--live", "--publish", "dir=mirror"], cwd=event,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            moves_come_by_themselves(browser, page)
            delays(browser, page, server.address)
            mirror = files_that_are_replaced_are_followed(browser, event / "mirror")
            a_reader_looks_back_while_the_game_goes_on(browser, page)
            a_server_that_is_killed_and_started_again(page, server)
            followed = browser.visitor()
            followed.goto(f"http://{server.address}/games/{page.locator('#game').get_attribute('data-key')}.html")
            wait(followed, "document.querySelector('#connection').textContent === 'This page follows the event.'")
            the_focus_stays_in_a_line_while_moves_come(followed)
            a_game_is_followed_to_its_end(followed, Path(fast).touch)
            assert run.wait() == 0
            the_end(browser, page)
            target = steps_through_a_game(browser, page)
            root = f"http://{server.address}/"
            assert all(url.startswith((root, mirror)) for url in browser.asked), browser.asked
            nothing_is_lost_without_a_script(browser, [root, root + target])
            on_paper(browser, [root, root + target])
            subprocess.run([gate4k, "event", "export", "site", "site"], cwd=event, check=True, stdout=subprocess.DEVNULL)
            files_need_no_server(browser, event / "site", target)
            addresses = {"event": root, "game": root + target}
            addresses |= {f"page-{number}": Path(page).resolve().as_uri() for number, page in enumerate([report, *pages])}
            the_report_of_a_check(browser, Path(report).resolve().as_uri())
            every_size_and_scheme(browser, addresses)
            assert not browser.complaints, "\n" + "\n".join(browser.complaints)
            assert {url.split("/")[2].split(":")[0] for url in browser.asked} <= {"", "127.0.0.1"}
            print(f"{len(browser.asked)} requests, {browser.audited} views without a finding")
        finally:
            for child in [run, server.child]:
                if child and child.poll() is None:
                    child.kill()
                    child.wait()


main(*sys.argv[1:])
