// A table in which references and ids can be clicked (kit/notebook/trail.py).
const ID = /(?<![0-9A-Za-z])(?:[0-9A-F]{56}|01[0-9A-F]{32}|[0-9A-F]{32})(?![0-9A-Za-z])/g;

function control(text, label, act) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "rmq-kit-link";
  button.textContent = text;
  button.setAttribute("aria-label", label);
  button.addEventListener("click", act);
  return button;
}

// All text of the evidence is set by textContent.
function render({ model, el }) {
  const again = () => { el.replaceChildren(); draw(model, el); };
  model.on("change:spec", again);
  again();
  return () => model.off("change:spec", again);
}

function draw(model, el) {
  const spec = model.get("spec");
  const box = document.createElement("div");
  box.className = "jp-RenderedHTMLCommon rmq-kit-linked";
  const table = document.createElement("table");
  const caption = document.createElement("caption");
  caption.textContent = [spec.caption, ...spec.notes].filter(Boolean).join(" · ");
  const head = table.createTHead().insertRow();
  for (const column of spec.columns) {
    const th = document.createElement("th");
    th.scope = "col";
    th.textContent = column.name;
    head.append(th);
  }
  const body = table.createTBody();
  spec.rows.forEach((cells, n) => {
    const row = body.insertRow();
    if (spec.marked.includes(n)) row.setAttribute("aria-current", "true");
    cells.forEach((text, c) => {
      const cell = row.insertCell();
      cell.className = spec.columns[c].kind;
      if ((spec.decides || []).some(([r, k]) => r === n && k === c)) cell.className += " decides";
      if (c === spec.place && spec.labels[n]) {
        cell.append(control(text, spec.labels[n], () => model.send({ row: n })));
        return;
      }
      let last = 0;
      for (const hit of text.matchAll(ID)) {
        cell.append(text.slice(last, hit.index));
        cell.append(control(hit[0], spec.life.replace("{id}", hit[0]), () => model.send({ id: hit[0] })));
        last = hit.index + hit[0].length;
      }
      cell.append(text.slice(last));
    });
  });
  table.prepend(caption);
  box.append(table);
  el.append(box);
  const here = body.querySelector("tr[aria-current]");
  if (here) requestAnimationFrame(() => { box.scrollTop = here.offsetTop - box.clientHeight / 2; });
}

export default { render };
