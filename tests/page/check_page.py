"""Looks at a report's page in Chromium as a reader does: phone and desk, light and dark, mouse and keyboard, and with
axe-core, where it is there. Usage: check_page.py PAGE [--shots FOLDER]

Exit 0: nothing found; 1: something was; 77: no Chromium. axe-core (axe.min.js) is taken from KVEVAL_AXE, or from
the Python packages axe-core-python or axe-playwright-python; without it that part is left out, and the script says so.
"""
import argparse
import importlib.util
import os
import pathlib
import sys

import browser

WIDTHS = (390, 1280)


def find_axe():
    if os.environ.get("KVEVAL_AXE"):
        return pathlib.Path(os.environ["KVEVAL_AXE"])
    for name in ("axe_playwright_python", "axe_core_python"):
        spec = importlib.util.find_spec(name)
        for folder in spec.submodule_search_locations if spec else ():
            path = pathlib.Path(folder) / "axe.min.js"
            if path.exists():
                return path
    return None


def check_axe(page, axe, said):
    page.run(axe.read_text() + ";0")
    found = page.run("""axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => [v.id, v.impact,
        v.nodes.length, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + " | " + n.failureSummary.slice(0, 200))]))""")
    for name, impact, n, nodes in found:
        said.append("axe %s (%s), %d times: %s" % (name, impact, n, nodes))


