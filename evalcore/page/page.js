/* What the page of a report does beyond being read: tables sort and filter, marks of figures explain themselves,
 * and a cell opens its problems. Texts of the run enter the page by textContent alone.
 *
 * The element #data holds {"by": "sample" | "problem", "verdicts": [..], "finishes": [..], "texts": how to get
 * the problems' texts, where they are not beside the page, "tasks": [{"name", "problems": [id..], "answers":
 * [text..], "references": [text by problem..], "files": [name..]}], "cells": {ID: {"name", "task": index,
 * "samples", "row", "base": which of the cells is its baseline, "folder"}}}; a problem's text is at folder +
 * file, where the cell has a folder. "row N" in data-cell stands for all cells of that row.
 * By sample, a cell has `verdict` and `finish`, strings with a digit (index into the lists) or
 * "-" (missing) for each sample of each problem, and the lists `length`, `answer` (index, -1: none) and `score` (in
 * percent, where answers are not just right or wrong). By problem, it has the lists `right`, `done`, `length` (mean),
 * `cut` (samples that ended at the limit) and `answer` (the commonest). A string or list with one value for all
 * holds it once. */
"use strict";
(() => {
  const FILTER_ROWS = 6; /* smaller tables need no filter */
  const source = document.getElementById("data");
  const data = source ? JSON.parse(source.textContent) : { cells: {}, tasks: [] };
  const cellList = Object.values(data.cells), cellsOfRow = new Map();
  for (const cell of cellList) {
    const key = "row " + cell.row;
    cellsOfRow.set(key, [...(cellsOfRow.get(key) || []), cell]);
  }
  const cellsOf = (id) => (data.cells[id] ? [data.cells[id]] : cellsOfRow.get(id) || []);

  const element = (name, className, text) => {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  };
  const button = (className, text, act) => {
    const b = element("button", className, text);
    b.type = "button";
    b.addEventListener("click", act);
    return b;
  };
  /* Characters that turn the direction of what follows would let a name disguise itself. */
  const plain = (text) => String(text).replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

  /* ---- tables: sort */
  const textOf = (row, i) => {
    const cell = row.cells[i];
    if (!cell) return "";
    const main = cell.querySelector("button.open") || cell.firstChild;
    return main ? main.textContent.trim() : "";
  };
  const words = new Intl.Collator("en", { numeric: true });
  /* "100 [61-100] ?" sorts by 100; what is no number comes last. */
  const number = (text) => {
    const found = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?/i.exec(text);
    return found ? Number(found[0]) : NaN;
  };
  const rowsOf = (body) => [...body.rows].filter((r) => !/^(group|same)$/.test(r.className));
  const sortTable = (table, column, down) => {
    const bodies = [...table.tBodies];
    const all = bodies.flatMap(rowsOf).map((r) => textOf(r, column)).filter((t) => t && t !== "-");
    const isNumber = all.length > 0 && all.every((t) => !Number.isNaN(number(t)));
    const sign = down ? -1 : 1;
    const compare = (a, b) => {
      const x = textOf(a, column), y = textOf(b, column);
      if (!isNumber) return sign * words.compare(x, y);
      const u = number(x), v = number(y);
      if (Number.isNaN(u) || Number.isNaN(v)) return Number.isNaN(u) - Number.isNaN(v);
      return sign * (u - v);
    };
    for (const body of bodies) body.append(...rowsOf(body).sort(compare)); /* sort() is stable */
  };
  const makeSortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, i) => {
      const label = head.textContent;
      head.textContent = "";
      head.setAttribute("aria-sort", "none");
      head.append(button("", label, () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const h of heads) h.setAttribute("aria-sort", "none");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        sortTable(table, i, down);
      }));
    });
  };

  /* ---- tables: filter, and folding of rows that say the same */
  const showRows = (table) => {
    const want = (table.filterText || "").toLowerCase();
    let shown = 0, total = 0;
    for (const body of table.tBodies) {
      const rows = rowsOf(body), toggle = body.querySelector("button.fold");
      const isFolded = toggle && toggle.getAttribute("aria-expanded") === "false" && !want;
      let here = 0;
      for (const r of rows) {
        const fits = !want || r.textContent.toLowerCase().includes(want);
        r.hidden = !fits || isFolded;
        here += fits;
      }
      if (toggle) body.hidden = !here;
      shown += here;
      total += rows.length;
    }
    return want ? shown + " of " + total + " rows" : "";
  };
  const makeFilter = (table, before) => {
    const bar = element("div", "tools"), label = element("label", "", "Filter rows "), input = element("input");
    const said = element("span", "muted");
    said.setAttribute("role", "status");
    input.type = "search";
    input.addEventListener("input", () => {
      table.filterText = input.value;
      said.textContent = showRows(table);
    });
    label.append(input);
    bar.append(label, said);
    before.before(bar);
  };
  const makeFolds = (table) => {
    for (const row of table.querySelectorAll("tr.same")) {
      const head = row.cells[0], text = head.textContent;
      head.textContent = "";
      const toggle = button("fold", text, () => {
        toggle.setAttribute("aria-expanded", String(toggle.getAttribute("aria-expanded") === "false"));
        showRows(table);
      });
      toggle.setAttribute("aria-expanded", "false");
      head.append(toggle);
    }
    showRows(table);
  };

  /* ---- the problems of a cell */
  const value = (list, i) => (list === undefined ? undefined : list.length === 1 ? list[0] : list[i]);
  const answerOf = (task, cell, i) => {
    const a = value(cell.answer, i);
    return a === undefined || a < 0 ? "" : plain(task.answers[a]);
  };
  const problemHead = (cell, task, p) => {
    const head = element("th"), name = plain(task.problems[p]);
    head.scope = "row";
    if (!cell.folder) {
      head.textContent = name;
      return head;
    }
    const link = element("a", "", name);
    link.href = cell.folder + task.files[p];
    head.append(link);
    return head;
  };
  /* What the baseline says to the same problem: its answer, and whether it is right. */
  const baselineOf = (cell, task, p, s) => {
    const base = cellList[cell.base];
    if (data.by === "problem") {
      const done = value(base.done, p), right = base.score ? value(base.score, p) + " %" : value(base.right, p) + " of " + done;
      return done ? [answerOf(task, base, p), right].filter((t) => t).join(", ") : "not run yet";
    }
    if (s >= base.samples) return "";
    const i = p * base.samples + s, v = value(base.verdict, i);
    if (v === "-") return "not run yet";
    const verdict = base.score ? value(base.score, i) + " %" : data.verdicts[v];
    return task.answers ? [answerOf(task, base, i), verdict].filter((t) => t).join(", ") : verdict;
  };
  /* What stands beside an answer: the reference, and the baseline's. */
  const beside = (cell, task, p, s) => {
    const texts = [];
    if (task.references) texts.push(plain(task.references[p]));
    if (cell.base !== undefined) texts.push(baselineOf(cell, task, p, s));
    return texts;
  };
  const addRow = (body, head, texts, isBad) => {
    const row = body.insertRow();
    row.append(head);
    texts.forEach((t, i) => {
      const c = row.insertCell();
      c.textContent = t;
      if (i === 0 && isBad) c.className = "bad";
      if (typeof t === "number" || /^\d+ %$/.test(t)) c.className = "num";
    });
  };
  const addSamples = (body, cell, task) => {
    for (let p = 0, i = 0; p < task.problems.length; p++)
      for (let s = 0; s < cell.samples; s++, i++) {
        const v = value(cell.verdict, i), verdict = v === "-" ? "not run yet" : data.verdicts[v];
        const texts = [cell.score && v !== "-" ? value(cell.score, i) + " %" : verdict];
        if (cell.samples > 1) texts.unshift(s);
        if (task.answers) texts.push(answerOf(task, cell, i));
        texts.push(...beside(cell, task, p, s));
        texts.push(v === "-" ? "" : value(cell.length, i), v === "-" ? "" : data.finishes[value(cell.finish, i)]);
        addRow(body, problemHead(cell, task, p), texts, v !== "0" && v !== "-" && cell.samples === 1);
      }
  };
  const addProblems = (body, cell, task) => {
    task.problems.forEach((name, p) => {
      const right = value(cell.right, p), done = value(cell.done, p);
      const texts = [cell.score ? value(cell.score, p) + " %" : right + " of " + done];
      if (task.answers) texts.push(answerOf(task, cell, p));
      texts.push(...beside(cell, task, p, 0), value(cell.length, p), value(cell.cut, p));
      addRow(body, problemHead(cell, task, p), texts, done > 0 && 2 * right <= done);
    });
  };
  const problemTable = (cell, task) => {
    const table = element("table"), head = table.createTHead().insertRow();
    const verdict = cell.score ? "score" : data.by === "sample" ? "verdict" : "right";
    const names = ["problem"];
    if (data.by === "sample" && cell.samples > 1) names.push("sample");
    names.push(verdict);
    if (task.answers) names.push(data.by === "sample" ? "answer read" : "commonest answer");
    if (task.references) names.push("reference");
    if (cell.base !== undefined) names.push(plain(cellList[cell.base].name) + ", the baseline");
    names.push(data.by === "sample" ? "tokens" : "mean tokens", data.by === "sample" ? "finish" : "at limit");
    names.forEach((n, i) => {
      const h = element("th", /^(mean tokens|tokens|at limit|score|sample)$/.test(n) && i ? "num" : "", n);
      h.scope = "col";
      head.append(h);
    });
    (data.by === "sample" ? addSamples : addProblems)(table.createTBody(), cell, task);
    return table;
  };
  /* The problems of one cell in its own frame, under its task where there are several. */
  const addCell = (parent, cell, isOne) => {
    const task = data.tasks[cell.task], table = problemTable(cell, task), frame = element("div", "scroll");
    frame.tabIndex = 0;
    frame.setAttribute("role", "group");
    frame.setAttribute("aria-label", plain(cell.name) + " on " + plain(task.name));
    frame.append(table);
    if (!isOne) parent.append(element("h3", "", plain(task.name)));
    parent.append(frame);
    makeSortable(table);
    if (task.problems.length > FILTER_ROWS) makeFilter(table, frame);
  };
  let dialog = null;
  const openCell = (id) => {
    const cells = cellsOf(id);
    if (!cells.length) return;
    const isOne = cells.length === 1, body = element("div");
    const where = isOne ? plain(data.tasks[cells[0].task].name) : "all its tasks";
    const title = element("h2", "", plain(cells[0].name) + " on " + where);
    title.id = "cell-title";
    if (!dialog) {
      dialog = element("dialog");
      dialog.setAttribute("aria-labelledby", title.id);
      dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); });
      document.body.append(dialog);
    }
    dialog.replaceChildren(title, button("close", "Close", () => dialog.close()));
    if (data.texts) dialog.append(element("p", "cap", data.texts));
    dialog.append(body);
    for (const cell of cells) addCell(body, cell, isOne);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  };
  const makeOpener = (cell) => {
    const id = cell.dataset.cell, text = cell.firstChild;
    if (!cellsOf(id).length || !text || text.nodeType !== Node.TEXT_NODE) return;
    const open = button("open", text.textContent, () => openCell(id));
    text.replaceWith(open);
  };

  /* ---- figures: a tooltip on every mark */
  const tip = element("div");
  tip.id = "tip";
  tip.hidden = true;
  tip.setAttribute("role", "tooltip");
  const showTip = (mark, x, y) => {
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    const left = Math.min(Math.max(8, x + 12), innerWidth - w - 8);
    tip.style.left = Math.max(8, left) + "px";
    tip.style.top = (y + 16 + h > innerHeight ? Math.max(8, y - h - 10) : y + 16) + "px";
  };
  const hideTip = () => { tip.hidden = true; };
  const makeMark = (mark) => {
    const title = mark.querySelector("title");
    const text = title ? plain(title.textContent) : "";
    const id = mark.dataset.cell, opens = cellsOf(id).length > 0;
    if (title) title.remove(); /* or the browser would show it as well */
    mark.dataset.tip = text;
    mark.setAttribute("role", opens ? "button" : "img");
    mark.setAttribute("aria-label", text || "mark");
    mark.setAttribute("tabindex", "0");
    if (!opens) mark.style.cursor = "default";
    mark.addEventListener("mousemove", (e) => showTip(mark, e.clientX, e.clientY));
    mark.addEventListener("mouseleave", hideTip);
    mark.addEventListener("focus", () => {
      const box = mark.getBoundingClientRect();
      if (mark.matches(":focus-visible")) showTip(mark, box.left + box.width / 2, box.top + box.height / 2);
    });
    mark.addEventListener("blur", hideTip);
    if (!opens) return;
    mark.addEventListener("click", () => { hideTip(); openCell(id); });
    mark.addEventListener("keydown", (e) => {
      if (e.key !== "Enter" && e.key !== " ") return;
      e.preventDefault();
      hideTip();
      openCell(id);
    });
  };

  for (const table of document.querySelectorAll("main table")) {
    const rows = [...table.tBodies].flatMap(rowsOf).length;
    if (rows > 1) makeSortable(table);
    makeFolds(table);
    if (rows > FILTER_ROWS) makeFilter(table, table.parentElement);
  }
  for (const cell of document.querySelectorAll("td[data-cell], th[data-cell]")) makeOpener(cell);
  for (const mark of document.querySelectorAll("g.mark")) makeMark(mark);
  /* A picture may hold no parts that can be reached; a figure with marks is a group of them. */
  for (const svg of document.querySelectorAll("svg")) if (svg.querySelector("g.mark")) svg.setAttribute("role", "group");
  document.body.append(tip);
  /* A link to a folded section opens it. */
  const unfold = (hash) => {
    const section = hash.length > 1 && document.getElementById(hash.slice(1));
    const folded = section && section.querySelector("details.part");
    if (folded) folded.open = true;
  };
  for (const a of document.querySelectorAll("nav a")) a.addEventListener("click", () => unfold(a.hash));
  addEventListener("hashchange", () => unfold(location.hash));
  unfold(location.hash);
  addEventListener("keydown", (e) => { if (e.key === "Escape") hideTip(); });
  addEventListener("beforeprint", () => { for (const d of document.querySelectorAll("details")) d.open = true; });
})();
