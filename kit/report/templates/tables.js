"use strict";
// Tables to sort and to filter: what stands in the page stays as it is without this script.
(function () {
  const main = document.querySelector("main");
  const FEW = 3;
  const MANY = 8;

  function number(text) {
    const plain = text.replace(/[,%\s]/g, "");
    return plain !== "" && isFinite(plain) ? Number(plain) : null;
  }

  // Unknown (a dash) comes last, whichever way round.
  function compare(a, b, sign) {
    if (a === "–" || b === "–") return (a === "–") - (b === "–");
    const [x, y] = [number(a), number(b)];
    if (x !== null && y !== null) return sign * (x - y);
    return sign * a.localeCompare(b, document.documentElement.lang, { numeric: true });
  }

  function sortable(table, rows) {
    const body = table.tBodies[0];
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => {
        const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
        heads.forEach((other) => other.setAttribute("aria-sort", other === head ? next : "none"));
        const sign = next === "descending" ? -1 : 1;
        const text = (row) => row.cells[column].textContent.trim();
        const order = next === "none" ? rows : rows.slice().sort((a, b) => compare(text(a), text(b), sign));
        body.append(...order);
      });
    });
  }

  function filterable(table, rows) {
    const box = document.createElement("p");
    const label = document.createElement("label");
    const field = document.createElement("input");
    const count = document.createElement("output");
    box.className = "filter";
    field.type = "search";
    field.autocomplete = "off";
    field.spellcheck = false;
    field.setAttribute("aria-label", main.dataset.filter + ": " + table.caption.textContent.trim());
    label.append(main.dataset.filter + " ", field);
    box.append(label, " ", count);
    const words = rows.map((row) => row.textContent.toLowerCase());
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((row, n) => { row.hidden = !wanted.every((word) => words[n].includes(word)); });
      count.textContent = wanted.length ? rows.filter((row) => !row.hidden).length + " / " + rows.length : "";
    });
    table.parentElement.before(box);
  }

  document.querySelectorAll("main .scroll > table").forEach((table) => {
    const rows = table.tBodies[0] ? Array.from(table.tBodies[0].rows) : [];
    if (rows.length >= FEW && table.tHead) sortable(table, rows);
    if (rows.length >= MANY && table.caption) filterable(table, rows);
  });
})();