def check_layout(page, width, said):
    wide = page.run("""[...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, nav, pre, svg, dialog")
        && e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).slice(0, 3)
        .map(e => e.outerHTML.slice(0, 120))""")
    over = page.run("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if over > 0 or wide:
        said.append("%d pixels wide: the page scrolls sideways by %s: %s" % (width, over, wide))
    nested = page.run("""[...document.querySelectorAll(".scroll")].filter(e => e.parentElement.closest(".scroll")
        || e.scrollHeight > e.clientHeight + 1).length""")
    if nested:
        said.append("%d pixels wide: %d tables scroll within a frame" % (width, nested))
    twice = page.run("""(ids => ids.filter((id, i) => ids.indexOf(id) !== i))(
        [...document.querySelectorAll("[id]")].map(e => e.id))""")
    if twice:
        said.append("ids that stand twice: %s" % twice)


def check_tables(page, said):
    """Sort by click and by key, and filter."""
    if not page.run("document.querySelector('main table')"):
        return
    states = page.run("""(() => { const t = document.querySelector("main table"), h = t.tHead.rows[0].cells[0], all = [];
        const first = () => [...t.querySelectorAll("tbody th[scope=row]")].map(e => e.textContent);
        for (let i = 0; i < 2; i++) { h.querySelector("button").click(); all.push([h.getAttribute("aria-sort"), first()]); }
        h.querySelector("button").focus(); return all; })()""")
    (up, rows_up), (down, rows_down) = states
    if (up, down) != ("ascending", "descending"):
        said.append("aria-sort is %s, then %s" % (up, down))
    if sorted(rows_up) != sorted(rows_down) or (len(set(rows_up)) > 1 and rows_up == rows_down):
        said.append("sorting by click does not turn the rows around")
    page.key("Enter")
    if page.run("document.activeElement.parentElement.getAttribute('aria-sort')") != "ascending":
        said.append("the Enter key does not sort")
    rows = page.run("""(() => { const i = document.querySelector("main .tools input"); if (!i) return null;
        const t = i.closest(".tools").nextElementSibling.querySelector("table");
        const shown = () => [...t.querySelectorAll("tbody th[scope=row]")].filter(e => e.getClientRects().length).length;
        i.value = "no row says this"; i.dispatchEvent(new Event("input")); const none = shown();
        i.value = ""; i.dispatchEvent(new Event("input")); return [none, shown()]; })()""")
    if rows and (rows[0] or not rows[1]):
        said.append("the filter shows %d rows, and without a text %d" % tuple(rows))


def check_problems(page, said):
    """A cell of a table and a mark of a figure open the problems, by click and by key; Escape closes them."""
    for what, find in (("cell", "main button.open"), ("mark", "g.mark[role=button]")):
        if not page.run("(e => e && (e.focus(), true))(document.querySelector('%s'))" % find):
            said.append("no %s opens its problems" % what)
            continue
        page.key("Enter")
        rows = page.run("document.querySelectorAll('dialog[open] tbody tr').length")
        if not rows:
            said.append("Enter on a %s opens no problems" % what)
        page.key("Escape")
        if page.run("document.querySelector('dialog[open]') !== null"):
            said.append("Escape does not close the problems of a %s" % what)
    said += lacks_beside(page)
    tip = page.run("""(m => { if (!m) return "x"; m.dispatchEvent(new MouseEvent("mousemove", {clientX: 9, clientY: 9}));
        const t = document.getElementById("tip"); return t.hidden ? "" : t.textContent; })(document.querySelector("g.mark"))""")
    if not tip:
        said.append("a mark shows no tooltip")
    page.run("document.getElementById('tip').hidden = true")


def lacks_beside(page):
    """A compared cell's problems stand beside the reference and the baseline's answers, and say how to get texts; a
    setting's open for all its tasks; the lead's marks opened nothing."""
    heads = page.run("""(() => { const d = JSON.parse(document.getElementById("data").textContent);
        const id = Object.keys(d.cells).find(k => d.cells[k].base !== undefined); if (!id || !d.tasks[d.cells[id].task].references) return null;
        const open = [...document.querySelectorAll("main [data-cell]")].find(e => e.dataset.cell === id);
        (open.querySelector("button.open") || open).dispatchEvent(new MouseEvent("click", {bubbles: true}));
        const all = [...document.querySelectorAll("dialog th[scope=col]")].map(e => e.textContent);
        const texts = document.querySelector("dialog .cap, dialog a[href]") !== null;
        document.querySelector("dialog .close").click(); return [all, texts]; })()""")
    said = []
    if heads and not ("reference" in heads[0] and any(h.endswith(", the baseline") for h in heads[0])):
        said.append("no reference or no baseline beside the answers: %s" % heads[0])
    if heads and not heads[1]:
        said.append("the problems do not say how to get their texts")
    lead = page.run("""(m => m ? m.getAttribute("role") : "button")(document.querySelector(".lead g.mark"))""")
    if lead != "button":
        said.append("a mark of the first screen opens nothing")
    first = page.run("""(() => { const t = document.querySelector("main table"), s = document.querySelector("main svg");
        return !t || !s || !!(s.compareDocumentPosition(t) & Node.DOCUMENT_POSITION_FOLLOWING); })()""")
    if not first:
        said.append("a table stands before the first figure")
    return said


def look(page, url, axe, shots):
    said = []
    for width in WIDTHS:
        for dark in (False, True):
            here = []
            page.open(url, width, dark)
            check_layout(page, width, here)
            check_tables(page, here)
            check_problems(page, here)
            if axe:
                check_axe(page, axe, here)
            if shots:
                page.run("scrollTo(0, 0); document.activeElement.blur()")
                page.picture(shots / ("%d_%s.png" % (width, "dark" if dark else "light")))
            page.run("""document.querySelectorAll("details").forEach(d => d.open = true);
                (b => b && b.click())(document.querySelector("main button.open"))""")
            check_layout(page, width, here)
            if axe:
                check_axe(page, axe, here)
            if shots:
                page.picture(shots / ("%d_%s_problems.png" % (width, "dark" if dark else "light")))
            here += page.complaints()
            said += ["%d %s: %s" % (width, "dark" if dark else "light", s) for s in here]
        page.open(url, width, script=False)
        here = []
        check_layout(page, width, here)
        said += ["%d without script: %s" % (width, s) for s in here]
    return said


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--shots", type=pathlib.Path)
    args = parser.parse_args()
    path, axe = browser.find(), find_axe()
    if not path:
        print("skipped: there is no Chromium (%s)" % ", ".join(browser.NAMES))
        return 77
    if not axe:
        print("without axe-core: set KVEVAL_AXE to axe.min.js, or pip install axe-core-python")
    page = browser.Browser(path)
    try:
        said = look(page, args.page.resolve().as_uri(), axe, args.shots)
    finally:
        page.close()
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
