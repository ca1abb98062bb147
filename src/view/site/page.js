// The moving parts of a page of the event: clocks, steps through a game and through expected lines, and, where a server tells
// of changes, the parts of the page that have changed. Every word and figure is in the HTML; nothing here knows chess.
"use strict";
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const root = document.body.dataset.root || "";
  let skew = 0; // the server's clock less ours, in milliseconds
  let shown = null; // the id of the move that is looked at; null for the last
  let line = null; // {id, at}: so many moves into the expected line of a move
  let turned = false;

  const one = (selector, within) => (within || document).querySelector(selector);
  const all = (selector, within) => [...(within || document).querySelectorAll(selector)];
  const game = () => one("#game");
  const rows = () => all("#moves > tr");

  // The board as a map of squares, from the first field of a FEN.
  const squares = (fen) => {
    const found = {};
    fen.split(" ")[0].split("/").forEach((rank, down) => {
      let file = 0;
      for (const c of rank) {
        if (c >= "1" && c <= "8") file += Number(c);
        else found["abcdefgh"[file++] + (8 - down)] = c;
      }
    });
    return found;
  };
  // Moves a piece. The moves come from the server and are legal: a king that goes two files takes its rook along, in
  // Chess960 it castles where it goes to its own rook, a pawn that leaves its file for an empty square takes in passing.
  const move = (board, uci) => {
    const from = uci.slice(0, 2), to = uci.slice(2, 4), piece = board[from];
    if (!piece) return;
    const kind = piece.toLowerCase();
    if (kind === "p" && from[0] !== to[0] && !board[to]) delete board[to[0] + from[1]];
    if (kind === "k" && board[to] === (piece === "k" ? "r" : "R")) {
      const [king, rook] = to > from ? ["g", "f"] : ["c", "d"], own = board[to];
      delete board[from];
      delete board[to];
      board[king + from[1]] = piece;
      board[rook + from[1]] = own;
      return;
    }
    if (kind === "k" && Math.abs(from.charCodeAt(0) - to.charCodeAt(0)) === 2) {
      const [corner, beside] = to[0] === "g" ? ["h", "f"] : ["a", "d"];
      board[beside + from[1]] = board[corner + from[1]];
      delete board[corner + from[1]];
    }
    delete board[from];
    board[to] = uci[4] ? (piece === kind ? uci[4] : uci[4].toUpperCase()) : piece;
  };
  const corner = (square) => {
    const x = square.charCodeAt(0) - 97, y = 8 - Number(square[1]);
    return turned ? [(7 - x) * 40, (7 - y) * 40] : [x * 40, y * 40];
  };
  const node = (name, attributes) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const draw = (board, uci, label, check) => {
    const svg = one("#board svg");
    if (!svg) return;
    all("use, .last, .check, text", svg).forEach((old) => old.remove());
    svg.setAttribute("aria-label", label);
    for (const square of uci ? [uci.slice(0, 2), uci.slice(2, 4)] : []) {
      const [x, y] = corner(square);
      svg.append(node("path", { class: "last", d: `M${x} ${y}h40v40h-40z` }));
    }
    for (const [square, piece] of Object.entries(board)) {
      if (piece !== check) continue;
      const [x, y] = corner(square);
      svg.append(node("path", { class: "check", d: `M${x} ${y}h40v40h-40z` }));
    }
    for (const [square, piece] of Object.entries(board)) {
      const [x, y] = corner(square), small = piece.toLowerCase();
      svg.append(node("use", { href: "#piece-" + small, class: piece === small ? "black" : "white", x, y, width: 40, height: 40 }));
    }
    for (let at = 0; at < 8; at++) {
      const file = node("text", { x: 33 + at * 40, y: 317 }), rank = node("text", { x: 2, y: 10 + at * 40 });
      file.textContent = "abcdefgh"[turned ? 7 - at : at];
      rank.textContent = String(turned ? at + 1 : 8 - at);
      svg.append(file, rank);
    }
  };

  const place = (list) => (shown === null ? list.length - 1 : shown === "" ? -1 : list.findIndex((row) => row.id === shown));
  // The clocks and figures of the position that is looked at, from the rows of the moves before it; those of now are
  // kept for the way back.
  const mover = (row) => (row.dataset.fen.split(" ")[1] === "b" ? "white" : "black");
  const figures = (row) => {
    const [, evaluation, depth, took, , nodes, , more] = row.children, found = [];
    const add = (name, text) => { if (text.trim()) found.push(Object.assign(document.createElement(name), { textContent: text })); };
    add("b", evaluation.textContent);
    if (depth.textContent.trim()) add("span", "depth " + depth.textContent);
    if (nodes.textContent.trim()) add("span", nodes.textContent + (nodes.textContent === "1" ? " node" : " nodes"));
    if (more) found.push(...more.cloneNode(true).children);
    add("span", "took " + took.textContent);
    return found;
  };
  const players = (list, at) => {
    const isNow = at === list.length - 1, first = game().dataset.clocks.split(" ");
    all(".player").forEach((player) => {
      if (isNow && !player.now) return;
      const color = player.classList.contains("white") ? "white" : "black";
      const clock = one(".clock", player), told = one(".figures", player);
      const now = player.now || { nodes: [...told.childNodes], words: clock.textContent, since: clock.dataset.since };
      player.now = isNow ? null : now;
      const row = list.slice(0, at + 1).reverse().find((row) => mover(row) === color && row.children.length > 2);
      told.replaceChildren(...(isNow ? now.nodes : row ? figures(row) : []));
      if (isNow && now.since) clock.dataset.since = now.since;
      if (!isNow) delete clock.dataset.since;
      player.classList.toggle("runs", isNow && Boolean(now.since));
      clock.textContent = isNow ? now.words : row ? row.children[4].textContent : first[color === "white" ? 0 : 1];
    });
    all(".counters, .tell > .line").forEach((part) => { part.hidden = !isNow; });
    if (isNow) tick();
  };
  // Draws what is looked at: a move of the game, or a move of the line that its engine expected.
  const look = (announce) => {
    const list = rows(), at = place(list), row = list[at];
    list.forEach((other) => other.toggleAttribute("aria-current", other === row));
    // The list scrolls, never the page: the board would be lost from sight.
    const holder = one(".moves");
    holder.scrollTop = row ? row.offsetTop - holder.clientHeight / 2 : 0;
    one(".play").classList.toggle("turned", turned);
    lines(row);
    players(list, at);
    if (line && row) {
      const before = list[at - 1], board = squares(before ? before.dataset.fen : game().dataset.start);
      const words = row.dataset.line.split(" ").slice(0, line.at);
      words.forEach((uci) => move(board, uci));
      draw(board, words[words.length - 1], "Expected: " + one("td.line", row).textContent.split(" ").slice(0, line.at).join(" "));
      return;
    }
    const words = row ? one("th a", row).textContent : "the position before the first move";
    const fen = row ? row.dataset.fen : game().dataset.start;
    const check = row && /[+#]$/.test(words) && (fen.split(" ")[1] === "b" ? "k" : "K");
    draw(squares(fen), row && row.dataset.uci, "The board after " + words, check);
    if (announce) say(shown === null ? "" : `Looking at ${words}. `);
  };
  // Told to a screen reader: where we look, and how the game stands.
  const say = (where) => {
    const words = where + game().dataset.said;
    if (one("#said").textContent !== words) one("#said").textContent = words;
  };
  // The expected line of the move that is looked at, as buttons.
  const lines = (row) => {
    const old = one("#line");
    if (old) old.remove();
    if (!row || !row.dataset.line) return;
    const holder = document.createElement("p");
    holder.id = "line";
    holder.className = "line";
    holder.append("Expected at " + one("th a", row).textContent + ": ");
    one("td.line", row).textContent.split(" ").forEach((san, index) => {
      const button = document.createElement("button");
      button.type = "button";
      button.id = "line-" + (index + 1);
      button.textContent = san;
      button.setAttribute("aria-pressed", String(Boolean(line) && line.at === index + 1));
      button.addEventListener("click", () => { shown = row.id; line = { at: index + 1 }; look(false); all("#line button")[index].focus(); });
      holder.append(button, " ");
    });
    one("#said").after(holder);
  };
  const step = (way) => {
    const list = rows(), at = place(list);
    if (way === "turn") turned = !turned;
    else {
      const to = { first: -1, back: at - 1, on: at + 1, last: list.length - 1 }[way];
      line = null;
      shown = to >= list.length - 1 ? null : to < 0 ? "" : list[to].id;
    }
    look(true);
  };

  const tick = () => {
    for (const clock of all(".clock[data-since]")) {
      const used = Math.max(0, Date.now() + skew - Number(clock.dataset.since));
      const left = Math.max(0, Number(clock.dataset.left) - used), seconds = Math.floor(left / 1000);
      const two = (number) => String(number).padStart(2, "0");
      const hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
      clock.textContent = hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}`
        : seconds < 20 ? `0:${two(seconds)}.${Math.floor(left / 100) % 10}` : `${minutes}:${two(seconds % 60)}`;
    }
  };

  // After a part of the page has come or has been replaced.
  const dress = () => {
    all("time").forEach((time) => { time.textContent = new Date(time.dateTime).toLocaleString(); });
    if (!game()) return;
    one(".steps").hidden = false;
    look(true);
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-step]");
    if (button) return step(button.dataset.step);
    const link = event.target.closest("#moves th a");
    if (link) { event.preventDefault(); line = null; shown = link.closest("tr").id; look(true); }
  });
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea, .wide")) return;
    const way = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last", f: "turn" }[event.key];
    if (!way || !game()) return;
    event.preventDefault();
    step(way);
  });
  window.addEventListener("beforeprint", () => all("details").forEach((details) => { details.open = true; }));

  const fetched = async (path) => {
    const answer = await fetch(path, { cache: "no-cache" });
    if (!answer.ok) throw new Error(String(answer.status));
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  };
  // The place of the reader stays: the element that has the focus, opened rounds, and how far wide tables are moved. The
  // focus is given back by the function that this returns, once the buttons are there.
  const replace = (old, fresh) => {
    const TARGETS = "a, button, summary, [tabindex]";
    const focus = document.activeElement && old.contains(document.activeElement) ? document.activeElement : null;
    const label = focus && (focus.id || focus.getAttribute("data-step") || focus.getAttribute("href"));
    const place = focus ? all(TARGETS, old).indexOf(focus) : -1;
    const open = all("details", old).map((details) => details.open);
    const moved = all(".wide", old).map((wide) => wide.scrollLeft);
    old.replaceWith(document.adoptNode(fresh));
    const now = all("details", fresh), wide = all(".wide", fresh);
    if (now.length === open.length) now.forEach((details, index) => { details.open = open[index] || details.open; });
    if (wide.length === moved.length) wide.forEach((one, index) => { one.scrollLeft = moved[index]; });
    return () => {
      if (!focus) return;
      const targets = all(TARGETS, fresh);
      const again = (label && targets.find((other) =>
        [other.id, other.getAttribute("data-step"), other.getAttribute("href")].includes(label))) || targets[place];
      if (again) again.focus({ preventScroll: true });
    };
  };
  // The game's last moves and figures; the moves before them are on the page already.
  const fresh = async () => {
    const old = game();
    if (!old || !("open" in old.dataset)) return;
    // Of a game that ended a while ago there is only the whole page.
    const next = await fetched(old.dataset.src).then((page) => one("#game", page), (error) => (error.message === "404" ? null : Promise.reject(error)));
    if (!next || next.dataset.key !== old.dataset.key) return whole();
    const body = one("#moves", next), from = Number(body.dataset.from), known = rows();
    if (known.length < from) return whole();
    body.prepend(...known.slice(0, from));
    const scroll = one(".moves", old).scrollTop;
    next.dataset.src = old.dataset.src;
    // The same element as before, so that what it says is told.
    one("#said", next).replaceWith(one("#said", old));
    const focus = replace(old, next);
    one(".moves", next).scrollTop = shown === null ? one(".moves", next).scrollHeight : scroll;
    dress();
    focus();
  };
  // All parts of the page.
  const whole = async () => {
    const page = await fetched(location.pathname), key = game() && game().dataset.key, focus = [];
    for (const part of all("[data-part]")) {
      const next = one(`[data-part="${part.dataset.part}"]`, page);
      if (next) focus.push(replace(part, next));
    }
    if (game() && game().dataset.key !== key) { shown = null; line = null; }
    dress();
    focus.forEach((give) => give());
    if (game() && "open" in game().dataset && shown === null) one(".moves").scrollTop = one(".moves").scrollHeight;
    return page;
  };

  // One thing at a time, and what comes meanwhile once more after it; a while passes between two.
  const PAUSE = 20;
  let busy = false;
  const due = { live: false, event: false };
  const work = async () => {
    if (busy) return;
    busy = true;
    try {
      while (due.live || due.event) {
        const everything = due.event;
        due.live = due.event = false;
        await (everything ? whole() : fresh());
        await new Promise((done) => setTimeout(done, PAUSE));
      }
    } catch { /* the server is away; its next word comes with all that has changed */ }
    busy = false;
  };
  const connect = () => {
    const source = new EventSource(root + "changes");
    const told = (words, isLost) => {
      one("#connection").textContent = words;
      one("#connection").classList.toggle("lost", isLost);
    };
    source.onopen = () => told("This page follows the event.", false);
    source.onerror = () => {
      told("The connection is lost; trying again.", true);
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 3000);
    };
    source.onmessage = (event) => {
      const news = JSON.parse(event.data);
      skew = news.now - Date.now();
      due.live = due.live || news.live;
      due.event = due.event || news.event;
      work();
    };
  };

  // Files that are replaced on a host that tells nothing of it: asked for again until the event is over. From a disk they
  // cannot be asked for, only loaded anew.
  const AGAIN = 10000;
  const again = () => setTimeout(async () => {
    try {
      if (!("again" in (await whole()).body.dataset)) return one("#connection").remove();
    } catch {
      if (location.protocol === "file:") return location.reload();
    }
    again();
  }, AGAIN);

  // An address may name a move; the board stays in sight.
  const named = () => {
    const row = rows().find((row) => "#" + row.id === location.hash);
    if (!row) return;
    line = null;
    shown = row.id;
    look(true);
    game().scrollIntoView();
  };
  window.addEventListener("hashchange", named);
  window.addEventListener("load", named);
  dress();
  named();
  if (game() && shown === null && "open" in game().dataset) one(".moves").scrollTop = one(".moves").scrollHeight;
  setInterval(tick, 100);
  if ("live" in document.body.dataset) connect();
  if ("again" in document.body.dataset) {
    one("#connection").textContent = `Clocks are those of the last move; this page looks for news every ${AGAIN / 1000} seconds.`;
    again();
  }
})();
