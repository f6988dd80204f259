"use strict";
(function () {
  const boxes = Array.from(document.querySelectorAll("figure[data-chart]"));
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const config = { displayModeBar: false, responsive: false, scrollZoom: false, doubleClick: false, showTips: false };

  // A figure comes without page colours; they follow the page: light, dark, paper.
  function themed(spec, width) {
    const layout = JSON.parse(JSON.stringify(spec.layout));
    const ink = colour("--soft");
    layout.font = Object.assign({}, layout.font, { color: ink, size: width < 480 ? 11 : 13 });
    delete layout.title;
    layout.width = width;
    layout.autosize = false;
    layout.hoverlabel = Object.assign({}, layout.hoverlabel, { bgcolor: colour("--card"), bordercolor: colour("--line"), font: { color: colour("--ink") } });
    for (const key of Object.keys(layout)) {
      if (/^[xy]axis\d*$/.test(key)) {
        layout[key].gridcolor = colour("--grid");
        layout[key].linecolor = colour("--line");
        layout[key].tickcolor = colour("--line");
        layout[key].fixedrange = true;
      }
    }
    return layout;
  }

  function draw(box, width) {
    const canvas = box.querySelector(".canvas");
    const spec = JSON.parse(box.querySelector("script[type='application/json']").textContent);
    const room = width || canvas.clientWidth;
    if (!room) return;
    for (const trace of spec.data) {
      if (trace.textfont || trace.type === "sankey") trace.textfont = Object.assign({}, trace.textfont, { color: colour("--ink") });
    }
    box.dataset.width = room;
    Plotly.react(canvas, spec.data, themed(spec, room), config).then(() => { box.dataset.drawn = "yes"; });
  }

  const all = (width) => boxes.forEach((box) => draw(box, width));
  all();

  let waiting = 0;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => boxes.forEach((box) => {
      if (box.querySelector(".canvas").clientWidth !== Number(box.dataset.width)) draw(box);
    }), 120);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => all());
  // A chart inside a closed <details> has no width until it opens.
  document.querySelectorAll("details").forEach((fold) => fold.addEventListener("toggle", () => {
    if (fold.open) fold.querySelectorAll("figure[data-chart]:not([data-drawn])").forEach((box) => draw(box));
  }));

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("details:not([open])"));
    opened.forEach((fold) => { fold.open = true; });
    all(640);
  });
  window.addEventListener("afterprint", () => {
    opened.forEach((fold) => { fold.open = false; });
    all();
  });
})();
